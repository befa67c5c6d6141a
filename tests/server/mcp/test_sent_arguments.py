"""Calls as clients send them: with ``null`` for each argument that is left out, and JSON text for other values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, graphql_sync

from handler.server.auth.sealed_state import RequestStates
from tests.server.mcp.calls.test_consent import KEY, call, message_of
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, running_function
from tests.support.raw_http import Peer, answer, running_server

SDL = """
input Key @oneOf { id: ID email: String }
input Page { first: Int! = 5, after: String }
input Filter { name: String! = "any", pages: [Page!], page: Page, note: String }
type Query {
  many(first: Int! = 3, after: String): String
  find(key: Key!): String
  search(filter: Filter!, more: [Filter!]): String
  exactly(n: Int!): String
  own(owner: String): String
  lists(ids: [ID!], tags: [String], grid: [[String]], any: [JSON], json: JSON, box: Box, on: Boolean): String
}
scalar JSON
input Box { tags: [String!], boxes: [Box!], json: JSON, size: Float }
type Mutation { drop(id: ID!): String, dropAll(ids: [ID!]!): String }
"""
INDEX = """
schema
  @sdl(files: ["schema.graphql"], executables: [{document: "operations.graphql", persist: true}])
  @tool(name: "ask", graphql: {expose: true, types: "Query", fields: ".*"})
  @tool(name: "change", confirm: required, graphql: {expose: true, types: "Mutation", fields: ".*"})
  @tool(name: "nested", prescribed: "Many")
  @tool(name: "nested_lists", prescribed: "Lists")
  @tool(name: "nested_exactly", prescribed: "Exactly") {
  query: Query
  mutation: Mutation
}
"""
OPERATIONS = """
query Many($first: Int! = 5, $after: String, $limit: Int = 7) @mcpTool(name: "many") {
  many(first: $first, after: $after)
  limited: many(first: $limit)
}
query Place($first: Int) @mcpTool(name: "place") { many(first: $first) }
query Find($key: Key!) @mcpTool(name: "find") { find(key: $key) }
query Search($filter: Filter!, $more: [Filter!]) @mcpTool(name: "search") { search(filter: $filter, more: $more) }
query Exactly($n: Int!) @mcpTool(name: "exactly") { exactly(n: $n) }
query Lists($ids: [ID!], $tags: [String], $grid: [[String]], $any: [JSON], $json: JSON, $box: Box, $on: Boolean)
  @mcpTool(name: "lists") {
  lists(ids: $ids, tags: $tags, grid: $grid, any: $any, json: $json, box: $box, on: $on)
}
mutation DropAll($ids: [ID!]!) @mcpTool(name: "drop_all", confirm: required) { dropAll(ids: $ids) }
query Own($owner: String! = "nobody") @mcpTool(name: "own") { own(owner: $owner) }
mutation Drop($id: ID!) @mcpTool(name: "drop", confirm: advisory) { drop(id: $id) }
"""
CONFIG = """
upstream: {url: 'URL'}
graphql: on
catalog: true
log: {arguments: [lists.ids, nested_lists.ids]}
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
      rules: [{condition: '"nobody" == $variables.owner:String', fields: [own]}]
    - {type: Mutation, policyDefault: {condition: true}}
