from __future__ import annotations

import re
from pathlib import Path

import pytest

from handler.graph.index import read_index
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from tests.support.endpoints import READABLE, compiled, doubted, reported

TOOL = '@tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})'


def test_syntax_error_is_reported_where_it_is(tmp_path: Path) -> None:
    (problem,) = reported(tmp_path, {"index.graphql": "type Query {\n  a: Int\n  b:\n}\n"})

    assert problem == "index.graphql:4:1 syntax-error: '}'"


def test_lines_are_counted_whatever_ends_them(tmp_path: Path) -> None:
    index = "type Query {\r\n  a: Int\r  b: Foo\n}"

    assert reported(tmp_path, {"index.graphql": index}) == ["index.graphql:3:6 unknown-type: 'Foo'"]


def test_unknown_type_is_reported_in_the_file_that_names_it(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(files: ["customer.graphql"])\ntype Query { a: Int }',
        "customer.graphql": "type Customer {\n  address: Adress\n}\ntype Address { city: String }",
    }

    assert reported(tmp_path, files) == ["customer.graphql:2:12 unknown-type: 'Adress' & Did you mean 'Address'?"]


def test_type_that_stands_in_two_files_is_reported_with_both_places(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(files: ["b.graphql"])\ntype Query { a: A }\ntype A { a: Int }',
        "b.graphql": "type A { b: Int }",
    }

    assert reported(tmp_path, files) == ["index.graphql:3:6 duplicate-definition: 'A' & b.graphql:1:6"]


def test_syntax_error_brings_no_false_reports_about_what_stands_in_that_file(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(files: ["customer.graphql"])\ntype Query { a: Customer }',
        "customer.graphql": "type Customer { id: ID!",
        "operations/o.graphql": "query O { a { id } }",
    }

    assert reported(tmp_path, files) == ["customer.graphql:1:24 syntax-error"]


def test_schema_without_a_query_type_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "type Mutation { a: Int }"}) == ["index.graphql missing-query-type"]


@pytest.mark.parametrize(
    ("text", "place"), [("type Query { a(x: Int = ", "1:25"), ('type Query { a: Int }\n"""A description."""', "2:21")]
)
def test_file_that_ends_too_early_is_not_called_empty(tmp_path: Path, text: str, place: str) -> None:
    assert reported(tmp_path, {"index.graphql": text}) == [f"index.graphql:{place} syntax-error"]


@pytest.mark.parametrize("text", ["", "\n# nothing yet\n"])
def test_operation_file_without_an_operation_is_reported(tmp_path: Path, text: str) -> None:
    files = {"index.graphql": "type Query { a: Int }", "operations/o.graphql": text}

    assert reported(tmp_path, files) == ["operations/o.graphql no-operation"]


@pytest.mark.parametrize(("text", "place"), [("", "1:1"), ("\n# nothing yet\n", "3:1")])
def test_empty_index_is_reported(tmp_path: Path, text: str, place: str) -> None:
    assert reported(tmp_path, {"index.graphql": text}) == [f"index.graphql:{place} empty-file"]


@pytest.mark.parametrize(
    ("index", "problem"),
    [
        ("schema { query: Q }\ninput Q { a: Int }", 'index.graphql:2:1 wrong-kind: "Q"'),
        ("schema { query: Int }", 'index.graphql:1:1 wrong-kind: "Int"'),
        ("type Query { a: Int }\ninterface Mutation { a: Int }", 'index.graphql:2:1 wrong-kind: "Mutation"'),
        (
            "schema { query: Mutation mutation: Query }\ntype Mutation { a: Int }\ntype Query { b: Int }",
            'index.graphql:3:1 wrong-kind: "Query"',
        ),
    ],
)
def test_root_type_of_the_wrong_kind_is_reported(tmp_path: Path, index: str, problem: str) -> None:
    assert reported(tmp_path, {"index.graphql": index}) == [problem]


