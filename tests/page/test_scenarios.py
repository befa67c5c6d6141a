"""What an author does on the page of `stile dev`: look, fill in, call, ask why, and see what a save changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import change
from tests.page.browser import Look, looking
from tests.page.endpoints import STATE_KEY, desk, kinds
from tests.page.servers import Server, serving
from tests.support.api import Api, Reply
from tests.support.endpoints import write_endpoint
from tests.support.jobs import Jobs, files_of, running_jobs


@dataclass(frozen=True)
class Shop:
    """A running `stile dev` over two endpoints, and their APIs."""

    server: Server
    desk: Path
    desk_api: Api
    kinds_api: Api
    jobs: Jobs

    def url(self, name: str) -> str:
        return f"{self.server.url}/shop/{name}"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    with (
        desk(folder) as (desk_folder, desk_api),
        kinds(folder) as (_, kinds_api),
        jobs_endpoint(folder) as jobs,
        serving("dev", str(folder), modules="page_tools", STILE_STATE_KEY=STATE_KEY) as server,
    ):
        yield Shop(server, desk_folder, desk_api, kinds_api, jobs)


@contextmanager
def jobs_endpoint(folder: Path) -> Iterator[Jobs]:
    """The endpoint shop/jobs: `export` can be cancelled, and `lasting` cannot."""
    lasting = (
        'mutation Lasting @mcpTool(name: "lasting") @mcpTask(poll: "State", variables: {id: "export.job.id"}, every: 1,'
        ' status: "job.status", completed: ["SUCCESS"], failed: ["FAILED"]) { export { job { id } } }'
    )
    with running_jobs() as jobs:
        files = files_of(jobs.api.url, cancel='"Cancel"', every="1", more=lasting)
        write_endpoint(folder, files, name="shop/jobs")
        yield jobs


@pytest.fixture
def at_desk(browser: Any, shop: Shop) -> Iterator[Look]:
    with looking(browser, shop.url("desk")) as look:
        look.part("tool").first.wait_for()
        yield look


@pytest.fixture
def at_kinds(browser: Any, shop: Shop) -> Iterator[Look]:
    with looking(browser, shop.url("kinds")) as look:
        look.part("tool").first.wait_for()
        yield look


def names(look: Look, *, usable: bool = True) -> list[str]:
    return [
        each.get_attribute("data-name")
        for each in look.page.locator(
            f'[data-part="tool"][data-key^="tool:"][data-usable="{str(usable).lower()}"]'
        ).all()
    ]


def variables(api: Api) -> Any:
    """The variables of the last request to an API."""
    return api.asked[-1].json["variables"]


def test_first_page_lists_the_endpoints(browser: Any, shop: Shop) -> None:
    with looking(browser, f"{shop.server.url}/") as look:
        look.page.locator('#tool [data-name="shop/kinds"]').wait_for()
        assert "shop/desk" in look.page.inner_text("body")
        assert look.findings() == []


def test_list_shows_each_tool_with_what_it_does(at_desk: Look) -> None:
    assert sorted(names(at_desk)) == [
        "ask_desk", "broken", "cancel_order", "one_order", "partly", "rows", "salaries",
    ]  # fmt: skip
    at_desk.open("one_order")
    told = at_desk.part("tool-pane").inner_text()
    assert "One order" in told
    assert "The number on the invoice." in told
    assert "desk.graphql:2" in told
    assert at_desk.findings() == []


def test_call_shows_the_result_the_request_to_the_api_and_the_line_of_the_log(at_desk: Look, shop: Shop) -> None:
    at_desk.open("one_order")
    at_desk.enter("/number", "7")
    assert "SENT" in at_desk.send()
    assert variables(shop.desk_api) == {"number": 7}

    at_desk.tab("model", bar="result-tabs")
    assert "SENT" in at_desk.shown()
    at_desk.tab("sent", bar="result-tabs")
    at_desk.page.get_by_text("query OneOrder").first.wait_for()
    at_desk.tab("log", bar="result-tabs")
    at_desk.page.locator('[data-part="result"]').get_by_text("one_order").first.wait_for()
    assert at_desk.findings() == []


@pytest.mark.parametrize(("tool", "told"), [("broken", "The warehouse does not answer."), ("partly", "SENT")])
def test_errors_of_the_api_are_shown_with_what_came(at_desk: Look, tool: str, told: str) -> None:
    at_desk.open(tool)
    assert told in at_desk.send()
    assert at_desk.findings() == []


def test_argument_that_does_not_fit_is_told_beside_its_field(at_desk: Look, shop: Shop) -> None:
    at_desk.open("one_order")
    before = len(shop.desk_api.asked)
    at_desk.part("send").first.click()
    at_desk.part("field-error").first.wait_for()
    assert len(shop.desk_api.asked) == before
    assert at_desk.findings() == []


@pytest.mark.parametrize(("button", "cancelled"), [("accept", True), ("decline", False)])
def test_confirmation_is_asked_and_decides(at_desk: Look, shop: Shop, button: str, cancelled: bool) -> None:
    at_desk.choose_persona("ada")
    at_desk.open("cancel_order")
    at_desk.enter("/number", "3")
    before = len(shop.desk_api.asked)
    at_desk.part("send").first.click()
    at_desk.part("confirm").wait_for()
    assert "cancelOrder" in at_desk.part("confirm").inner_text()
    assert at_desk.findings() == []
    at_desk.part("confirm").locator(f'[data-value="{button}"]').click()
    assert ("CANCELLED" in at_desk.shown()) is cancelled
    assert (len(shop.desk_api.asked) > before) is cancelled


@pytest.fixture
def at_jobs(browser: Any, shop: Shop) -> Iterator[Look]:
    shop.jobs.first_status = "QUEUED"
    shop.jobs.api.asked.clear()
    with looking(browser, shop.url("jobs")) as look:
        look.part("tool").first.wait_for()
        yield look


@pytest.mark.parametrize(
    ("status", "told"), [("SUCCESS", "https://files.example/1"), ("FAILED", "The tool reports an error")]
)
def test_job_is_shown_until_it_ends(at_jobs: Look, shop: Shop, status: str, told: str) -> None:
    at_jobs.open("export")
    at_jobs.part("send").first.click()
    at_jobs.part("busy", has="QUEUED").wait_for()
    assert at_jobs.findings() == []
    shop.jobs.status["job-1"] = "RUNNING"
    at_jobs.part("busy", has="RUNNING").wait_for()
    shop.jobs.status["job-1"] = status
    assert told in at_jobs.shown()
    assert shop.jobs.asked.count("Export") == 1
    assert at_jobs.findings() == []


def test_failed_question_about_a_job_is_asked_again(at_jobs: Look, shop: Shop) -> None:
    at_jobs.open("export")
    shop.jobs.failing["State"] = Reply(status=502, body=b"<html>")
    at_jobs.part("send").first.click()
    at_jobs.troubles.allow("502")
    at_jobs.troubles.allow("500")
    at_jobs.part("busy", has="ask again later").wait_for()
    del shop.jobs.failing["State"]
    shop.jobs.status["job-1"] = "SUCCESS"
    assert "SUCCESS" in at_jobs.shown()


def test_job_is_cancelled_at_the_api(at_jobs: Look, shop: Shop) -> None:
    at_jobs.open("export")
    at_jobs.part("send").first.click()
    at_jobs.part("cancel-job").click()
    assert "The job is cancelled" in at_jobs.shown()
    assert shop.jobs.asked.count("Cancel") == 1
    assert at_jobs.findings() == []


def test_job_that_cannot_be_cancelled_goes_on_when_nobody_waits(at_jobs: Look, shop: Shop) -> None:
    at_jobs.open("lasting")
    at_jobs.part("send").first.click()
    at_jobs.page.get_by_text("The API has no cancellation of this job.").wait_for()
    assert at_jobs.part("cancel-job").count() == 0
    at_jobs.part("cancel").click()
    assert "The job goes on: its taskId is " in at_jobs.shown()
    at_jobs.until("!document.body.innerText.includes('Waiting')")


def test_answer_that_was_cut_goes_on(at_desk: Look, shop: Shop) -> None:
    at_desk.open("rows")
    assert "row 0" in at_desk.send()
    at_desk.part("next").first.click()
    at_desk.until("!document.querySelector('[data-part=\"result\"]').innerText.includes('row 0 ')")
    assert "row 1" not in at_desk.shown().split("row 40")[0]


def test_persona_sees_what_it_may_and_why_not(at_desk: Look) -> None:
    at_desk.choose_persona("nonymous")
    at_desk.page.locator('[data-part="tool"][data-name="salaries"][data-usable="false"]').wait_for()
    assert "salaries" not in names(at_desk)
    at_desk.page.locator('[data-part="tool"][data-name="salaries"] [data-part="why"]').click()
    dialog = at_desk.part("why-dialog")
    dialog.get_by_text("config.yaml").first.wait_for()
    assert "?$jwt" in dialog.inner_text()
    assert "does not meet the rule behind it" in dialog.inner_text()
    assert at_desk.findings() == []
    at_desk.page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")

    at_desk.choose_persona("ada")
    at_desk.page.locator('[data-part="tool"][data-name="salaries"][data-usable="true"]').wait_for()
    at_desk.open("salaries")
    assert "91" in at_desk.send()


def test_personas_stand_side_by_side(at_desk: Look) -> None:
    at_desk.tab("personas", bar="bottom-tabs")
    table = at_desk.part("personas-table")
    table.get_by_text("salaries").first.wait_for()
    told = table.inner_text()
    assert all(each in told for each in ("ada", "ben", "nonymous", "partner"))
    assert at_desk.findings() == []


def test_ready_lines_connect_clients(at_desk: Look, shop: Shop) -> None:
    at_desk.part("client").first.wait_for()
    told = at_desk.part("clients").text_content()
    assert f"claude mcp add --transport http shop-desk {shop.url('desk')}/mcp" in told
    assert "SHOP_DESK" not in told
    assert at_desk.findings() == []

    at_desk.choose_persona("partner")
    at_desk.part("client").filter(has_text="--bearer-token-env-var SHOP_DESK_KEY").wait_for()
    told = at_desk.part("clients").text_content()
    assert f"{shop.url('desk')}/mcp --header 'X-API-Key: ${{SHOP_DESK_KEY}}'" in told
    assert '"X-API-Key": "${input:SHOP_DESK_KEY}"' in told


def test_search_finds_tools_by_words(at_desk: Look) -> None:
    rows, salaries = (at_desk.page.locator(f'[data-part="tool"][data-name="{name}"]') for name in ("rows", "salaries"))
    rows.wait_for()  # the list comes in pages
    salaries.wait_for()
    at_desk.page.keyboard.press("/")
    at_desk.page.keyboard.type("earns")
    rows.wait_for(state="detached")
    salaries.wait_for()
    assert names(at_desk) == ["salaries"]
    at_desk.page.keyboard.press("Escape")
    rows.wait_for()


def test_live_log_has_calls_of_other_clients(at_desk: Look, shop: Shop) -> None:
    at_desk.tab("live", bar="bottom-tabs")
    at_desk.page.evaluate(
        """async () => { for (let n = 0; n < 3; n++) await fetch('/shop/desk/mcp', {method: 'POST',
          headers: {'content-type': 'application/json', accept: 'application/json'},
          body: JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/call',
            params: {name: 'one_order', arguments: {number: 70 + n}}})}); }"""
    )
    at_desk.part("live-call").nth(2).wait_for()
    at_desk.part("live-call").first.filter(has_text="one_order").wait_for()  # after calls of other tests
    assert at_desk.findings() == []


def at_editor(look: Look) -> Any:
    """Open the editor of the GraphQL tool, and return its frame once it has the schema."""
    look.open("ask_desk")
    look.tab("graphql")
    look.page.locator('iframe[data-part="editor-frame"][data-ready="true"][data-types]').wait_for()
    return look.page.frame_locator('iframe[data-part="editor-frame"]')


def write(look: Look, frame: Any, document: str) -> None:
    """Replace the document in the editor as a person pastes one."""
    frame.locator('[data-part="document-text"]').click()
    look.page.keyboard.press("Control+a")
    look.page.keyboard.insert_text(document)
    look.page.wait_for_timeout(400)


def test_editor_completes_names_of_the_tools_view_and_runs_a_document(at_desk: Look, shop: Shop) -> None:
    frame = at_editor(at_desk)
    frame.locator('[data-part="document-text"]').click()
    at_desk.page.keyboard.press("Control+a")
    at_desk.page.keyboard.type("{ empl")
    frame.locator(".cm-tooltip-autocomplete li", has_text="employees").first.wait_for()
    assert frame.locator(".cm-tooltip-autocomplete li", has_text="rows").count() == 0
    assert at_desk.findings() == []
    write(at_desk, frame, "{ employees { name } }")
    at_desk.part("run").click()
    at_desk.part("graphql-result", has="Ada").first.wait_for()
    assert "employees" in shop.desk_api.asked[-1].json["query"]
    assert at_desk.findings() == []


def test_editor_underlines_what_the_view_lacks_and_shows_the_refusal_as_a_model_reads_it(
    at_desk: Look, shop: Shop
) -> None:
    frame = at_editor(at_desk)
    write(at_desk, frame, "{ order(number: 1) { totl } }")
    frame.locator(".cm-lintRange-error").first.wait_for()
    before = len(shop.desk_api.asked)
    at_desk.part("run").click()
    at_desk.part("graphql-result", has="totl").wait_for()
    assert len(shop.desk_api.asked) == before
    assert at_desk.findings() == []


def test_editor_of_a_persona_shows_its_view_alone_and_why(at_desk: Look) -> None:
    at_desk.choose_persona("ben")
    frame = at_editor(at_desk)
    write(at_desk, frame, "{ employees { salary } }")
    frame.locator(".cm-lintRange-error").first.wait_for()
    at_desk.part("run").click()
    at_desk.part("why-field").first.click()
    at_desk.part("why-dialog").get_by_text("config.yaml").first.wait_for()
    assert '"hr"' in at_desk.part("why-dialog").inner_text()


def test_search_of_the_schema_leads_to_the_documentation_of_a_field(at_desk: Look) -> None:
    at_editor(at_desk)
    at_desk.part("docs-search").fill("salary")
    at_desk.part("docs-found").locator('[data-coordinate="Employee.salary"]').click()
    at_desk.part("docs-body", has="Before taxes.").wait_for()
    assert at_desk.findings() == []


def test_reach_of_a_field_names_personas_tools_ways_and_rules(at_desk: Look) -> None:
    at_desk.tab("reach", bar="bottom-tabs")
    at_desk.part("reach-search").fill("a")
    at_desk.part("reach-matches").locator('[data-coordinate="Employee.salary"]').click()
    table = at_desk.part("reach-table")
    table.locator('[data-persona*="ada"][data-reached="true"]').wait_for()
    assert "salaries" in table.locator('[data-persona*="ada"]').inner_text()
    ben = table.locator('[data-persona*="ben"][data-reached="false"]')
    assert "config.yaml" in ben.inner_text()
    assert at_desk.findings() == []


KINDS: list[tuple[str, dict[str, str | bool], Any]] = [
    ("enums", {"/one": "RED", "/hue": "BLUE"}, {"one": "RED", "hue": "BLUE"}),
    ("defaults", {"/first": "9"}, {"first": 9}),
    ("nullable", {"/text": "x", "/number": "-3"}, {"text": "x", "number": -3}),
    (
        "required",
        {"/text": "t", "/number": "1", "/ratio": "0.25", "/yes": "true", "/id": "i"},
        {"text": "t", "number": 1, "ratio": 0.25, "yes": True, "id": "i"},
    ),
    ("nothing", {}, None),
]


@pytest.mark.parametrize(("tool", "values", "sent"), KINDS, ids=[each[0] for each in KINDS])
def test_form_of_a_kind_of_argument_sends_what_was_entered(
    at_kinds: Look, shop: Shop, tool: str, values: dict[str, str | bool], sent: Any
) -> None:
    at_kinds.open(tool)
    for path, value in values.items():
        at_kinds.enter(path, value)
    assert at_kinds.findings() == []
    at_kinds.send()
    got = variables(shop.kinds_api) if sent is not None else None
    assert got == sent or (got | sent == got and set(got) - set(sent) <= {"ratio", "ok", "text", "ids", "hue"})


def test_json_view_and_form_show_the_same(at_kinds: Look, shop: Shop) -> None:
    order = {
        "customer": {"email": "a@b.c", "address": {"street": "S", "zip": "1"}},
        "lines": [{"product": "p", "quantity": 2}],
    }
    at_kinds.open("nested")
    at_kinds.view("json")
    at_kinds.part("json").fill(json.dumps({"order": order}))
    at_kinds.view("form")
    assert at_kinds.field("/order/lines/0/product").locator("input").first.input_value() == "p"
    at_kinds.send()
    assert variables(shop.kinds_api)["order"]["customer"] == order["customer"]


def test_whole_numbers_beyond_the_safe_ones_stay_exact(at_kinds: Look, shop: Shop) -> None:
    at_kinds.open("scalars")
    at_kinds.view("json")
    at_kinds.part("json").fill('{"big": 9007199254740993, "any": {"deep": [12345678901234567890]}}')
    told = at_kinds.send()
    assert "9007199254740993" in told
    assert variables(shop.kinds_api)["any"] == {"deep": [12345678901234567890]}
    at_kinds.tab("sent", bar="result-tabs")
    at_kinds.part("result", has="Variables").first.wait_for()
    sent = at_kinds.part("result").first.inner_text()
    assert "12345678901234567890" in sent
    assert "9007199254740993" in sent


def test_save_shows_other_tools_and_a_mistake_comes_and_goes(at_desk: Look, shop: Shop) -> None:
    file = shop.desk / "operations" / "desk.graphql"
    change(file, 'name: "partly"', 'name: "in_part"')
    at_desk.page.locator('[data-part="tool"][data-name="in_part"]').wait_for()

    at_desk.tab("problems", bar="bottom-tabs")
    change(file, "{ number status } }", "{ number statuss } }")
    at_desk.part("problem", has="statuss").first.wait_for()
    assert at_desk.findings() == []
    change(file, "statuss", "status")
    at_desk.part("problem", has="statuss").first.wait_for(state="detached")
    change(file, 'name: "in_part"', 'name: "partly"')
    at_desk.page.locator('[data-part="tool"][data-name="partly"]').wait_for()
