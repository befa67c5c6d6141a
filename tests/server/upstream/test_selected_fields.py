"""Fields of an answer that its document does not select: they reach nobody."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from graphql import parse, print_ast

from handler.server.upstream.graphql_request import GraphQLRequest, drop_unselected
from tests.support.api import Reply, running_api
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import running_function
from tests.support.kits import MODULES, TOOLS, with_kit

FILES = {
    "index.graphql": 'extend schema @tool(name: "t", graphql: {expose: true, types: ".*", fields: ".*"})\n'
    "scalar JSON\ntype Query { me: Person name: String }\ntype Mutation { a: Int }\n"
    "type Person { name: String data: JSON friends: [[Person]] salary: Int }\n",
    "operations/me.graphql": "query Me @mcpTool { me { name data friends { name } } }",
}
DATA = {
    "me": {
        "name": "Ada",
        "salary": 7,
        "data": {"salary": 8},
        "friends": [[{"name": "Ben", "data": {"salary": 9}}], None, [None, {"salary": 9, "name": "Cy"}]],
    },
    "name": "a second root field",
}
SELECTED = {"me": {"name": "Ada", "data": {"salary": 8}, "friends": [[{"name": "Ben"}], None, [None, {"name": "Cy"}]]}}


@pytest.mark.parametrize("schemas", ["on", "off"])
@pytest.mark.parametrize("errors", [[], [{"message": "Slow", "path": ["me", "name"]}]])
def test_fields_that_were_not_selected_reach_no_caller(tmp_path: Path, schemas: str, errors: list[Any]) -> None:
    content = {"data": DATA, **({"errors": errors} if errors else {})}
    with running_api(lambda _: Reply(content)) as api:
        config = f"upstream: {{url: '{api.url}'}}\ngraphql: 'on'\noutput_schema: '{schemas}'\n{PUBLIC}"
        made = with_kit(compiled(tmp_path, {**FILES, "config.yaml": config}), TOOLS)
        text = "{ me { name data friends { name } } }"
        with running_function(made, code_modules=MODULES) as function:
            answers = [
                function.call("Me", {}).text,
                function.call("t", {"query": text}).text,
                json.dumps(function.graphql({"query": text}).json),
            ]
            in_python = function.call("ask_graphql", {"query": text}).text

    assert [json.loads(answer)["data"] for answer in answers] == [SELECTED] * 3
    assert '"salary": 9' not in in_python.replace('":9', '": 9')


def dropped(document: str, data: dict[str, Any]) -> dict[str, Any]:
    given = copy.deepcopy(data)
    request = GraphQLRequest(
        text=print_ast(parse(document)), sha256="", operation_name=None, variables={}, is_query=True
    )
    drop_unselected(given, request)
    return given


TRICKY = r'''
query Q($a: [I!] = [{x: "}{ \" ) (", y: """ } fragment Z on Q { """}] @d(x: 1, y: "(")) @e(z: [1, 2]) {
  a: fragment(x: {y: ") {"}) @skip(if: $b) { ...F ... on T @include(if: true) { t(x: """ query { z } """) } ...onT }
  query { ... @x { on } }
  query { type }
}
fragment onT on X { ...F twice { one } twice { two } }
fragment F on Y @d(a: "{") { f { g } }
'''


def test_selections_are_read_through_aliases_fragments_strings_and_directives() -> None:
    selected: dict[str, Any] = {
        "a": {"f": {"g": 1}, "t": {"of a leaf": 2}, "twice": {"one": 3, "two": 4}},
        "query": {"on": 5, "type": 6},
    }
    more = json.loads(json.dumps(selected).replace("{", '{"fragment": 0, "x": [{}], '))

    assert dropped(TRICKY, more) == {**selected, "a": {**selected["a"], "t": more["a"]["t"]}}


def test_fragments_that_repeat_each_other_are_read_in_linear_time() -> None:
    fragments = [f"fragment F{n} on Q {{ ...F{n + 1} ...F{n + 1} }}" for n in range(40)]
    document = "\n".join(["{ ...F0 }", *fragments, "fragment F40 on Q { x }"])

    assert dropped(document, {"x": 1, "y": 2}) == {"x": 1}


def test_answer_nested_deeper_than_pythons_stack_is_read() -> None:
    deep: Any = {"x": 1, "y": 2}
    for _ in range(100_000):
        deep = [deep]

    drop_unselected(
        {"a": deep},
        GraphQLRequest(text="{\n  a {\n    x\n  }\n}", sha256="", operation_name=None, variables={}, is_query=True),
    )
    while isinstance(deep, list):
        deep = deep[0]
    assert deep == {"x": 1}
