"""What the options of a tool do to its calls, over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.codes import unknown_tool
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Answer, Function, running_function
from tests.support.upstream import Upstream

EMAIL = "elif.nunez@example.com"

SDL = """
type Query { customer(email: String!): Customer }
type Mutation { placeOrder(input: PlaceOrderInput!): Order }
type Customer { id: ID! name: String! }
type Order { id: ID! number: String! }
input PlaceOrderInput { customerId: ID! lines: [OrderLineInput!]! }
input OrderLineInput { productId: ID! quantity: Int! }
"""
QUERY = "query Find($email: String!) OPTIONS { customer(email: $email) { name } }"
MUTATION = "mutation Place($input: PlaceOrderInput!) OPTIONS { placeOrder(input: $input) { number } }"
FOUND = {"data": {"customer": {"name": "Elif Núñez"}}}


@contextmanager
def serving(folder: Path, upstream: Upstream, options: str, *, operation: str = QUERY) -> Iterator[Function]:
    """An endpoint with one flat tool ``t``, and a GraphQL tool ``g`` over everything, both with these options."""
    patterns = '[{expose: true, types: "Query|Mutation", fields: ".*"}]'
    files = {
        "index.graphql": f'extend schema @tool(name: "g", graphql: {patterns} {options.replace("old", "older")}) {SDL}',
        "operations/o.graphql": operation.replace("OPTIONS", f'@mcpTool(name: "t" {options})'),
        "config.yaml": f"upstream: {{url: '{upstream.url}'}}\n{PUBLIC}",
    }
    upstream.clear()
    with running_function(compiled(folder, files)) as function:
        yield function


def find(function: Function, name: str = "t", **more: object) -> Answer:
    return function.call(name, {"email": EMAIL, **more})


def test_hidden_tool_can_be_called(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, "hidden: true") as function:
        assert function.request("tools/list").result == {"tools": []}
        assert find(function).result["structuredContent"] == FOUND


def test_alias_is_called_as_the_tool_and_not_listed(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, 'aliases: ["old"]') as function:
        assert [tool["name"] for tool in function.request("tools/list").result["tools"]] == ["g", "t"]
        assert find(function, "old").result == find(function).result
        assert function.query("older", f'{{ customer(email: "{EMAIL}") {{ name }} }}').json["result"]["content"]


def test_alias_of_a_tool_that_the_caller_cannot_see_is_unknown(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, 'aliases: ["old"]') as function:
        assert find(function, "oldest").json["error"] == unknown_tool("oldest")


def test_versions_are_in_the_meta_and_never_in_the_data(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, 'version: "1.2.0" lastUpdate: "2026-01-31"') as function:
        for result in (
            find(function).result,
            function.query("g", f'{{ customer(email: "{EMAIL}") {{ name }} }}').result,
            function.call("t", {}).result,
        ):
            code = {"stile/code": "invalid-arguments"} if "isError" in result else {}
            assert result["_meta"] == {"tool_version": "1.2.0", "tool_last_update": "2026-01-31", **code}
            assert "1.2.0" not in str(result["content"])
        modern = function.request("tools/call", {"name": "t", "arguments": {"email": EMAIL}}, modern=True).result
        assert modern["_meta"]["tool_version"] == "1.2.0"
        assert modern["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "api.things"


@pytest.mark.parametrize(
    ("output", "texts", "structured"), [("both", 1, True), ("text", 1, False), ("structured", 0, True)]
)
@pytest.mark.parametrize("tool", ["t", "g"])
def test_output_says_which_forms_a_result_has(
    tmp_path: Path, upstream: Upstream, *, tool: str, output: str, texts: int, structured: bool
) -> None:
    with serving(tmp_path, upstream, f"output: {output}") as function:
        arguments = {"email": EMAIL} if tool == "t" else {"query": f'{{ customer(email: "{EMAIL}") {{ name }} }}'}
        result = function.request("tools/call", {"name": tool, "arguments": arguments}, modern=True).result

    assert len(result["content"]) == texts
    assert ("structuredContent" in result) is structured


def test_structured_output_is_text_at_revisions_without_structured_content(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, "output: structured") as function:
        params = {"name": "t", "arguments": {"email": EMAIL}}
        old, new = (
            function.request("tools/call", params, headers={"mcp-protocol-version": revision}).result
            for revision in ("2025-03-26", "2025-06-18")
        )

    assert old["content"] == [{"type": "text", "text": '{"data":{"customer":{"name":"Elif Núñez"}}}'}]
    assert new["content"] == []
    assert new["structuredContent"] == FOUND


def test_scopes_ask_anonymous_callers_for_a_credential_and_hide_nothing(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, 'scopes: ["things:read"]') as function:
        assert [tool["name"] for tool in function.request("tools/list").result["tools"]] == ["g", "t"]
        answer = find(function)

    assert answer.status == 401
    assert upstream.requests() == []


ORDER = {"input": {"customerId": "cust_0001", "lines": []}}


@pytest.mark.parametrize("more", [{}, {"confirm": False}])
def test_unconfirmed_call_is_not_sent_and_says_what_to_do(
    tmp_path: Path, upstream: Upstream, more: dict[str, object]
) -> None:
    with serving(tmp_path, upstream, "confirm: advisory", operation=MUTATION) as function:
        result = function.call("t", {**ORDER, **more}).result

    assert result["isError"] is True
    assert result["content"][0]["text"] == (
        "Nothing was done yet, because t asks for consent. Tell your user what this call would do. "
        'If they agree, repeat it with "confirm": true.'
    )
    assert upstream.requests() == []


def test_confirmed_call_is_sent_without_the_confirmation(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, "confirm: advisory", operation=MUTATION) as function:
        function.call("t", {**ORDER, "confirm": True})

    (sent,) = upstream.requests()
    assert json.loads(sent["body"])["variables"] == ORDER


def test_confirmation_that_is_no_boolean_is_an_invalid_argument(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, "confirm: advisory", operation=MUTATION) as function:
        answer = function.call("t", {**ORDER, "confirm": "yes"})

    assert answer.text == 'Invalid arguments for tool t: /confirm: expected boolean, got string "yes"'
    assert upstream.requests() == []


def test_graphql_tool_asks_for_consent_to_mutations_alone(tmp_path: Path, upstream: Upstream) -> None:
    mutation = 'mutation { placeOrder(input: {customerId: "cust_0001", lines: []}) { number } }'
    with serving(tmp_path, upstream, "confirm: advisory") as function:
        assert "isError" not in function.query("g", f'{{ customer(email: "{EMAIL}") {{ name }} }}').result
        upstream.clear()
        assert "Nothing was done yet" in function.query("g", mutation).text
        assert upstream.requests() == []
        function.query("g", mutation, confirm=True)

    assert len(upstream.requests()) == 1


def test_own_limits_hold(tmp_path: Path, upstream: Upstream) -> None:
    patterns = '[{expose: true, types: "Query", fields: ".*"}]'
    index = f'extend schema @tool(name: "g", graphql: {patterns} limits: {{max_depth: 1}}) {SDL}'
    files = {"index.graphql": index, "config.yaml": f"upstream: {{url: '{upstream.url}'}}\n{PUBLIC}"}
    upstream.clear()
    with running_function(compiled(tmp_path, files)) as function:
        answer = function.query("g", f'{{ customer(email: "{EMAIL}") {{ name }} }}')

    assert answer.text.startswith("The GraphQL request was refused: ")
    assert "1 levels of fields" in answer.text
    assert upstream.requests() == []
