"""What is judged against a schema that has mistakes itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.diagnostics import Reported
from tests.support.endpoints import reported

UNKNOWN = "type Query {\n  a: Int\n  b: Foo\n}\n"
NO_FOO = "index.graphql:3:6 unknown-type: 'Foo'"


def told(folder: Path, sdl: str, operation: str) -> list[Reported]:
    return reported(folder, {"index.graphql": sdl, "operations/o.graphql": operation})


def test_tools_operations_and_policies_are_judged_beside_mistakes_of_the_schema(tmp_path: Path) -> None:
    files = {
        "index.graphql": UNKNOWN + 'extend schema @tool(name: "t", prescribed: "P")',
        "operations/o.graphql": "query O { c }",
        "config.yaml": "access:\n  policies: [{type: Queri}]\n  hide: [Query.d]\n",
    }

    assert reported(tmp_path, files) == [
        'config.yaml:2:21 unknown-type: "Queri" & did you mean Query?',
        'config.yaml:3:10 unknown-coordinate: "Query.d" & "Query" & "d"',
        NO_FOO,
        'index.graphql:5:44 unknown-operation: @tool & "t" & "P"',
        "operations/o.graphql:1:11 unknown-field: 'c' & 'Query' & Did you mean 'a' or 'b'?",
    ]


@pytest.mark.parametrize(
    "operation",
    [
        "query O { b { id } }",
        "query O { b }",
        "query O { ...F } fragment F on Foo { id }",
        "query O($x: Foo!) { a } ",
    ],
)
def test_nothing_is_said_about_a_type_that_nobody_defined_where_an_operation_meets_it(
    tmp_path: Path, operation: str
) -> None:
    assert told(tmp_path, UNKNOWN, operation) == [NO_FOO]


def test_rest_of_an_operation_that_meets_such_a_type_is_judged(tmp_path: Path) -> None:
    assert told(tmp_path, UNKNOWN, "query O {\n  b { id }\n  a { id }\n}") == [
        NO_FOO,
        "operations/o.graphql:3:5 wrong-selection: 'a' & 'Int'",
    ]


def test_value_of_an_input_that_nobody_defined_may_be_any(tmp_path: Path) -> None:
    assert told(tmp_path, "type Query { a(x: Foo, y: Int): Int }", 'query O { a(x: {b: [C, 1]}, y: "d") }') == [
        "index.graphql:1:19 unknown-type: 'Foo'",
        'operations/o.graphql:1:32 wrong-value: "d"',
    ]


@pytest.mark.parametrize(
    ("types", "use", "line"),
    [
        (
            "type A { x: Int }\ntype A { y: Int }",
            "a { x y }",
            "2:6 duplicate-definition: 'A' & 3:6",
        ),
        (
            "interface A { x: Int }\ninterface A { y: Int }",
            "a { x y }",
            "2:11 duplicate-definition: 'A' & 3:11",
        ),
        (
            "union A = B\nunion A = C\ntype B { x: Int }\ntype C { y: Int }",
            "a { ... on B { x } ... on C { y } }",
            "2:7 duplicate-definition: 'A' & 3:7",
        ),
        ("enum A { X }\nenum A { Y }", "a f(e: [X, Y])", "2:6 duplicate-definition: 'A' & 3:6"),
        (
            "input I { x: Int }\ninput I { y: Int }\nscalar A",
            "f(i: {x: 1, y: 2})",
            "2:7 duplicate-definition: 'I' & 3:7",
        ),
    ],
)
def test_all_members_of_a_type_that_is_defined_twice_are_known(tmp_path: Path, types: str, use: str, line: str) -> None:
    sdl = "type Query { a: A f(i: I, e: [A!]): Int }\n" + types + ("" if "input I" in types else "\nscalar I")

    assert told(tmp_path, sdl, f"query O {{ {use} }}") == [f"index.graphql:{line}"]


@pytest.mark.parametrize(
    ("types", "use"),
    [
        ("extend type A { x: Int }\nextend type A { y: Int }", "a { x y }"),
        ("extend interface A { x: Int y: Int }", "a { x y }"),
        ("extend union A = Query", "a { ... on Query { a { __typename } } }"),
        ("extend enum A { X Y }", "a f(e: [X, Y])"),
    ],
)
def test_all_members_of_a_type_that_is_only_extended_are_known(tmp_path: Path, types: str, use: str) -> None:
    sdl = f"type Query {{ a: A f(e: [A!]): Int }}\n{types}"

    lines = told(tmp_path, sdl, f"query O {{ {use} }}")

    assert {line.partition(" ")[2].partition(":")[0] for line in lines} == {"unknown-type", "impossible-extension"}
    assert all("'A'" in line for line in lines)


def test_nothing_is_said_about_the_members_of_a_type_of_two_kinds(tmp_path: Path) -> None:
    sdl = "type Query { a: A }\ntype A { x: Int }\ninput A { y: Int }\nextend enum A { Z }"

    assert told(tmp_path, sdl, "query O { a { x y } }") == [
        "index.graphql:2:6 duplicate-definition: 'A' & index.graphql:3:7",
        "index.graphql:3:1 impossible-extension: 'A' & index.graphql:4:1",
    ]


@pytest.mark.parametrize(
    ("directive", "problem"),
    [
        ("@rset", "unknown-directive: '@rset'"),
        ("@deprecated(reson: 1)", "unknown-argument: 'reson' & '@deprecated' & Did you mean 'reason'?"),
        (
            "@deprecated(reason: 1)",
            "invalid-schema: 'reason'",
        ),
    ],
)
def test_mistake_in_a_directive_hides_no_other(tmp_path: Path, directive: str, problem: str) -> None:
    first, second = told(tmp_path, f"type Query {{\n  a: Int {directive}\n}}", "query O { b }")

    assert first == problem
    assert second == "operations/o.graphql:1:11 unknown-field: 'b' & 'Query' & Did you mean 'a'?"


@pytest.mark.parametrize("other", ["Int", "JSON", "B", "C", "E"])
def test_type_that_implements_no_interface_is_reported(tmp_path: Path, other: str) -> None:
    others = "type B { b: E }\ninput C { c: Int }\nenum E { F }"
    sdl = f"type Query {{ a: A json: JSON }}\ntype A implements {other} {{ b: B }}\n{others}"

    assert told(tmp_path, sdl, "query O { a { c } }") == [
        f"index.graphql:2:19 wrong-kind: '{other}'",
        "operations/o.graphql:1:15 unknown-field: 'c' & 'A' & Did you mean 'b'?",
    ]


@pytest.mark.parametrize("other", ["Int", "JSON", "I", "C", "E", "V"])
def test_union_of_what_is_no_object_type_is_reported(tmp_path: Path, other: str) -> None:
    others = "interface I { b: Int }\ninput C { c: Int }\nenum E { F }\nunion V = B\ntype B { b: JSON }"
    sdl = f"type Query {{ a: U }}\nunion U = {other} | B\n{others}"

    assert told(tmp_path, sdl, "query O { a { c } }") == [
        f"index.graphql:2:11 wrong-kind: '{other}'",
        "operations/o.graphql:1:15 unknown-field: 'c' & 'U'",
    ]


def test_schema_with_mistakes_and_without_a_query_type_is_told_so(tmp_path: Path) -> None:
    assert told(tmp_path, "type A { b: Foo }", "query O { c }") == [
        "index.graphql missing-query-type",
        "index.graphql:1:13 unknown-type: 'Foo'",
    ]


def test_what_a_missing_file_may_define_is_not_reported_but_all_else_of_the_schema_is(tmp_path: Path) -> None:
    index = """\
extend schema @sdl(files: ["gone.graphql"])
type Query { a: Foo @foo }
type A { b: Int }
type A { c: Int }
extend type Bar { d: Int }
type Query { a: Int }
query O { a }
"""

    assert told(tmp_path, index, "query P { nothing }") == [
        'index.graphql:1:28 unreadable-file: "gone.graphql"',
        "index.graphql:3:6 duplicate-definition: 'A' & index.graphql:4:6",
        'index.graphql:6:14 conflicting-definitions: "Query.a" is Int & Foo at index.graphql:2:14',
        "index.graphql:7:1 misplaced-operation",
    ]


def test_sdl_directive_with_a_mistake_brings_no_reports_of_what_its_files_define(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(fils: ["types.graphql"])\ntype Query { a: Foo }',
        "types.graphql": "type Foo { b: Int }",
        "operations/o.graphql": "query O { c }",
    }

    assert reported(tmp_path, files) == ['index.graphql:1:20 unknown-argument: @sdl & "fils" & did you mean files?']
