"""What a model reads when its arguments do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.errors import InvalidArguments
from handler.server.arguments import ArgumentsValidator
from tests.support.endpoints import READABLE, compiled
from tests.support.function import running_function

SCHEMA = """
schema { query: Query }
enum Size { SMALL LARGE }
input Part { name: String! size: Size = SMALL weight: Float }
input Tree { value: Int! left: Tree right: Tree }
type Query { find(id: ID, count: Int!, part: Part, parts: [Part!], tree: Tree, deep: [[Int!]!]): Int }
"""
OPERATION = """
query Find($id: ID, $count: Int!, $part: Part, $parts: [Part!], $tree: Tree, $deep: [[Int!]!]) @mcpTool {
  find(id: $id, count: $count, part: $part, parts: $parts, tree: $tree, deep: $deep)
}
"""


@pytest.fixture
def validator(tmp_path: Path) -> ArgumentsValidator:
    (tool,) = compiled(tmp_path, {"index.graphql": SCHEMA, "operations/find.graphql": OPERATION}).bundle.tools
    return ArgumentsValidator("Find", tool.arguments)


FITTING: list[dict[str, Any]] = [
    {"count": 1},
    {"count": -(2**31), "id": "a"},
    {"count": 1, "id": 7, "part": None},
    {"count": 1, "part": {"name": "x", "size": "LARGE", "weight": 1}},
    {"count": 1, "part": {"name": "x", "size": None, "weight": 1.5}},
    {"count": 1, "parts": [], "deep": [[], [1, 2]]},
    {"count": 1, "tree": {"value": 1, "left": {"value": 2, "right": None}}},
]

VIOLATIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["/count: required, but missing"]),
    ({"count": None}, ["/count: expected integer, got null"]),
    ({"count": True}, ["/count: expected integer, got boolean true"]),
    ({"count": "1"}, ['/count: expected integer, got string "1"']),
    ({"count": 2**31}, ["/count: expected at most 2147483647, got integer 2147483648"]),
    ({"count": -(2**31) - 1}, ["/count: expected at least -2147483648, got integer -2147483649"]),
    ({"count": 1, "id": 1.5}, ["/id: expected string or integer or null, got number 1.5"]),
    ({"count": 1, "part": {}}, ["/part/name: required, but missing"]),
    ({"count": 1, "part": "x"}, ['/part: expected object, got string "x"']),
    (
        {"count": 1, "part": {"name": "x", "size": "small"}},
        ['/part/size: expected one of "SMALL", "LARGE", null, got string "small"'],
    ),
    ({"count": 1, "part": {"name": "x", "wieght": 1}}, ["/part/wieght: unknown name; did you mean weight?"]),
    ({"count": 1, "parts": [{"name": "x"}, {"name": 1}]}, ["/parts/1/name: expected string, got integer 1"]),
    ({"count": 1, "parts": [None]}, ["/parts/0: expected object, got null"]),
    ({"count": 1, "deep": [[1], ["x"]]}, ['/deep/1/0: expected integer, got string "x"']),
    ({"count": 1, "tree": {"value": 1, "left": {}}}, ["/tree/left/value: required, but missing"]),
    ({"count": 1, "a/b~c": 1}, ["/a~1b~0c: unknown name; known here: id, count, part, parts, tree, deep"]),
    ({"count": "x", "id": [], "zzz": 1}, [
        "/id: expected string or integer or null, got array",
        '/count: expected integer, got string "x"',
        "/zzz: unknown name; known here: id, count, part, parts, tree, deep",
    ]),
]  # fmt: skip


@pytest.mark.parametrize("arguments", FITTING)
def test_arguments_that_fit_pass(validator: ArgumentsValidator, arguments: dict[str, Any]) -> None:
    validator.check(arguments)


@pytest.mark.parametrize(("arguments", "violations"), VIOLATIONS)
def test_every_violation_is_named(
    validator: ArgumentsValidator, arguments: dict[str, Any], violations: list[str]
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        validator.check(arguments)

    assert list(caught.value.violations) == violations
    assert str(caught.value) == "Invalid arguments for tool Find: " + "; ".join(violations)


def test_very_many_violations_are_cut_to_a_bounded_text(validator: ArgumentsValidator) -> None:
    with pytest.raises(InvalidArguments) as caught:
        validator.check({"count": 1, "parts": [{"name": 5}] * 100_000})

    assert len(str(caught.value)) <= InvalidArguments.MAX_CHARS


def test_huge_values_are_shown_cut(validator: ArgumentsValidator) -> None:
    with pytest.raises(InvalidArguments) as caught:
        validator.check({"count": "x" * 1_000_000})

    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("levels", [65, 300, 900])
def test_arguments_nested_too_deeply_are_refused_for_tools_of_every_kind(tmp_path: Path, levels: int) -> None:
    files = {
        "index.graphql": f"{SCHEMA} extend schema @tool(name: "
        '"all", graphql: {expose: true, types: "Query", fields: ".*"})',
        "operations/find.graphql": OPERATION,
        "config.yaml": READABLE,
    }
    tree: dict[str, Any] = {"value": 1}
    for _ in range(levels):
        tree = {"value": 1, "left": tree}
    with running_function(compiled(tmp_path, files), development=True) as function:
        prescribed = function.call("Find", {"count": 1, "tree": tree})
        graphql = function.query("all", "query($t: Tree) { find(count: 1, tree: $t) }", variables={"t": tree})

    assert prescribed.text == "Invalid arguments for tool Find: /: nested more than 64 deep"
    assert graphql.text == "Invalid arguments for tool all: /: nested more than 64 deep"


def test_arguments_nested_as_deep_as_allowed_are_judged(validator: ArgumentsValidator) -> None:
    tree: dict[str, Any] = {"value": 1}
    for _ in range(62):
        tree = {"value": 1, "left": tree}

    validator.check({"count": 1, "tree": tree})
