"""Mutations that one tool asks its user about, and that another way sends all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.diagnostics import Reported
from tests.support.endpoints import PUBLIC, doubted

SDL = "type Query { a: Int } type Mutation { drop(id: ID!): Int keep(id: ID!): Int }"
ASKING = 'mutation Drop($id: ID!) @mcpTool(name: "drop", title: "D", confirm: required) { drop(id: $id) }'
OTHER = 'mutation Other($id: ID!) @mcpTool(name: "other", title: "O" OPTIONS) { FIELD(id: $id) }'
TOOL = 'extend schema @tool(name: "free", graphql: {expose: true, types: "Query|Mutation", fields: "FIELDS"} OPTIONS)'


def warnings(folder: Path, *, schema: str = "", other: str = "", config: str = "") -> list[Reported]:
    """What is said of a tool that asks, and what stands beside it."""
    files = {
        "index.graphql": f"{schema} {SDL}",
        "operations/drop.graphql": ASKING,
        "operations/other.graphql": other or "query A { a }",
        "config.yaml": PUBLIC + config,
    }
    return [each for each in doubted(folder, files) if " consent-bypass: " in each]


def bypass(way: str) -> str:
    return f'operations/drop.graphql:1:1 consent-bypass: "drop" & Mutation.drop & but {way} '


def test_tool_alone_has_no_way_around(tmp_path: Path) -> None:
    assert warnings(tmp_path) == []


@pytest.mark.parametrize("options", ["", ", confirm: advisory"])
def test_operation_with_the_same_mutation_is_one(tmp_path: Path, options: str) -> None:
    other = OTHER.replace("FIELD", "drop").replace("OPTIONS", options)

    assert warnings(tmp_path, other=other) == [bypass("other")]


@pytest.mark.parametrize(("field", "options"), [("drop", ", confirm: required"), ("keep", "")])
def test_operation_that_asks_too_or_does_something_else_is_none(tmp_path: Path, field: str, options: str) -> None:
    assert warnings(tmp_path, other=OTHER.replace("FIELD", field).replace("OPTIONS", options)) == []


def test_graphql_tool_that_exposes_the_mutation_is_one(tmp_path: Path) -> None:
    schema = TOOL.replace("FIELDS", ".*").replace("OPTIONS", "")

    assert warnings(tmp_path, schema=schema) == [bypass("free")]


@pytest.mark.parametrize(("fields", "options"), [(".*", "confirm: required"), ("a|keep", "")])
def test_graphql_tool_that_asks_too_or_hides_the_mutation_is_none(tmp_path: Path, fields: str, options: str) -> None:
    assert warnings(tmp_path, schema=TOOL.replace("FIELDS", fields).replace("OPTIONS", options)) == []


@pytest.mark.parametrize("types", ["Query", "Quer.*|A"])
def test_graphql_tool_that_exposes_no_mutation_at_all_is_none(tmp_path: Path, types: str) -> None:
    schema = TOOL.replace("Query|Mutation", types).replace("FIELDS", ".*").replace("OPTIONS", "")

    assert warnings(tmp_path, schema=schema) == []


def test_graphql_tool_that_asks_has_a_way_around_for_each_mutation(tmp_path: Path) -> None:
    schema = TOOL.replace("FIELDS", ".*").replace("OPTIONS", "confirm: required")
    other = OTHER.replace("FIELD", "keep").replace("OPTIONS", "")

    assert warnings(tmp_path, schema=schema, other=other) == [
        'index.graphql:1:15 consent-bypass: "free" & Mutation.keep & but other '
    ]


def test_own_graphql_that_takes_any_document_is_one(tmp_path: Path) -> None:
    assert warnings(tmp_path, config="graphql: on\n") == [bypass("/graphql")]


def test_mutation_that_nobody_may_use_has_no_way_around(tmp_path: Path) -> None:
    access = PUBLIC.replace("anonymous: allow", "anonymous: allow\n  hide: [Mutation.keep]")
    schema = TOOL.replace("FIELDS", ".*").replace("OPTIONS", "confirm: required")
    files = {"index.graphql": f"{schema} {SDL}", "config.yaml": f"{access}graphql: on\n"}

    assert [each for each in doubted(tmp_path, files) if " consent-bypass: " in each] == [
        'index.graphql:1:15 consent-bypass: "free" & Mutation.drop & /graphql'
    ]


def test_schema_without_mutations_has_none(tmp_path: Path) -> None:
    query = 'query A @mcpTool(name: "a", title: "A", confirm: required) { a }'
    files = {"index.graphql": "type Query { a: Int }", "operations/a.graphql": query, "config.yaml": "graphql: on"}

    assert [each for each in doubted(tmp_path, files) if " consent-bypass: " in each] == []
