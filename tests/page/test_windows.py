"""Several windows of one browser, and calls that outlive a new drawing of their tool."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import Look, looking
from tests.page.endpoints import OPEN
from tests.page.servers import Server, serving
from tests.page.test_changes import SEEN, show
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import write_endpoint

SDL = "type Query { quick(note: String): String slow: String }"
OPERATIONS = """\
"Quick." query Quick @mcpTool(name: "quick", title: "Quick") { quick }
"Named." query Named($note: String) @mcpTool(name: "named", title: "Named") { quick(note: $note) }
"Slow." query Slow @mcpTool(name: "slow", title: "Slow") { slow }
"""
ASK = """\
schema @tool(name: "ask", graphql: [{expose: true, types: "Query", fields: ".*"}]) { query: Query }
"""
WINDOWS = 8
"""Two more than the connections that a browser opens to a server."""


class SlowApi:
    """An API whose field `slow` waits for the test."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.asked = 0

    def __call__(self, asked: Asked) -> Reply:
        if "slow" not in asked.json["query"]:
            return Reply({"data": {"quick": "at once"}})
        self.asked += 1
        self.goes_on.wait(30)
        return Reply({"data": {"slow": "done"}})


@pytest.fixture(scope="module")
def api() -> SlowApi:
    return SlowApi()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, api: SlowApi) -> Iterator[Path]:
    work = tmp_path_factory.mktemp("windows")
    with running_api(api) as running:
        config = f'upstream: {{url: "{running.url}"}}\n{OPEN}'
        files = {"index.graphql": ASK + SDL, "operations/own.graphql": OPERATIONS, "config.yaml": config}
        write_endpoint(work, files, name="shop/slow")
        yield work


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving("dev", str(folder)) as running:
        yield running


@pytest.fixture
def look(browser: Any, server: Server, api: SlowApi) -> Iterator[Look]:
    api.goes_on.clear()
    with looking(browser, f"{server.url}/shop/slow") as found:
        yield found
    api.goes_on.set()


def begin(look: Look, api: SlowApi) -> None:
    """Open the slow tool, and call it until the API is asked."""
    before = api.asked
    look.page.locator('[data-part="tool"][data-name="slow"] button.tool').click()
    look.part("send").first.click()
    while api.asked == before:
        look.page.wait_for_timeout(20)
    look.part("busy").wait_for()


def end(look: Look, api: SlowApi) -> str:
    """Let the API answer, and return what the page shows."""
    assert look.part("busy").count() == 1
    api.goes_on.set()
    shown = look.shown()
    assert api.asked == 1 or "Cancelled" not in shown
    return shown


