"""``condition`` of ``@tool`` and ``@mcpTool``, as the compiler reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from handler.policy.evaluation import HIDDEN
from tests.support.endpoints import READABLE, compiled, graphql_tool, prescribed_tool, problems_of

Make = Callable[[str], dict[str, str]]

SDL = "type Query { thing: Int }"
GRAPHQL = '@tool(name: "t", graphql: [{{expose: true, types: "Query", fields: ".*"}}], condition: {condition})'


def with_graphql(condition: str) -> dict[str, str]:
    """An endpoint with one GraphQL tool."""
    index = f"schema\n  {GRAPHQL.format(condition=condition)}\n{{ query: Query }}\n{SDL}"
    return {"index.graphql": index, "config.yaml": READABLE}


def with_operation(condition: str) -> dict[str, str]:
    """An endpoint with one operation."""
    operation = f'query O($id: ID) @mcpTool(name: "t" condition: {condition}) {{ thing }}'
    return {"index.graphql": SDL, "operations/o.graphql": operation, "config.yaml": READABLE}


def test_condition_of_an_operation_joins_its_mask(tmp_path: Path) -> None:
    made = compiled(tmp_path, with_operation('"?$jwt.hr"'))
    (number,) = prescribed_tool(made, "t").mask

    assert made.bundle.conditions[number] == {"exists": {"jwt": ["hr"]}}


def test_condition_of_a_graphql_tool_guards_the_root_types(tmp_path: Path) -> None:
    made = compiled(tmp_path, with_graphql('"?$jwt.hr"'))
    tool = graphql_tool(made, "t")

    assert tool.guards["Query"] == tool.mask == tool.conditions
    assert [listing.entry is None for listing in tool.listings] == [True, False]


def test_condition_is_a_block_string_too(tmp_path: Path) -> None:
    block = compiled(tmp_path / "a", with_graphql('"""\n      ?$jwt.hr\n  """'))
    plain = compiled(tmp_path / "b", with_graphql('"?$jwt.hr"'))

    assert block.bundle.tools == plain.bundle.tools


@pytest.mark.parametrize(
    "marked",
    [
        '"?$jwt.hr &&^"',
        '"$jwt.role:String ^= 1"',
        r'"$jwt.role:String == \"é\" ^x"',
        r'"$jwt.role:String == \"\u00e9\uD83D\uDE00\u{e9}\" ^x"',
        '^"""?$jwt.hr &&"""',
    ],
)
@pytest.mark.parametrize(("make", "file"), [(with_operation, "operations/o.graphql"), (with_graphql, "index.graphql")])
def test_mistake_has_its_place_in_the_text(tmp_path: Path, make: Make, file: str, marked: str) -> None:
    (problem,) = problems_of(tmp_path, make(marked.replace("^", "")))
    line, text = next((at, text) for at, text in enumerate(make(marked)[file].splitlines(), 1) if "^" in text)

    assert problem.code == "invalid-condition"
    assert (problem.file, problem.line, problem.column) == (file, line, text.index("^") + 1)


@pytest.mark.parametrize(
    "files", [with_operation('"$jwt.sub:String == $variables.id:String"'), with_graphql('"?$variables.id"')]
)
def test_condition_over_variables_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    (problem,) = problems_of(tmp_path, files)

    assert problem.code == "variables-in-condition"
    assert "tools are listed" in problem.sentence


@pytest.mark.parametrize("condition", ['""', '"  "', "null", "true", "[1]"])
@pytest.mark.parametrize("make", [with_operation, with_graphql])
def test_condition_that_says_nothing_is_a_problem(tmp_path: Path, condition: str, make: Make) -> None:
    (problem,) = problems_of(tmp_path, make(condition))

    assert problem.code in ("invalid-condition", "invalid-option", "wrong-value")


def test_condition_that_never_holds_is_met_by_keys_without_claims_alone(tmp_path: Path) -> None:
    tool = prescribed_tool(compiled(tmp_path, with_operation('"false"')), "t")

    assert tool.mask
    assert not tool.mask & HIDDEN
