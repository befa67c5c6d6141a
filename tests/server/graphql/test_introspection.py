"""Questions for the schema by each way: a model is answered what it can read, people's tools all that they ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from graphql import get_introspection_query

from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Function, running_function

FIELDS = " ".join(f'"{"words of its author " * 10}" field{number}(id: ID!): Int' for number in range(500))
FILES = {
    "index.graphql": f"""
schema @tool(name: "ask", graphql: [{{expose: true, types: "Query", fields: ".*"}}]) {{
  query: Query
  mutation: Mutation
}}
type Query {{ {FIELDS} }}
type Mutation {{ write: Int }}
""",
    "config.yaml": f"upstream: {{url: 'http://127.0.0.1:9/graphql'}}\ngraphql: on\n{PUBLIC}",
}


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Function]:
    with running_function(compiled(tmp_path_factory.mktemp("wide"), FILES)) as function:
        yield function


def test_schema_that_is_large_for_a_model_is_refused_in_a_call_with_what_to_ask_instead(function: Function) -> None:
    answer = function.query("ask", get_introspection_query())

    assert answer.result["isError"]
    assert answer.text == (
        "The GraphQL request was refused: the answer would have more than 100,000 bytes: ask for one type at a time "
        "with __type(name:), and first for the names of its fields alone"
    )


def test_names_of_fields_are_answered_in_a_call(function: Function) -> None:
    answer = function.query("ask", '{ __type(name: "Query") { fields { name } } }')

    assert len(json.loads(answer.text)["data"]["__type"]["fields"]) == 500


@pytest.mark.parametrize("path", ["/graphql", "/tools/ask/graphql"])
def test_tools_of_people_are_answered_the_whole_schema(function: Function, path: str) -> None:
    answer = function.graphql({"query": get_introspection_query()}, path)

    assert len(answer.body) > 200_000
    assert len(answer.json["data"]["__schema"]["types"]) > 8
