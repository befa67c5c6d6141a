"""What changes while a page is open: the endpoint, the caller, the files, and the way to the page."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import PHONE, Look, looking
from tests.page.endpoints import OPEN, PARTNER_KEY, STATE_KEY, desk
from tests.page.servers import Server, serving
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import write_endpoint

LONG = "n" + "a" * 199
SDL = f"""
type Query {{ slow: String {LONG}(arg{LONG}: String, one: E{LONG}): String }}
enum E{LONG} {{ V{LONG} W }}
"""
OPERATIONS = f"""
"Slow."
query Slow @mcpTool(name: "slow", title: "Slow") {{ slow }}
"Long names."
query Long($a: String, $e: E{LONG}) @mcpTool(name: "long", title: "Long") {{ {LONG}(arg{LONG}: $a, one: $e) }}
"""
CLOSED = f"""\
access: {{anonymous: challenge, policies: [{{type: Query, policyDefault: {{condition: true}}}}]}}
identity: {{api_keys: [{{name: other, sha256: {hashlib.sha256(b"another key").hexdigest()}}}]}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    work = tmp_path_factory.mktemp("changes")
    with desk(work), running_api(lambda _: Reply({"data": {"slow": "done"}})) as api:
        upstream = f'upstream: {{url: "{api.url}"}}\n'
        files = {"index.graphql": SDL, "operations/wide.graphql": OPERATIONS}
        write_endpoint(work, {**files, "config.yaml": f"{upstream}{OPEN}"}, name="shop/wide")
        write_endpoint(work, {**files, "config.yaml": f"{upstream}{CLOSED}"}, name="shop/closed")
        yield work


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving("dev", str(folder), STILE_STATE_KEY=STATE_KEY) as running:
        yield running


def paste(look: Look, secret: str) -> None:
    look.part("credential").first.click()
    dialog = look.part("credential-dialog")
    dialog.locator("select").select_option("key")
    dialog.locator("input").first.fill(secret)
    dialog.locator('[data-value="use"]').click()
    look.part("persona-mark", has="pasted API key").wait_for()


def asked_of(look: Look, name: str) -> list[Any]:
    """The list that gets the requests to an endpoint from now on."""
    found: list[Any] = []
    look.page.on("request", lambda each: found.append(each) if each.url.endswith(f"/{name}/mcp") else None)
    return found


def test_pasted_credential_is_not_sent_to_another_endpoint(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/desk") as look:
        look.part("tool").first.wait_for()
        paste(look, PARTNER_KEY)
        asked = asked_of(look, "shop/wide")
        look.part("endpoint").first.select_option("shop/wide")
        look.page.locator('[data-part="tool"][data-name="slow"]').wait_for()
        look.tab("personas", bar="bottom-tabs")
        look.part("personas-table").wait_for()
        assert asked
        assert all("x-api-key" not in each.headers for each in asked)
        assert "API key 1" not in look.part("persona").inner_text()

        look.part("endpoint").first.select_option("shop/desk")
        look.page.locator('[data-part="tool"][data-name="one_order"]').wait_for()
        assert "API key 1" in look.part("persona").inner_text()


def test_pasted_credential_of_a_served_page_is_not_sent_to_another_endpoint(browser: Any, folder: Path) -> None:
    with (
        serving("serve", str(folder), "--page", STILE_STATE_KEY=STATE_KEY) as running,
        looking(browser, f"{running.url}/shop/desk") as look,
    ):
        look.troubles.allow("401")
        look.part("tool").first.wait_for()
        paste(look, PARTNER_KEY)
        look.page.locator('[data-part="tool"][data-name="cancel_order"]').wait_for()
        asked = asked_of(look, "shop/closed")
        look.page.locator("a.brand").click()
        look.part("endpoint").first.fill("shop/closed")
        look.page.keyboard.press("Enter")
        look.part("denied", has="401: a credential is required.").wait_for()
        assert asked
        assert all("x-api-key" not in each.headers for each in asked)


def test_caller_whose_claims_are_gone_stays_chosen_and_is_refused(browser: Any, folder: Path, server: Server) -> None:
    claims = folder / "shop/desk/ben.json"
    sound = claims.read_text(encoding="utf-8")
    config = folder / "shop/desk/config.yaml"
    with looking(browser, f"{server.url}/shop/desk") as look:
        look.troubles.allow("400")
        look.part("tool").first.wait_for()
        look.choose_persona("ben.json")
        look.page.locator('[data-part="tool"][data-name="salaries"][data-usable="false"]').wait_for()
        claims.write_text("{", encoding="utf-8")
        config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        look.part("persona-mark", has="ben.json (refused)").wait_for()
        look.part("denied", has="400").wait_for()
        assert "ben.json" in look.part("persona").locator("option:checked").inner_text()

        claims.write_text(sound, encoding="utf-8")
        config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        look.page.locator('[data-part="tool"][data-name="one_order"]').wait_for()
        assert look.part("persona").locator("option:checked").inner_text() == "ben.json"


SEEN = "Object.defineProperty(document, 'visibilityState', {configurable: true, get: () => window.seen ?? 'visible'})"


def show(page: Any, seen: str) -> None:
    """Hide a page or show it again, as a browser does whose user changes tabs."""
    page.evaluate(f"window.seen = '{seen}'; document.dispatchEvent(new Event('visibilitychange'))")


def test_tabs_that_nobody_sees_hold_no_connection(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/desk") as look:
        look.page.context.add_init_script(SEEN)
        for _ in range(7):  # one more than the connections that a browser opens to a server
            page = look.page.context.new_page()
            page.goto(f"{server.url}/shop/desk")
            page.locator('[data-part="tool"]').first.wait_for()
            show(page, "hidden")


def test_tab_that_is_shown_again_has_the_saves_and_calls_of_the_time_between(
    browser: Any, folder: Path, server: Server
) -> None:
    operations = folder / "shop/wide/operations/wide.graphql"
    sound = operations.read_text(encoding="utf-8")
    with looking(browser, f"{server.url}/shop/wide") as look:
        look.page.evaluate(SEEN)
        look.tab("live", bar="bottom-tabs")
        look.open("slow")
        look.send()
        look.part("live-call").first.wait_for()
        look.page.get_by_role("button", name="Clear", exact=True).click()
        look.part("live-call").first.wait_for(state="detached")
        show(look.page, "hidden")
        with looking(browser, f"{server.url}/shop/wide") as other:
            operations.write_text(sound + '"New." query New @mcpTool(name: "new", title: "New") { slow }', "utf-8")
            other.open("new")
            other.send()
        assert look.page.locator('[data-part="tool"][data-name="new"]').count() == 0

        show(look.page, "visible")
        look.page.locator('[data-part="tool"][data-name="new"]').wait_for()
        look.part("live-call", has="new").wait_for()
        assert look.part("live-call", has="slow").count() == 0
    operations.write_text(sound, encoding="utf-8")


def test_endpoint_that_never_compiled_is_in_the_list_and_told_as_not_served(
    browser: Any, folder: Path, server: Server
) -> None:
    broken, odd = (
        write_endpoint(folder, {"index.graphql": "type Query {"}, name=name) for name in ("shop/bad", "shop/b d")
    )
    with looking(browser, server.url) as look:
        look.part("endpoint").first.wait_for()
        card = look.page.locator("ul.cards li", has_text="shop/bad")
        assert "not served" in card.inner_text()
        assert look.page.locator("ul.cards li", has_text="shop/b d").locator("a").count() == 0
        for status in ("404", "401"):  # nothing is served, and then nothing is open
            look.troubles.allow(status)
        card.locator("a").click()
        look.part("not-served", has="until its problems are solved: 1").wait_for()
        assert look.findings() == []

        (broken / "index.graphql").write_text("type Query { a: Int }", encoding="utf-8")
        look.part("not-served").wait_for(state="detached")
        look.part("tool").first.wait_for()
    for each in (broken, odd):
        shutil.rmtree(each)


PROMPT = """\
---
description: Looks at one order.
arguments:
  - {name: mood, description: How to write., values: [friendly, frank, short]}
  - {name: note, description: Anything.}
---
Write a {{mood}} text. {{note}}
"""


def test_argument_of_a_prompt_offers_its_values(browser: Any, folder: Path, server: Server) -> None:
    prompt = folder / "shop/wide/prompts/look.md"
    with looking(browser, f"{server.url}/shop/wide") as look:
        look.part("tool").first.wait_for()
        prompt.parent.mkdir()
        prompt.write_text(PROMPT, encoding="utf-8")
        look.open("look")
        offered = look.field("/mood").locator("datalist option")
        look.field("/mood").locator("input").focus()
        offered.nth(2).wait_for(state="attached")
        assert [each.get_attribute("value") for each in offered.all()] == ["friendly", "frank", "short"]

        look.enter("/mood", "FR")
        offered.nth(2).wait_for(state="detached")
        assert [each.get_attribute("value") for each in offered.all()] == ["friendly", "frank"]
        look.field("/note").locator("input, textarea").first.focus()
        look.enter("/mood", "frank")
        assert "Write a frank text." in look.send()
        assert look.findings() == []
    shutil.rmtree(prompt.parent)


def test_call_goes_on_while_a_save_changes_its_tool(browser: Any, tmp_path: Path) -> None:
    goes_on = threading.Event()

    def answer(_: Asked) -> Reply:
        goes_on.wait(30)
        return Reply({"data": {"slow": "done"}})

    with running_api(answer) as api:
        config = f'upstream: {{url: "{api.url}"}}\n{OPEN}'
        files = {"index.graphql": SDL, "operations/wide.graphql": OPERATIONS, "config.yaml": config}
        endpoint = write_endpoint(tmp_path, files, name="shop/wide")
        with serving("dev", str(tmp_path)) as running, looking(browser, f"{running.url}/shop/wide") as look:
            look.part("tool").first.wait_for()
            look.open("slow")
            look.part("send").first.click()
            look.part("busy").wait_for()
            saved = OPERATIONS.replace('"Slow."', '"Slower."')
            (endpoint / "operations/wide.graphql").write_text(saved, encoding="utf-8")
            look.page.locator(".tool-head", has_text="Slower.").wait_for()
            assert look.part("busy").count() == 1
            goes_on.set()
            assert "done" in look.shown()


@pytest.mark.parametrize("path", ["/shop/desk/mcp", "/shop/desk/"])
def test_other_urls_of_an_endpoint_lead_to_its_page(browser: Any, server: Server, path: str) -> None:
    with looking(browser, f"{server.url}{path}") as look:
        look.page.locator('[data-part="tool"][data-name="one_order"]').wait_for()
        look.open("one_order")
        look.enter("/number", "7")
        assert "SENT" in look.send()
        look.part("connect").click()
        assert "/shop/desk/mcp" in look.part("connect-dialog").inner_text()


def test_names_of_200_characters_do_not_widen_a_phone(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/wide", viewport=PHONE) as look:
        look.part("tool").first.wait_for()
        look.open("long")
        look.field("/e").locator("select, input").first.wait_for()
        assert look.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_name_without_an_endpoint_is_told_in_a_sentence(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/absent") as look:
        look.troubles.allow("404")
        told = look.part("denied")
        told.wait_for()
        assert told.inner_text().startswith("HTTP 404: there is no such endpoint")
        assert told.locator("button").count() == 0


def test_endpoint_that_is_gone_shows_no_tools(browser: Any, tmp_path: Path) -> None:
    with running_api(lambda _: Reply({"data": {"slow": "done"}})) as api:
        config = f'upstream: {{url: "{api.url}"}}\n{OPEN}'
        files = {"index.graphql": SDL, "operations/wide.graphql": OPERATIONS, "config.yaml": config}
        write_endpoint(tmp_path, files, name="shop/stays")
        endpoint = write_endpoint(tmp_path, files, name="shop/goes")
        with serving("dev", str(tmp_path)) as running, looking(browser, f"{running.url}/shop/goes") as look:
            look.troubles.allow("404")
            look.part("tool").first.wait_for()
            look.open("slow")
            shutil.rmtree(endpoint)
            look.part("denied", has="HTTP 404: there is no such endpoint").wait_for()
            assert look.part("tool").count() == look.part("send").count() == 0
