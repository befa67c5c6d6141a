"""The page is usable soon and small over GitHub's schema, and does not grow with the number of tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.page.browser import looking
from tests.page.endpoints import answering_with, write_many
from tests.page.measures import write_github
from tests.page.servers import Server, serving
from tests.support.api import running_api

USABLE_MS = 2_000 * float(os.environ.get("STILE_SLACK", "1"))
MAX_BYTES = {"shop/github": 300_000, "shop/many": 1_000_000}  # a client reads the list of 500 tools, too
TOOLS = 500
MAX_NODES = 12_000

# From the start of the navigation to the frame in which the first tool of the list can be seen and clicked.
SEEN = """() => new Promise((resolve) => {
  const look = () => document.querySelector('[data-part="tool"]')
    ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look);
  look();
})"""
# The longest time between two frames while the list is scrolled from its top to its end.
SCROLLED = """(list) => new Promise((resolve) => {
  let longest = 0, before = performance.now(), steps = 0;
  const step = (now) => {
    longest = Math.max(longest, now - before);
    before = now;
    list.scrollTop += 400;
    if (steps++ < 60) requestAnimationFrame(step);
    else resolve(longest);
  };
  requestAnimationFrame(step);
})"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("large")
    write_github(folder)
    with running_api(answering_with("type Query { a: Int }", {})) as api:
        write_many(folder, api.url, tools=TOOLS)
        with serving("dev", str(folder)) as server:
            yield server


Told = Callable[[str, object], None]
"""Pytest's `record_property`; `conftest.py` prints each `measure`."""


@pytest.mark.parametrize("name", ["shop/github", "shop/many"])
def test_list_is_there_soon_and_little_was_transferred_before_a_tool_is_opened(
    browser: Any, large: Server, name: str, record_property: Told
) -> None:
    with looking(browser, f"{large.url}/{name}"):  # a first look, so that the server has read what it serves
        pass
    with looking(browser, "about:blank") as look:
        session = look.page.context.new_cdp_session(look.page)
        session.send("Network.enable")
        received: list[float] = []
        session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
        look.page.goto(f"{large.url}/{name}", wait_until="commit")
        ms = look.page.evaluate(SEEN)
        look.page.wait_for_timeout(500)

    record_property("measure", f"{name}: {ms:.0f} ms to the list, {sum(received) / 1000:.0f} kB")
    assert sum(received) < MAX_BYTES[name]
    assert ms < USABLE_MS


def test_500_tools_scroll(browser: Any, large: Server, record_property: Told) -> None:
    with looking(browser, f"{large.url}/shop/many") as look:
        look.part("tool").first.wait_for()
        assert look.page.evaluate("document.querySelectorAll('*').length") < MAX_NODES
        longest = look.page.evaluate_handle("document.querySelector('#tools')").evaluate(SCROLLED)
        record_property("measure", f"500 tools: {longest:.0f} ms at most between two frames")
        last = look.page.locator('[data-part="tool"][data-name="tool_499"]')
        last.scroll_into_view_if_needed()
        last.click()
        assert "tool_499" in look.part("tool-pane").inner_text()


def test_live_log_keeps_the_last_200_calls(browser: Any, large: Server) -> None:
    with looking(browser, f"{large.url}/shop/github") as look:
        look.part("tool").first.wait_for()
        look.tab("live", bar="bottom-tabs")
        look.page.evaluate(
            """async () => { for (let n = 0; n < 230; n++) await fetch('/shop/github/mcp', {method: 'POST',
              headers: {'content-type': 'application/json', accept: 'application/json'},
              body: JSON.stringify({jsonrpc: '2.0', id: n, method: 'tools/call', params: {name: 'none'}})}); }"""
        )
        look.until("document.querySelectorAll('[data-part=\"live-call\"]').length >= 190")
        look.page.wait_for_timeout(500)
        assert look.page.locator('[data-part="live-call"]').count() <= 200