@pytest.mark.parametrize(
    ("index", "place", "argument"),
    [
        ("type Query {\n  a: Int @deprecated(reason: 5)\n}", "2:30", "reason"),
        ("type Query { a: D }\nscalar D @specifiedBy(url: 5)", "2:28", "url"),
    ],
)
def test_value_that_a_directive_of_the_schema_cannot_have_is_reported(
    tmp_path: Path, index: str, place: str, argument: str
) -> None:
    assert reported(tmp_path, {"index.graphql": index}) == [f"index.graphql:{place} invalid-schema: '{argument}' & 5"]


def test_default_of_an_input_that_has_a_field_of_no_input_type_is_reported(tmp_path: Path) -> None:
    index = "type Query { a(f: F = {s: B}): Int }\ninput F { s: S }\ntype S { c: Int }"

    assert reported(tmp_path, {"index.graphql": index}) == ["index.graphql invalid-schema"]


def test_operation_among_types_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "type Query { a: Int }\nquery O { a }"}) == [
        "index.graphql:2:1 misplaced-operation"
    ]


def test_every_mistake_of_a_schema_is_reported(tmp_path: Path) -> None:
    index = "type Query {\n  a: Foo\n  b: Int @bar\n  a: Int\n}\nextend type Baz { a: Int }\nunion U = Query | Query"

    assert reported(tmp_path, {"index.graphql": index}) == [
        "index.graphql:2:6 unknown-type: 'Foo'",
        "index.graphql:3:10 unknown-directive: '@bar'",
        'index.graphql:4:3 conflicting-definitions: "Query.a" is Int & Foo at index.graphql:2:3',
        "index.graphql:6:13 impossible-extension: 'Baz'",
    ]


def test_schema_that_is_not_strictly_valid_is_a_warning(tmp_path: Path) -> None:
    files = {
        "index.graphql": f"extend schema {TOOL}\ntype Query {{ a: A }}\ninterface I {{ b: Int }}\n"
        "type A implements I { a: Int }\nunion Empty\nenum None"
    }

    assert doubted(tmp_path, files) == [
        "index.graphql:3:15 schema-fault: I.b & index.graphql:4:1",
        "index.graphql:5:1 schema-fault: Empty",
        "index.graphql:6:1 schema-fault: None",
    ]


def test_nesting_that_no_parser_reads_is_reported(tmp_path: Path) -> None:
    index = f"type Query {{ a(b: {'[' * 3_000}Int{']' * 3_000}): Int }}"

    (line,) = reported(tmp_path, {"index.graphql": index})

    # The column is where Python's stack ended, which has the test's own frames in it.
    assert re.match(r"index\.graphql:1:\d+ syntax-error: .*nested too deeply", line)


def test_directives_of_included_files_count(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'schema @sdl(files: ["tools.graphql"]) { query: Query }\ntype Query { a: Int }',
        "tools.graphql": f"extend schema {TOOL}",
    }

    assert [tool.name for tool in compiled(tmp_path, files).bundle.tools] == ["t"]


def test_several_extensions_of_the_schema_count(tmp_path: Path) -> None:
    other = TOOL.replace('"t"', '"v"')
    index = f"extend schema {TOOL}\nextend schema {other}\ntype Query {{ a: Int }}"

    assert [tool.name for tool in compiled(tmp_path, {"index.graphql": index}).bundle.tools] == ["t", "v"]


def test_index_holds_the_schema_as_it_was_written(tmp_path: Path) -> None:
    sdl = '''"""All about things."""
schema {
  query: Query
}

type Query {
  """
  A thing "by" its id,
  over two lines.
  """
  thing(id: ID!, kinds: [Kind!] = [SMALL], where: Filter = { name: "a\\"b" }): Thing
  old: Int @deprecated(reason: "Use \\"thing\\"")
}

interface Node {
  id: ID!
}

type Thing implements Node {
  id: ID!
  at: Date
  other: Either
}

scalar Date @specifiedBy(url: "https://example.com/date")

union Either = Thing | Box

type Box {
  size: Int
}

enum Kind {
  SMALL
  BIG @deprecated
}

input Filter @oneOf {
  name: String
  kind: Kind
}
'''
    made = compiled(tmp_path, {"index.graphql": sdl, "config.yaml": READABLE})
    view = build_view(read_index(made.index, sha256=made.bundle.index), ())

    assert print_view(view) == sdl


