"""How many values a call may have: every way in counts them before anything walks them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.graph.documents.test_limits import calls
from tests.support.codes import rpc_error
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Answer, Function, running_function
from tests.support.kits import with_catalog, with_kit

MODULE = "tests.support.acme_careless"
DOCUMENT = "query Stored($ids: [ID!], $where: Where) { find(ids: $ids, where: $where) }\n"
FILES = {
    "index.graphql": """
        extend schema
          @sdl(executables: [{document: "stored.graphql", persist: true}])
          @tool(name: "all", graphql: {expose: true, types: "Query", fields: ".*"})
          @tool(name: "few", limits: {max_values: 10}, graphql: {expose: true, types: "Query", fields: ".*"})
        input Where { and: [Where!] a: Int }
        type Query { find(ids: [ID!], where: Where): Int }
    """,
    "operations/find.graphql": "query Find($ids: [ID!], $where: Where) @mcpTool { find(ids: $ids, where: $where) }\n",
    "stored.graphql": DOCUMENT,
    "prompts/p.md": "---\narguments: [{name: tone, values: [warm]}]\n---\n{{tone}}\n",
    "config.yaml": READABLE + "graphql: on\nlimits: {max_values: 100}\n",
}
STORED = f"sha256:{sha256(DOCUMENT.encode()).hexdigest()}"
QUERY = "query($ids: [ID!]) { find(ids: $ids) }"
MANY = {"ids": ["1"] * 101}
SAID = "101 values, counting items of lists and members of objects; a call may have 100 (limits.max_values)"


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Function]:
    endpoint = with_catalog(with_kit(compiled(tmp_path, FILES), f"{MODULE}:kit"))
    with running_function(endpoint, development=True, code_modules=[MODULE]) as running:
        yield running


def messages(answer: Answer) -> list[str]:
    return [error["message"] for error in answer.json["errors"]]


def test_arguments_of_tools_are_counted(function: Function) -> None:
    prescribed = function.call("Find", MANY)
    written = function.query("all", QUERY, variables=MANY)
    in_python = function.call("tidy", {"filter": [1] * 101})
    catalog = function.call("catalog", {"query": "a", "other": [1] * 101})

    assert prescribed.text == f"Invalid arguments for tool Find: /ids: {SAID}"
    assert written.text == f"Invalid arguments for tool all: /variables: {SAID.replace('101', '102')}"
    assert in_python.text == f"Invalid arguments for tool tidy: /filter: {SAID}"
    assert catalog.text == f"Invalid arguments for tool catalog: /other: {SAID}"


def test_a_tools_own_limit_is_laid_over_the_endpoints(function: Function) -> None:
    answer = function.query("few", QUERY, variables={"ids": ["1"] * 11})

    assert "12 values" in answer.text
    assert "a call may have 10 (limits.max_values)" in answer.text


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/graphql", {"query": QUERY, "variables": MANY}),
        ("/tools/all/graphql", {"query": QUERY, "variables": MANY}),
        ("/graphql", {"documentId": STORED, "variables": MANY}),
    ],
)
def test_variables_at_graphql_routes_are_counted(function: Function, path: str, parameters: dict[str, Any]) -> None:
    answer = function.graphql(parameters, path)

    assert answer.status == 400
    assert messages(answer) == [f"variables/ids: {SAID}"]


@pytest.mark.parametrize(
    ("path", "parameters"),
    [("/graphql", {"query": QUERY}), ("/tools/all/graphql", {"query": QUERY}), ("/graphql", {"documentId": STORED})],
)
def test_variables_at_graphql_routes_nest_so_deep(function: Function, path: str, parameters: dict[str, Any]) -> None:
    deep: Any = {"a": 1}
    for _ in range(40):
        deep = {"and": [deep]}

    answer = function.graphql({**parameters, "variables": {"where": deep}}, path)

    assert answer.status == 400
    assert messages(answer) == ["variables: nested more than 64 deep"]


def test_as_many_values_as_allowed_are_judged(function: Function) -> None:
    answer = function.call("Find", {"ids": ["1"] * 98 + [1.5]})

    assert answer.text.startswith("Invalid arguments for tool Find: /ids/98: expected string or integer")


def test_arguments_of_prompts_and_completions_are_counted(function: Function) -> None:
    given = {f"a{n}": "x" for n in range(101)}
    prompt = function.request("prompts/get", {"name": "p", "arguments": given})
    ref, argument = {"type": "ref/prompt", "name": "p"}, {"name": "tone", "value": ""}
    params = {"ref": ref, "argument": argument, "context": {"arguments": given}}
    completion = function.request("completion/complete", params)

    assert prompt.json["error"] == rpc_error(-32602, f"Invalid params: /: {SAID}", "invalid-params")
    assert completion.json["error"]["code"] == -32602
    assert completion.json["error"]["message"].startswith("Invalid params: /context: 102 values")


def test_values_in_a_text_that_a_tool_in_python_reads_as_json_are_counted(tmp_path: Path) -> None:
    module = "tests.support.acme_tools"
    with running_function(
        with_kit(compiled(tmp_path, FILES), f"{module}:kit"), development=True, code_modules=[module]
    ) as function:
        answer = function.call("ask_graphql", {"query": QUERY, "variables": json.dumps({"ids": [1] * 100})})

    assert answer.text == f"Invalid arguments for tool ask_graphql: /variables: {SAID}"


def test_what_is_refused_for_its_number_is_counted_and_judged_by_nothing(function: Function) -> None:
    few = calls(lambda: function.call("Find", {"where": {"and": [{}] * 200}}))

    many = calls(lambda: function.call("Find", {"where": {"and": [{}] * 100_000}}))

    assert many - few < 10 * 100_000  # jsonschema makes thirty calls for each of them, and more for each of its fields
