"""Names, answers and questions as odd as JSON allows, and lists that fail."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.browser import PHONE, Look, looking
from tests.page.code.odd_tools import ODD_NAMES
from tests.page.endpoints import OPEN, STATE_KEY
from tests.page.servers import Server, serving
from tests.support.endpoints import write_endpoint

KEY = "the desk's key é"

RAW = 200_000
"""Characters of a raw text that are shown at once."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    work = tmp_path_factory.mktemp("odd")
    code = 'code: [{use: "odd_tools:kit", condition: true}]\n'
    key = f'identity: {{api_keys: [{{name: "{KEY}", sha256: {hashlib.sha256(b"odd").hexdigest()}}}]}}\n'
    config = f'upstream: {{url: "http://127.0.0.1:9/graphql"}}\n{OPEN}{code}{key}'
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": config, "hr.json": '{"sub": "inner"}'}
    write_endpoint(work, files, name="shop/odd")
    (work / "shop/hr.json").write_text('{"sub": "outer"}', encoding="utf-8")
    with serving("dev", str(work), modules="odd_tools", STILE_STATE_KEY=STATE_KEY) as running:
        yield running


@pytest.fixture
def look(browser: Any, server: Server) -> Iterator[Look]:
    with looking(browser, f"{server.url}/shop/odd") as found:
        found.part("tool").first.wait_for()
        yield found


def pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def test_names_that_objects_of_javascript_have_are_arguments_like_others(look: Look) -> None:
    look.open("constructor")
    for name in ODD_NAMES:
        look.enter(pointer(name), f"of {name}")
    told = look.send()
    assert [name for name in ODD_NAMES if f"of {name}" not in told] == []
    look.view("json")
    look.view("form")
    told = look.send()
    assert [name for name in ODD_NAMES if f"of {name}" not in told] == []
    assert look.page.evaluate("({}).taken") is None


def test_members_that_objects_of_javascript_have_are_shown_like_others(look: Look) -> None:
    look.open("odd_answer")
    told = look.send()
    assert all(each in told for each in ("__proto__", "taken", "a text", "9007199254740993", "hasOwnProperty"))
    assert look.page.evaluate("({}).taken") is None
    assert look.findings() == []


def test_arguments_without_names_are_one_field_of_json_with_a_name(look: Look) -> None:
    look.open("open")
    look.page.get_by_role("textbox", name="Arguments").fill('{"any": [9007199254740993]}')
    assert look.findings() == []
    assert "9007199254740993" in look.send()


def test_null_in_a_list_is_seen_and_chosen_in_the_form(look: Look) -> None:
    look.open("nullable")
    look.view("json")
    look.part("json").fill('{"all": [null, 7]}')
    look.view("form")
    first, second = (look.page.get_by_role("button", name=f"null: all {at}") for at in (1, 2))
    assert [each.get_attribute("aria-pressed") for each in (first, second)] == ["true", "false"]
    first.click()
    look.enter("/all/0", "5")
    second.click()
    assert look.findings() == []
    look.send()
    look.view("json")
    assert json.loads(look.part("json").input_value()) == {"all": [5, None]}


def test_warning_about_one_tool_is_not_shown_at_others_of_its_line(look: Look) -> None:
    look.open("untyped")
    look.page.locator(".notice.warn", has_text="takes values without a type").first.wait_for()
    look.open("constructor")
    assert look.page.locator(".notice.warn", has_text="takes values without a type").count() == 0


def test_questions_one_after_the_other_are_answered_and_one_without_members_has_no_form(look: Look) -> None:
    look.open("asks")
    look.part("send").first.click()
    dialog = look.part("confirm")
    dialog.locator('[data-path="/name"] input').fill("Ada")
    look.page.keyboard.press("Enter")
    look.part("question", has="Are you sure?").wait_for()
    assert look.part("form", within=dialog).count() == 0
    dialog.locator('[data-value="accept"]').click()
    told = look.shown()
    assert "Ada" in told
    assert "3 requests" in look.part("outcome").inner_text()


def test_answer_without_content_is_told_as_empty(look: Look) -> None:
    look.open("nothing")
    assert "The answer is empty." in look.send()


def test_raw_text_of_5_mb_is_shown_in_part_until_a_person_asks(look: Look) -> None:
    look.open("megabytes")
    look.send()
    for tab in ("model", "wire"):
        look.tab(tab, bar="result-tabs")
        look.page.get_by_role("button", name="more characters").first.wait_for()
        lengths = look.part("raw").evaluate_all("all => all.map((each) => each.textContent.length)")
        assert RAW < max(lengths) < RAW + 100


def test_edge_without_a_node_is_a_row_of_its_connection(look: Look) -> None:
    look.open("members")
    look.send()
    rows = (
        look.part("table")
        .locator("tr")
        .evaluate_all("all => all.map((row) => [...row.cells].map((it) => it.innerText))")
    )
    assert rows == [["id", "role", "edge.id"], ["5", "owner", "1"], ["", "guest", "2"]]


def test_wide_table_does_not_widen_a_phone(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/odd", viewport=PHONE) as look:
        look.part("tool").first.wait_for()
        look.open("wide")
        look.send()
        look.part("table").wait_for()
        assert look.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_way_back_of_the_browser_leads_from_a_tool_to_the_list(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/odd", viewport=PHONE) as look:
        look.part("tool").first.wait_for()
        look.open("wide")
        look.page.go_back()
        look.page.locator('[data-part="tool"][data-name="nothing"]').click()
        look.part("tool-title", has="nothing").wait_for()
        look.page.go_back()
        look.page.go_forward()
        look.part("tool-title", has="nothing").wait_for()
        look.page.get_by_role("button", name="All tools").click()
        assert "#" not in look.page.url


def test_list_that_failed_is_asked_for_again(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/odd") as look:
        look.troubles.allow("ERR_")
        look.open("nothing")
        look.page.context.set_offline(True)
        look.choose_persona("anonymous")
        look.part("denied", has="No answer").wait_for()
        assert look.findings() == []
        look.page.context.set_offline(False)
        look.part("again").click()
        look.part("tool-title", has="nothing").wait_for()
        assert look.part("denied").count() == 0


def test_claims_files_of_one_name_are_told_apart(look: Look) -> None:
    labels = look.part("persona").locator("option").all_inner_texts()
    assert labels == ["author", "anonymous", "hr.json", "../hr.json", f"key:{KEY}"]


def test_copied_command_names_a_key_as_the_command_line_takes_it(look: Look) -> None:
    look.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    look.choose_persona(KEY)
    look.open("open")
    look.page.locator('[data-part="copy-as"] [data-name="stile call"]').click()
    look.page.get_by_role("button", name="Copied").wait_for()
    command = look.page.evaluate("navigator.clipboard.readText()")
    caller = shlex.split(command.partition("<<")[0])
    assert caller[caller.index("--as") + 1] == f"key:{KEY}"


def test_keyboard_keeps_its_place_in_the_header(look: Look) -> None:
    place = "document.activeElement.dataset.part"
    look.part("persona").focus()
    look.page.keyboard.press("ArrowDown")
    look.part("persona-mark", has="no credential").wait_for()
    look.page.locator('nav[aria-busy="true"]').wait_for(state="detached")
    assert look.page.evaluate(place) == "persona"
    look.page.keyboard.press("ArrowUp")
    look.part("persona-mark", has="skips policies").wait_for()
    assert look.page.evaluate(place) == "persona"
