"""The companions of a GraphQL tool whose schema does not fit its description: search and describe."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from handler.bundle.tools import CompanionTool
from tests.support.codes import unknown_tool
from tests.support.endpoints import PUBLIC, compiled, doubted
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER, identified

WIDE = "type Wide { " + " ".join(f"column_{number}: Int" for number in range(1_200)) + " }"
SDL = f"""
type Query {{
  order(id: ID!, verbose: Boolean): Order
  invoices(where: InvoiceFilter, first: Int = 10): Invoices!
  wide: Wide
}}
type Mutation {{ cancelOrder(id: ID!, reason: String): Order }}
type Order {{ id: ID! state: State! lines(first: Int): [Line!]! cancelledOn: String secretMargin: Int }}
type Line {{ product: String! amount: Int! }}
type Invoices {{ nodes: [Invoice!]! totalCount: Int! }}
type Invoice {{ id: ID! dueOn: String paid: Boolean! order: Order }}
input InvoiceFilter {{ overdue: Boolean dueBefore: String }}
enum State {{ OPEN "sent to the customer" SHIPPED }}
{WIDE}
"""
ALL = '[{expose: true, types: "Query|Mutation", fields: ".*"}]'


def files_of(
    options: str = "", *, name: str = "shop", sdl: str = SDL, config: str = PUBLIC, more: str = ""
) -> dict[str, str]:
    """An endpoint with one GraphQL tool over everything, and ``more`` directives."""
    tool = f'extend schema @tool(name: "{name}", graphql: {ALL} {options}) {more}'
    return {"index.graphql": f"{tool}\n{sdl}", "config.yaml": config}


@contextmanager
def serving(folder: Path, options: str = "", **more: str) -> Iterator[Function]:
    with running_function(compiled(folder, files_of(options, **more))) as function:
        yield function


def names(function: Function) -> list[str]:
    return [tool["name"] for tool in function.request("tools/list").result["tools"]]


def test_tool_with_a_large_schema_has_two_companions_beside_it(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        tools = function.request("tools/list", modern=True).result["tools"]

    assert [tool["name"] for tool in tools] == ["shop", "shop-search", "shop-describe"]
    assert [tool["title"] for tool in tools[1:]] == ["Search shop", "Describe shop"]
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools[1:])
    assert all("outputSchema" not in tool for tool in tools[1:])


def test_description_of_the_tool_says_how_to_search(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        tool = function.request("tools/list").result["tools"][0]
        text = tool["inputSchema"]["properties"]["query"]["description"]
        example = re.search(r"\{ __search\(.*?\} ?\}", text)
        assert example, text
        answer = function.query("shop", example[0])

    assert "isError" not in answer.result, answer.text


def test_tool_whose_schema_fits_is_alone(tmp_path: Path) -> None:
    with serving(tmp_path, sdl=SDL.replace(WIDE, "type Wide { a: Int }")) as function:
        (tool,) = function.request("tools/list").result["tools"]

    assert "__search" not in str(tool)


@pytest.mark.parametrize("options", ["find: false", 'description: "{schema_sdl}"'])
def test_author_leaves_companions_out(tmp_path: Path, options: str) -> None:
    with serving(tmp_path, options) as function:
        assert names(function) == ["shop"]
        asked = function.call("shop-search", {"question": "order"})

    assert asked.json["error"] == unknown_tool("shop-search")


def test_question_finds_the_way_from_a_root_field_with_the_arguments_of_each_step(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        text = function.call("shop-search", {"question": "overdue invoices"}).text

    assert text.startswith("Found, best first:\n- ")
    assert "Query.invoices" in text
    assert "  invoices(where: InvoiceFilter, first: Int = 10): Invoices!" in text
    assert "  overdue: Boolean" in text
    assert "  dueOn: String" in text
    assert "column_7" not in text


def test_answer_ends_with_a_request_that_the_tool_takes(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        text = function.call("shop-search", {"question": "cancel an order"}).text
        request = text.rpartition("\nA request for the first: ")[2]
        sent = function.query("shop", request, variables={"id": "1"})
        refused = function.query("shop", request.replace("state", "stat"), variables={"id": "1"})

    assert request == "mutation ($id: ID!) { cancelOrder(id: $id) { cancelledOn id state } }"
    assert sent.result["_meta"] == {"stile/code": "upstream-error"}  # the document is valid, and there is no API
    assert refused.result["_meta"] == {"stile/code": "document-refused"}


def test_answer_keeps_to_its_size_and_says_what_is_left_out(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        small = function.call("shop-search", {"question": "column 7 of wide", "maxTokens": 200}).text
        described = function.call("shop-describe", {"coordinates": ["Wide"], "maxTokens": 200}).text

    assert len(small) <= 1_000
    assert len(described) <= 1_000
    assert re.search(r"# and 1,?\d\d\d more", described)


def test_coordinates_are_described_in_one_answer(tmp_path: Path) -> None:
    asked = ["Order", "Query.order", "State.SHIPPED", "Query.invoices(where:)", "Nope", "Order.nope"]
    with serving(tmp_path) as function:
        text = function.call("shop-describe", {"coordinates": asked}).text

    assert "  order(id: ID!, verbose: Boolean): Order" in text
    assert "  lines(…): [Line!]!" in text
    assert '  "sent to the customer"\n  SHIPPED' in text
    assert text.endswith("Unknown here: Nope, Order.nope.")


def test_question_that_finds_nothing_says_so(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        result = function.call("shop-search", {"question": "zebra"}).result

    assert result == {"content": [{"type": "text", "text": result["content"][0]["text"]}]}
    assert result["content"][0]["text"].startswith("Nothing here answers that.")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("shop-search", {}),
        ("shop-search", {"question": ""}),
        ("shop-search", {"question": "a" * 1_001}),
        ("shop-search", {"question": "a", "maxTokens": 10}),
        ("shop-search", {"question": "a", "other": 1}),
        ("shop-describe", {"coordinates": []}),
        ("shop-describe", {"coordinates": ["Order"] * 51}),
        ("shop-describe", {"coordinates": [1]}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tmp_path: Path, tool: str, arguments: dict[str, object]) -> None:
    with serving(tmp_path) as function:
        answer = function.call(tool, arguments)

    assert answer.code == "invalid-arguments"


def test_companions_of_a_hidden_tool_are_not_listed_and_can_be_called(tmp_path: Path) -> None:
    with serving(tmp_path, "hidden: true") as function:
        assert names(function) == []
        assert "Query.order" in function.call("shop-search", {"question": "order"}).text


def test_line_in_the_log_has_the_companion_and_no_question(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        function.call("shop-search", {"question": "zebra crossing"})
        line = function.lines[-1]

    assert (line["tool"], line["kind"], line["decision"], line["outcome"]) == (
        "shop-search",
        "companion",
        "allowed",
        "ok",
    )
    assert "zebra" not in str(line)


NARROW = """access:
  anonymous: allow
  policies:
    - type: Query
      rules:
        - {condition: '?$jwt', fields: [wide]}
      policyDefault: {condition: true}
    - {type: Mutation, policyDefault: {condition: '?$jwt'}}
    - type: Order
      rules:
        - {condition: '?$jwt', fields: [secretMargin]}
      policyDefault: {condition: true}