"""


@dataclass
class Served:
    """A function, and the variables of what reached the API behind it."""

    function: Function
    variables: list[Any] = field(default_factory=list)

    def call(self, tool: str, arguments: Any) -> Answer:
        return self.function.request("tools/call", {"name": tool, "arguments": arguments})

    def sent(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """The variables that a call sends, which has to succeed."""
        self.variables.clear()
        result = self.call(tool, arguments).result
        assert "isError" not in result, result
        (variables,) = self.variables
        return variables


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    variables: list[Any] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            body = json.loads(request.split(b"\r\n\r\n", 1)[1])
            variables.append(body.get("variables") or {})
            result = graphql_sync(
                build_schema(SDL), body["query"], variable_values=body.get("variables"),
                operation_name=body.get("operationName"),
            )  # fmt: skip
            peer.send(answer(json.dumps(result.formatted).encode(), content_type="application/json"))

    with running_server(script) as server:
        files = {
            "index.graphql": INDEX,
            "schema.graphql": SDL,
            "operations.graphql": OPERATIONS,
            "config.yaml": CONFIG.replace("URL", f"{server.url}graphql"),
        }
        with running_function(
            compiled(tmp_path_factory.mktemp("sent"), files), states=RequestStates([KEY])
        ) as function:
            yield Served(function, variables)


def test_null_is_left_out_where_a_variable_takes_none_and_has_a_default(served: Served) -> None:
    assert served.sent("many", {"first": None}) == {}
    assert served.sent("nested", {"variables": {"first": None}}) == {}


def test_null_is_sent_where_graphql_takes_it(served: Served) -> None:
    assert served.sent("many", {"after": None}) == {"after": None}


def test_null_is_left_out_where_a_nullable_variable_stands_for_what_cannot_be_null(served: Served) -> None:
    assert served.sent("many", {"limit": None}) == {}
    assert served.sent("place", {"first": None}) == {}


def test_members_of_a_one_of_object_that_are_null_are_left_out(served: Served) -> None:
    assert served.sent("find", {"key": {"id": "1", "email": None}}) == {"key": {"id": "1"}}


def test_null_is_left_out_at_every_depth(served: Served) -> None:
    page = {"first": None, "after": None}
    filter_ = {"name": None, "pages": [page], "page": page, "note": None}

    sent = served.sent("search", {"filter": filter_, "more": [filter_]})

    left = {"pages": [{"after": None}], "page": {"after": None}, "note": None}
    assert sent == {"filter": left, "more": [left]}


def test_null_for_what_is_required_is_a_violation(served: Served) -> None:
    assert "/n: expected integer, got null" in served.call("exactly", {"n": None}).text
    assert "/variables/n: expected integer, got null" in served.call("nested_exactly", {"variables": {"n": None}}).text
    assert "/key: expected exactly one of id, email, got none" in served.call("find", {"key": {"id": None}}).text


def test_confirm_that_is_null_is_no_consent_and_no_fault(served: Served) -> None:
    result = served.call("drop", {"id": "1", "confirm": None})

    assert '"confirm": true' in result.text
    assert served.sent("drop", {"id": "1", "confirm": True}) == {"id": "1"}


def test_policy_judges_the_values_that_are_sent(served: Served) -> None:
    assert served.sent("own", {"owner": None}) == {}
    assert "isError" in served.call("own", {"owner": "me"}).result


@pytest.mark.parametrize("variables", ['{"n": 4}', ' {"n": 4} ', {"n": 4}])
def test_variables_may_be_the_json_text_of_an_object(served: Served, variables: Any) -> None:
    document = "query Q($n: Int!) { exactly(n: $n) }"

    assert served.sent("nested_exactly", {"variables": variables}) == {"n": 4}
    assert served.sent("ask", {"query": document, "variables": variables, "operationName": None}) == {"n": 4}


def test_any_argument_that_is_an_object_may_be_its_json_text(served: Served) -> None:
    assert served.sent("find", {"key": '{"id": "1"}'}) == {"key": {"id": "1"}}


@pytest.mark.parametrize(
    ("text", "violation"),
    [
        ('{"n": 4', "/variables: expected object, got a text that is not valid JSON: Expecting ',' delimiter"),
        ('{"n": NaN}', "/variables: expected object, got a text that is not valid JSON"),
        ("[4]", '/variables: expected object, got string "[4]"'),
        ("n=4", '/variables: expected object, got string "n=4"'),
        ('{"n": "four"}', '/variables/n: expected integer, got string "four"'),
        ('{"a":' * 70 + "1" + "}" * 70, "/: nested more than 64 deep"),
    ],
)
def test_text_that_is_not_the_json_of_fitting_variables_is_a_violation(
    served: Served, text: str, violation: str
) -> None:
    result = served.call("nested_exactly", {"variables": text})

    assert result.result["isError"]
    assert violation in result.text


def test_text_stays_a_text_where_one_is_wanted(served: Served) -> None:
    assert served.sent("own", {"owner": "nobody"}) == {"owner": "nobody"}
    assert served.sent("many", {"after": '{"a": 1}'}) == {"after": '{"a": 1}'}


GIVEN_AND_SENT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"ids": '["a", "b"]'}, {"ids": ["a", "b"]}),
    ({"ids": "a"}, {"ids": "a"}),
    ({"tags": ' ["a", null]'}, {"tags": ["a", None]}),
    ({"tags": '{"a": 1}'}, {"tags": '{"a": 1}'}),
    ({"tags": "null"}, {"tags": "null"}),
    ({"grid": '[["a"]]'}, {"grid": [["a"]]}),
    ({"grid": ['["a"]', ["[1]"]]}, {"grid": [["a"], ["[1]"]]}),
    ({"any": '[1, "[2]"]'}, {"any": [1, "[2]"]}),
    ({"any": ["[1]"]}, {"any": ["[1]"]}),
    ({"json": "[1]"}, {"json": "[1]"}),
    ({"box": '{"tags": ["a"], "json": "[1]"}'}, {"box": {"tags": ["a"], "json": "[1]"}}),
    ({"box": {"tags": '["a"]', "json": "{}"}}, {"box": {"tags": ["a"], "json": "{}"}}),
    ({"box": {"boxes": [{"boxes": '[{"size": 1}]'}]}}, {"box": {"boxes": [{"boxes": [{"size": 1}]}]}}),
    ({"box": {"boxes": '{"size": 1}'}}, {"box": {"boxes": {"size": 1}}}),
    ({"box": {"size": "1.5"}, "on": "true"}, {"box": {"size": 1.5}, "on": True}),
    ({"on": "null"}, {"on": None}),
]
MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"ids": '["a", "b"'}, "expected array, got a text that is not valid JSON: Expecting ',' delimiter"),
    ({"tags": "[NaN]"}, "expected array, got a text that is not valid JSON: NaN"),
    ({"tags": "[" * 100_000}, "expected array, got a text that is not valid JSON: nested too deeply"),
    ({"tags": "[" * 70 + "]" * 70}, "nested more than 64 deep"),
    ({"tags": f"[{'1,' * 10_000}1]"}, "values, counting items of lists"),
    ({"box": {"tags": "[1"}}, "expected array, got a text that is not valid JSON"),
]
DOCUMENT = """
query Q($ids: [ID!], $tags: [String], $grid: [[String]], $any: [JSON], $json: JSON, $box: Box, $on: Boolean) {
  lists(ids: $ids, tags: $tags, grid: $grid, any: $any, json: $json, box: $box, on: $on)
}"""


@pytest.mark.parametrize(("given", "sent"), GIVEN_AND_SENT)
def test_every_kind_of_tool_reads_the_same_texts(served: Served, given: dict[str, Any], sent: dict[str, Any]) -> None:
    through: Any = {"name": "lists", "arguments": json.dumps(given)}

    assert served.sent("lists", given) == sent
    assert served.sent("nested_lists", {"variables": given}) == sent
    assert served.sent("ask", {"query": DOCUMENT, "variables": given}) == sent
    assert served.sent("catalog-call", through) == sent


@pytest.mark.parametrize(("given", "violation"), MISFITS)
def test_every_kind_of_tool_refuses_the_same_texts(served: Served, given: dict[str, Any], violation: str) -> None:
    served.variables.clear()
    calls: list[tuple[str, Any]] = [
        ("lists", given),
        ("nested_lists", {"variables": given}),
        ("ask", {"query": DOCUMENT, "variables": given}),
        ("catalog-call", {"name": "lists", "arguments": given}),
    ]

    for tool, arguments in calls:
        result = served.call(tool, arguments)
        assert result.result["isError"]
        assert violation in result.text, tool
    assert served.variables == []


def test_item_of_another_type_in_a_text_is_a_violation_and_not_one_item(served: Served) -> None:
    refused = served.call("lists", {"tags": "[1, 2]"}).text

    assert "/tags/0: expected string or null, got integer 1" in refused
    assert "isError" in served.call("ask", {"query": DOCUMENT, "variables": {"tags": "[1, 2]"}}).result


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("drop_all", {"ids": '["a", "b"]'}),
        ("change", {"query": "mutation D($ids: [ID!]!) { dropAll(ids: $ids) }", "variables": {"ids": '["a", "b"]'}}),
    ],
)
def test_question_to_the_user_shows_the_list_that_is_sent(served: Served, tool: str, arguments: Any) -> None:
    asked = call(served.function, arguments, tool=tool)

    assert json.dumps({"ids": ["a", "b"]}, indent=2) in message_of(asked)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("lists", {"ids": '["a", "b"]'}),
        ("nested_lists", {"variables": '{"ids": ["a", "b"]}'}),
        ("nested_lists", {"variables": {"ids": '["a", "b"]'}}),
    ],
)
def test_log_tells_the_list_that_is_sent(served: Served, tool: str, arguments: Any) -> None:
    served.call(tool, arguments)

    assert served.function.lines[-1]["arguments"] == {"ids": '["a","b"]'}


def test_log_of_a_call_that_is_nested_too_deeply_ends(served: Served) -> None:
    deep: Any = "[1]"
    for _ in range(500):
        deep = [deep]
    served.call("lists", {"ids": deep})

    assert served.function.lines[-1]["decision"] == "refused"


def test_variables_that_are_an_empty_text_are_none(served: Served) -> None:
    document = {"query": "{ many }", "variables": "", "operationName": ""}

    assert served.sent("ask", document) == {}
    assert served.sent("nested", {"variables": ""}) == {}
    assert "/variables/n: required, but missing" in served.call("nested_exactly", {"variables": ""}).text


def test_graphql_route_takes_one_item_for_a_list(served: Served) -> None:
    served.variables.clear()
    served.function.graphql({"query": DOCUMENT, "variables": {"ids": '["a"]'}})

    assert served.variables == [{"ids": '["a"]'}]


@pytest.mark.parametrize("modern", [True, False])
def test_arguments_that_are_null_are_none(served: Served, modern: bool) -> None:
    result = served.function.request("tools/call", {"name": "many", "arguments": None}, modern=modern).result

    assert "isError" not in result


@pytest.mark.parametrize("arguments", [[], "", 0, False])
def test_arguments_of_another_type_are_refused(served: Served, arguments: Any) -> None:
    assert served.call("many", arguments).json["error"]["code"] == -32602


def test_variables_of_a_graphql_route_keep_to_the_specification(served: Served) -> None:
    request = {"query": "query Q($n: Int! = 5) { exactly(n: $n) }", "variables": {"n": None}}

    assert "errors" in served.function.graphql(request).json


PROMPT = """---
arguments: [{name: topic}, {name: tone}]
---
Write {{topic}} {{tone}}.
"""


def test_arguments_of_a_prompt_that_are_null_are_none(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { a: Int }",
        "config.yaml": "access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}",
        "prompts/write.md": PROMPT,
    }
    with running_function(compiled(tmp_path, files)) as function:
        whole = function.request("prompts/get", {"name": "write", "arguments": None})
        single = function.request("prompts/get", {"name": "write", "arguments": {"topic": "tea", "tone": None}})

    assert "messages" in whole.result
    assert single.result["messages"][0]["content"]["text"].startswith("Write tea")