def test_subscriptions_are_left_out_of_the_index(tmp_path: Path) -> None:
    index = "type Query { a: Int }\ntype Subscription { b: Int }"
    made = compiled(tmp_path, {"index.graphql": index})

    assert "Subscription" not in read_index(made.index, sha256=made.bundle.index)


# Federation's and StepZen's files write `extend type Address @key(fields: "id") {}`; the grammar since 2016 has
# "FieldsDefinition : { FieldDefinition+ }".
EMPTY_BRACES = {
    "a definition that an extension fills": "type A {} extend type A { x: Int }",
    "a root type that an extension fills": "type Query {} type A { x: Int }",
    "an extension with a directive": 'type A { x: Int } extend type A @key(fields: "x") {}',
    "an extension with nothing": "type A { x: Int } extend type A {}",
    "an extension with an interface": "type A { x: Int } interface I { x: Int } extend type A implements I {}",
    "an interface": "interface I {} extend interface I {} extend interface I { x: Int } type A { x: Int }",
    "an enum": "enum E {} extend enum E {} extend enum E { X } type A { x: E }",
    "an input": "input N {} extend input N {} extend input N { x: Int } type A { x(n: N): Int }",
    "braces with a comment": "type A { # nothing yet\n} extend type A { x: Int }",
}


@pytest.mark.parametrize("sdl", EMPTY_BRACES.values(), ids=EMPTY_BRACES)
def test_braces_that_hold_nothing_are_taken(tmp_path: Path, sdl: str) -> None:
    files = {"index.graphql": f"extend schema {TOOL}\n{sdl}\nextend type Query {{ a: A }}\n", "config.yaml": READABLE}

    made = compiled(tmp_path, files)

    assert made.warnings == ()
    assert "x" in read_index(made.index, sha256=made.bundle.index)["A"].fields


@pytest.mark.parametrize(
    ("sdl", "told"),
    [
        ("type A {}", "Type A"),
        ("type A {} extend type A {}", "Type A"),
        ('extend type A @key(fields: "id") {}', "Type A"),
        ("type A { x(n: N): E } input N {} enum E { X }", "type N"),
        ("type A { x: E } enum E {}", "Enum type E"),
        ("type A implements I { x: Int } interface I {}", "Type I"),
    ],
)
def test_type_that_is_left_without_members_is_doubted(tmp_path: Path, sdl: str, told: str) -> None:
    warnings = doubted(tmp_path, {"index.graphql": f"extend schema {TOOL}\ntype Query {{ a: A, b: Int }}\n{sdl}\n"})

    assert warnings == [f"schema-fault: {told}"]


def test_places_in_a_file_with_empty_braces_are_right(tmp_path: Path) -> None:
    index = "type Query {}\nextend type Query {\n  a: A }  type A {} extend type A { x: Nope }\n"

    assert reported(tmp_path, {"index.graphql": index}) == ["index.graphql:3:40 unknown-type: 'Nope'"]


@pytest.mark.parametrize(
    ("sdl", "problem"),
    [
        ("type Query { a(): Int }", "index.graphql:1:16 syntax-error: ')'"),
        ("schema {}\ntype Query { a: Int }", "index.graphql:1:9 syntax-error: '}'"),
        ("type Query { a: Int }\nunion U = {}", "index.graphql:2:11 syntax-error: '{'"),
        ("type Query { a: Int } {", "index.graphql:1:24 syntax-error"),
    ],
)
def test_what_else_is_empty_is_a_syntax_error(tmp_path: Path, sdl: str, problem: str) -> None:
    assert reported(tmp_path, {"index.graphql": sdl})[0] == problem