def test_eight_visible_windows_share_one_stream_of_events(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/slow") as look:
        look.part("connection", has="Live").wait_for()
        streams: list[Any] = []
        look.page.context.on("request", lambda each: streams.append(each) if each.url.endswith("/-/events") else None)
        windows = [look]
        for _ in range(WINDOWS):
            page = look.page.context.new_page()
            page.goto(f"{server.url}/shop/slow")
            windows.append(Look(page, look.troubles))
            windows[-1].part("connection", has="Live").wait_for()
        assert streams == []
        for each in windows:
            each.tab("live", bar="bottom-tabs")
        windows[-1].open("quick")
        assert "at once" in windows[-1].send()
        for each in windows:
            each.part("live-call", has="quick").first.wait_for()

        windows.pop(0).page.goto("about:blank")  # it has the stream
        windows[-1].send()
        for each in windows:
            each.part("live-call", has="quick").nth(1).wait_for()
        assert len(streams) == 1


def test_window_that_is_shown_later_gets_the_past_of_the_stream(browser: Any, server: Server) -> None:
    with looking(browser, f"{server.url}/shop/slow") as look:
        page = look.page.context.new_page()
        page.goto(f"{server.url}/shop/slow")
        other = Look(page, look.troubles)
        other.part("connection", has="Live").wait_for()
        page.evaluate(SEEN)
        other.tab("live", bar="bottom-tabs")
        page.get_by_role("button", name="Clear", exact=True).click()
        show(page, "hidden")
        look.open("quick")
        look.send()
        rows = other.part("bottom").locator('[data-part="live-call"]').filter(has_text="quick")
        rows.first.wait_for(state="detached")
        show(page, "visible")
        rows.first.wait_for()
        assert rows.count() == 1


def test_call_goes_on_while_the_whole_list_comes(browser: Any, server: Server, api: SlowApi) -> None:
    api.goes_on.clear()
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    with looking(browser, "about:blank") as look:
        look.page.route("**/-/tools?*", hold)
        look.page.goto(f"{server.url}/shop/slow")
        begin(look, api)
        for each in held:
            each.continue_()
        look.page.locator('nav[aria-busy="false"]').wait_for()
        look.part("tool-marks", has="operation").first.wait_for()  # drawn again, with what only `dev` knows
        assert "done" in end(look, api)
        assert "Done" in look.part("outcome").inner_text()


def test_call_goes_on_while_another_tab_of_the_tool_is_shown(look: Look, api: SlowApi) -> None:
    begin(look, api)
    look.tab("entry")
    look.tab("call")
    assert "done" in end(look, api)

    api.goes_on.clear()
    before = api.asked
    look.part("send").first.click()
    while api.asked == before:
        look.page.wait_for_timeout(20)
    look.tab("entry")
    api.goes_on.set()
    look.page.wait_for_timeout(200)
    look.tab("call")
    assert "done" in look.shown()


def test_call_that_ends_leaves_the_focus_where_a_person_types(look: Look, api: SlowApi) -> None:
    begin(look, api)
    look.part("search").click()
    look.page.keyboard.type("sl")
    end(look, api)
    look.page.keyboard.type("ow")
    assert look.part("search").input_value() == "slow"


def test_call_ends_when_another_tool_is_opened_and_says_so(look: Look, api: SlowApi) -> None:
    begin(look, api)
    look.open("quick")
    assert "at once" in look.send()
    look.open("slow")
    look.part("outcome", has="because the tool was left here").wait_for()
    assert look.part("send").first.is_enabled()


def test_run_in_the_editor_goes_on_while_another_tab_is_shown(look: Look, api: SlowApi) -> None:
    look.open("ask")
    look.tab("graphql")
    ready = '[data-part="editor-frame"][data-ready="true"][data-types]'
    look.page.locator(ready).wait_for()
    look.page.frame_locator('[data-part="editor-frame"]').locator('[data-part="document-text"]').click()
    look.page.keyboard.press("Control+a")
    look.page.keyboard.insert_text("{ slow }")
    before = api.asked
    look.page.wait_for_timeout(500)
    look.part("run").click()
    while api.asked == before:
        look.page.wait_for_timeout(20)
    look.tab("entry")
    api.goes_on.set()
    look.page.wait_for_timeout(200)
    look.tab("graphql")
    look.part("graphql-outcome", has="Done").wait_for()


@pytest.mark.parametrize("view", ["form", "json"])
def test_typing_goes_on_while_a_save_changes_the_tool(look: Look, folder: Path, view: str) -> None:
    file = folder / "shop/slow/operations/own.graphql"
    sound = file.read_text(encoding="utf-8")
    look.open("named")
    look.view(view)
    field = look.part("json") if view == "json" else look.field("/note").locator("input, textarea")
    field.fill('{"note": "held"}' if view == "json" else "held")
    for _ in range(3 if view == "json" else 1):
        look.page.keyboard.press("ArrowLeft")
    file.write_text(sound.replace('"Named."', f'"Named in the {view}."'), encoding="utf-8")
    look.page.locator(".tool-head", has_text=f"Named in the {view}.").wait_for()
    look.page.keyboard.type("lo worl")
    look.view("json")
    assert "hello world" in look.part("json").input_value()
    file.write_text(sound, encoding="utf-8")
