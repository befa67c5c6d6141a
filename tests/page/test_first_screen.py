"""The first screen of an endpoint: how to connect, who gets in, what a model reads, the API, warnings and calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import PHONE, Look, looking
from tests.page.endpoints import OPEN, STATE_KEY, answering_with, desk, write_many
from tests.page.hostile import ELEMENT
from tests.page.servers import Server, serving
from tests.support.api import Api, running_api
from tests.support.endpoints import write_endpoint

LARGE, SMALL = {"width": 1440, "height": 900}, {"width": 1024, "height": 768}
LONG = "read_the_whole_catalogue_of_all_branches_that_are_open_on_sundays"
TOOL = """
schema @tool(name: "ask_books", description: "Ask for `books`.",
  graphql: [{expose: true, types: "Query", fields: ".*"}]) { query: Query }
"""
SDL = """
type Query {
  "A book by `id`." book(id: ID!, like: Like!): Book
  books(first: Int = 2, after: String): BookConnection!
}
input Like { genre: Genre! words: [String!]! near: Like }
enum Genre { CRIME POETRY }
type BookConnection { edges: [BookEdge!]! pageInfo: PageInfo! }
type BookEdge { cursor: String! node: Book }
type Book { id: ID! title: String! other: Book }
type PageInfo { hasNextPage: Boolean! endCursor: String }
"""
OPERATIONS = """
"Books." query Books($first: Int, $after: String) @mcpTool(name: "list_books", title: "Books") {
  books(first: $first, after: $after) { edges { cursor node { id title } } pageInfo { hasNextPage endCursor } }
}
"""
DOWN = "http://127.0.0.1:9/graphql"
HOSTILE = f"instructions: {json.dumps(ELEMENT + chr(0x202E) + chr(0x5E9))}\n"


def books(first: int = 2, after: str | None = None) -> dict[str, Any]:
    numbers = range(int(after or 0), min(5, int(after or 0) + first))
    edges = [{"cursor": str(each + 1), "node": {"id": str(each), "title": f"Book {each}"}} for each in numbers]
    return {"edges": edges, "pageInfo": {"hasNextPage": numbers.stop < 5, "endCursor": str(numbers.stop)}}


@dataclass(frozen=True)
class Shop:
    server: Server
    desk: Api
    books: Api

    def url(self, name: str) -> str:
        return f"{self.server.url}/shop/{name}"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder: Path = tmp_path_factory.mktemp("first-screen")
    answers = {"books": books, "book": lambda **_: {"id": "1", "title": "One"}}
    with desk(folder) as (_, desk_api), running_api(answering_with(SDL, answers)) as api:
        config = f'upstream: {{url: "{api.url}"}}\n{OPEN}'
        files = {"index.graphql": TOOL + SDL, "operations/own.graphql": OPERATIONS, "config.yaml": config}
        write_endpoint(folder, files, name="shop/books")
        down = f'"Reads." query A @mcpTool(name: "{LONG}", title: "Reads") {{ a }}\n'
        files = {"index.graphql": "type Query { a: Int }", "operations/own.graphql": down}
        write_endpoint(folder, {**files, "config.yaml": HOSTILE + config.replace(api.url, DOWN)}, name="shop/down")
        write_endpoint(
            folder, {**files, "operations/own.graphql": "{ nope }", "config.yaml": config}, name="shop/wrong"
        )
        write_endpoint(folder, {"index.graphql": "type Query { a: Int }", "config.yaml": config}, name="shop/none")
        write_endpoint(
            folder,
            {"index.graphql": "type Query { a: Int }", "config.yaml": f"default_tool: false\n{config}"},
            name="shop/zero",
        )
        write_many(folder, api.url, tools=300)
        with serving("dev", str(folder), STILE_STATE_KEY=STATE_KEY) as server:
            yield Shop(server, desk_api, api)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [LARGE, SMALL, PHONE], ids=["1440", "1024", "390"])
def test_first_screens_have_content_and_no_findings(
    browser: Any, shop: Shop, scheme: str, viewport: dict[str, int]
) -> None:
    with looking(browser, f"{shop.server.url}/", color_scheme=scheme, viewport=viewport) as look:
        look.troubles.allow("404")
        cards = look.page.locator(".cards")
        cards.locator('[data-name="shop/desk"]').wait_for()
        _judge(look, "index")
        for name in ("desk", "books", "down", "none", "many", "wrong"):
            look.page.goto(shop.url(name))
            look.part("not-served" if name == "wrong" else "tokens").wait_for()
            look.page.locator('nav[aria-busy="true"]').wait_for(state="detached")
            _judge(look, name)
        look.page.goto(shop.url("books"))
        look.open("ask_books")
        at_editor(look)
        _judge(look, "editor")


def _judge(look: Look, state: str) -> None:
    width = look.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], (state, width)
    assert look.findings() == [], state


def test_endpoint_opens_on_callers_connections_tokens_warnings_and_the_state_of_the_api(
    browser: Any, shop: Shop
) -> None:
    asked = len(shop.desk.asked)
    with looking(browser, shop.url("desk"), viewport=LARGE) as look:
        look.part("api-state", has="takes connections").wait_for()
        assert "1 API key and anonymous callers" in look.part("callers").inner_text()
        assert "Query.employees is guarded here" in look.part("warnings").inner_text()
        look.part("tokens", has="of 7 tools").wait_for()
        assert shop.desk.url in look.part("api").inner_text()
        assert "None yet" in look.part("calls").inner_text() or look.part("live-call").count()
        look.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        look.part("callers").get_by_role("button", name="key:partner").click()
        assert look.page.evaluate("document.activeElement.id") == "persona"
        codex = look.part("client").and_(look.page.locator('[data-name="Codex"]'))
        codex.filter(has_text="SHOP_DESK_KEY").wait_for()
        codex.get_by_role("button").click()
        copied = look.page.evaluate("navigator.clipboard.readText()")
        assert copied == f"codex mcp add shop-desk --url {shop.url('desk')}/mcp --bearer-token-env-var SHOP_DESK_KEY"
        look.open("one_order")
        look.part("connect").click()
        look.part("connect-dialog", has="Connect as key:partner").wait_for()
    assert len(shop.desk.asked) == asked


def test_cards_of_the_index_show_tools_callers_and_state(browser: Any, shop: Shop) -> None:
    with looking(browser, f"{shop.server.url}/") as look:
        look.page.locator('.cards [data-name="shop/desk"]').wait_for()
        cards = {
            each.locator("[data-name]").inner_text(): each.inner_text() for each in look.page.locator(".cards li").all()
        }
    assert all(word in cards["shop/desk"] for word in ("served", "7 tools", "1 API key", "1 warning"))
    assert all(word in cards["shop/wrong"] for word in ("not served", "problem"))


def test_endpoint_that_does_not_compile_opens_on_its_problems(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("wrong")) as look:
        look.troubles.allow("404")
        look.part("warnings", has="nope").wait_for()


def test_cause_and_address_of_a_failed_call_stand_with_the_sentence_of_the_model(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("down")) as look:
        look.part("api-state", has="connection refused: start the API").wait_for()
        look.open(LONG)
        look.send()
        for tab in ("result", "model"):
            look.tab(tab, bar="result-tabs")
            look.part("cause", has=f"POST {DOWN}: connection refused").wait_for()
        look.page.goto(shop.url("desk"))
        look.open("broken")
        look.send()
        look.part("cause", has=f"Asked: POST {shop.desk.url}").wait_for()


def test_own_calls_keep_their_arguments_and_are_called_again_at_a_click(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("desk")) as look:
        look.part("tool").first.wait_for()
        look.open("one_order")
        look.enter("/number", "41")
        look.send()
        look.tab("live", bar="bottom-tabs")
        look.part("live-call", has='{"number":41}').wait_for()
        look.open("salaries")
        before = len(shop.desk.asked)
        look.part("live-call", has='{"number":41}').locator('[data-part="call-again"]').click()
        assert "SENT" in look.shown()
        assert look.field("/number").locator("input").input_value() == "41"
        assert [each.json["variables"] for each in shop.desk.asked[before:]] == [{"number": 41}]

        look.choose_persona("ada")
        look.open("cancel_order")
        look.enter("/number", "3")
        look.part("send").first.click()
        confirm = look.part("confirm")
        assert "primary" not in str(confirm.locator('[data-value="accept"]').get_attribute("class"))
        assert confirm.locator("button.primary").get_attribute("data-value") == "decline"
        confirm.locator('[data-value="decline"]').click()
        look.shown()
        look.part("live-call", has="cancel_order").locator('[data-part="call-again"]').first.click()
        look.page.wait_for_timeout(300)
        assert look.part("confirm").count() == 0  # a person sends what may change something


def test_next_page_of_a_connection_comes_at_a_click(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("books")) as look:
        look.part("tool").first.wait_for()
        look.open("list_books")
        assert "Book 1" in look.send()
        for last in ("Book 3", "Book 4"):
            look.part("next-page").click()
            look.part("result", has=last).wait_for()
        assert look.part("next-page").count() == 0
        assert "Book 3" not in look.shown()


def at_editor(look: Look) -> Any:
    look.tab("graphql")
    look.page.locator('iframe[data-part="editor-frame"][data-ready="true"][data-types]').wait_for()
    return look.page.frame_locator('iframe[data-part="editor-frame"]')


def test_editor_opens_with_a_query_and_a_root_field_inserts_one(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("books")) as look:
        look.part("tool").first.wait_for()
        look.open("ask_books")
        assert look.page.locator(".description code").inner_text() == "books"
        frame = at_editor(look)
        frame.locator(".cm-content").first.filter(has_text="query Books").wait_for()
        look.part("run").click()
        look.part("graphql-result", has="Book 1").wait_for()
        look.part("docs-body").locator('[data-member="book"] [data-part="insert"]').click()
        frame.locator(".cm-content").first.filter(has_text="query Book($id: ID!, $like: Like!)").wait_for()
        look.part("run").click()
        look.part("graphql-result", has="One").wait_for()
        assert shop.books.asked[-1].json["variables"] == {"id": "1", "like": {"genre": "CRIME", "words": []}}
        assert frame.locator(".cm-lintRange-error").count() == 0


def test_number_of_types_is_that_of_check(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("books")) as look:
        look.part("tool").first.wait_for()
        look.open("ask_books")
        at_editor(look)
        look.part("schema-status", has="7 types").wait_for()


def test_endpoint_without_tools_says_how_to_make_one(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("zero")) as look:
        look.troubles.allow("404")
        look.page.locator("#tools").get_by_text("There are no tools yet").wait_for()
        look.part("tokens", has="of 0 tools").wait_for()
        assert look.part("denied").count() == 0
        assert look.findings() == []


def test_list_says_a_shared_warning_once_and_shows_names_whole(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("many")) as look:
        look.part("shared-warning", has="have no title").wait_for()
        assert look.page.locator("#tools .mark.warns").count() == 0
        look.page.goto(shop.url("down"))
        name = look.page.locator("#tools .tool-name")
        name.wait_for()
        assert name.evaluate("each => each.scrollWidth <= each.clientWidth")
        assert name.inner_text() == LONG


def test_phone_has_two_rows_of_header_a_drawer_at_the_edge_and_all_tabs(browser: Any, shop: Shop) -> None:
    with looking(browser, shop.url("none"), viewport=PHONE) as look:
        look.troubles.allow("404")
        look.part("tokens").wait_for()
        look.page.locator("#header").wait_for()
        assert look.page.locator("#header").bounding_box()["height"] <= 90
        look.page.goto(shop.url("wrong"))
        look.part("not-served").wait_for()
        drawer = look.page.locator("#bottom").bounding_box()
        assert round(drawer["y"] + drawer["height"]) == PHONE["height"]
        for tab in look.page.locator('[role="tab"]').all():
            box = tab.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]