"""


def test_caller_whose_view_fits_has_no_companions(tmp_path: Path) -> None:
    made = identified(compiled(tmp_path, files_of(config=NARROW)), {"sub": "elif"})
    with running_function(made) as function:
        assert names(function) == ["shop"]
        asked, unknown = (function.call(name, {"question": "order"}) for name in ("shop-search", "none-search"))
        assert (asked.status, asked.json) == (unknown.status, unknown.json)
        listed = function.request("tools/list", headers=HOLDER).result["tools"]
        assert [tool["name"] for tool in listed] == ["shop", "shop-search", "shop-describe"]
        answer = function.call("shop-describe", {"coordinates": ["Order.secretMargin"]}, headers=HOLDER)
        assert "secretMargin: Int" in answer.text


CLASHES = {
    "a tool": f'@tool(name: "shop-search", graphql: {ALL})',
    "an alias": f'@tool(name: "other", graphql: {ALL}, find: false, aliases: ["Shop-Search"])',
}


@pytest.mark.parametrize("clash", CLASHES)
def test_name_that_the_author_gave_is_not_taken(tmp_path: Path, clash: str) -> None:
    files = files_of(more=CLASHES[clash])

    doubts = doubted(tmp_path, files)
    made = compiled(tmp_path / "again", files).bundle.tools

    assert "index.graphql:1:15 no-companion: shop-search & find: false" in doubts
    assert "shop-search" not in [each.name for each in made if isinstance(each, CompanionTool)]
    assert "shop-describe" in [each.name for each in made if isinstance(each, CompanionTool)]


@pytest.mark.parametrize(("length", "left"), [(55, ["search", "describe"]), (56, ["search"]), (60, [])])
def test_name_above_64_characters_is_left_out(tmp_path: Path, length: int, left: Sequence[str]) -> None:
    name = "s" * length
    files = files_of(name=name)

    doubts = [each for each in doubted(tmp_path, files) if "no-companion" in each]
    with running_function(compiled(tmp_path / "again", files)) as function:
        assert names(function) == [name, *(f"{name}-{does}" for does in left)]
    assert len(doubts) == 2 - len(left)


def test_scopes_of_the_tool_are_those_of_its_companions(tmp_path: Path) -> None:
    made = identified(compiled(tmp_path, files_of('scopes: ["shop:read"]')), {"sub": "elif"})
    with running_function(made) as function:
        refused = function.call("shop-search", {"question": "order"}, headers=HOLDER)

    assert (refused.status, refused.code) == (403, "insufficient-scope")


def test_scalars_that_no_schema_defines_are_described(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        said = function.call("shop-describe", {"coordinates": ["ID", "Order.id", "Int"]}).text

    assert said == "type Order {\n  id: ID!\n  # and 4 more\n}\n\nscalar ID\n\nscalar Int"
