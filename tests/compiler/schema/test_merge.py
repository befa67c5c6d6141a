from __future__ import annotations

from pathlib import Path

import pytest

from handler.graph.index import read_index
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, compiled, doubted, reported

TOOL = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})\n'
TWO_FILES = 'extend schema @sdl(files: ["other.graphql"])\n' + TOOL


def schema_of(folder: Path, index: str, other: str = "scalar Unused") -> str:
    """The schema that two files make, as it is printed."""
    made = compiled(folder, {"index.graphql": TWO_FILES + index, "other.graphql": other, "config.yaml": READABLE})
    return print_view(build_view(read_index(made.index, sha256=made.bundle.index), ()))


def warnings(folder: Path, index: str) -> list[Reported]:
    return doubted(folder, {"index.graphql": TOOL + index, "config.yaml": READABLE})


def problems(folder: Path, index: str, other: str = "scalar Unused") -> list[Reported]:
    return reported(folder, {"index.graphql": TWO_FILES + index, "other.graphql": other})


def test_query_types_of_several_files_are_one(tmp_path: Path) -> None:
    assert schema_of(tmp_path, "type Query { a: Int }", "type Query { b: Int }") == (
        "type Query {\n  a: Int\n  b: Int\n}\n"
    )


def test_query_types_of_one_file_are_one(tmp_path: Path) -> None:
    assert schema_of(tmp_path, "type Query { a: Int }\ntype Query { b: Int }") == (
        "type Query {\n  a: Int\n  b: Int\n}\n"
    )


def test_extension_of_query_needs_no_query(tmp_path: Path) -> None:
    assert schema_of(tmp_path, "extend type Query { a: Int }") == "type Query {\n  a: Int\n}\n"


def test_extension_of_query_may_stand_before_it(tmp_path: Path) -> None:
    assert schema_of(tmp_path, "extend type Query { a: Int }", '"All."\ntype Query { b: Int }') == (
        '"""All."""\ntype Query {\n  a: Int\n  b: Int\n}\n'
    )


def test_root_types_with_other_names_are_merged_too(tmp_path: Path) -> None:
    index = "schema { query: Root }\ntype Root { a: Int }"

    assert schema_of(tmp_path, index, "type Root { b: Int }") == (
        "schema {\n  query: Root\n}\n\ntype Root {\n  a: Int\n  b: Int\n}\n"
    )


def test_interfaces_of_merged_types_are_joined(tmp_path: Path) -> None:
    index = "interface I { a: Int }\ninterface J { b: Int }\ntype Query implements I { a: Int }"

    assert "type Query implements I & J {" in schema_of(tmp_path, index, "type Query implements J & I { b: Int }")


def test_same_field_of_query_in_two_files_is_one_without_a_word(tmp_path: Path) -> None:
    files = {
        "index.graphql": TWO_FILES + "type Query { a(x: Int = 1, y: ID): [Int!] }",
        "other.graphql": 'type Query { "Again." a(y: ID, x: Int = 1): [Int!] @deprecated }',
        "config.yaml": READABLE,
    }

    assert doubted(tmp_path, files) == []


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (
            "type Query { a: Int! }",
            '1:14 conflicting-definitions: "Query.a" is Int! & Int at index.graphql:3:14',
        ),
        (
            "type Query { a(x: Int = 1): Int }",
            '1:14 conflicting-definitions: "Query.a" is (x: Int = 1): Int & Int at index.graphql:3:14',
        ),
        (
            "extend type Query { a: ID }",
            '1:21 conflicting-definitions: "Query.a" is ID & Int at index.graphql:3:14',
        ),
    ],
)
def test_same_field_with_different_types_is_reported_with_both_places(tmp_path: Path, other: str, line: str) -> None:
    assert problems(tmp_path, "type Query { a: Int }", other) == [f"other.graphql:{line}"]


@pytest.mark.parametrize(
    ("members", "line"),
    [
        ("type A { b: Int b: Int }", 'index.graphql:3:17 repeated-member: "A.b" & index.graphql:3:10'),
        (
            "interface A { b: Int b: Int }",
            'index.graphql:3:22 repeated-member: "A.b" & index.graphql:3:15',
        ),
        ("input A { b: Int b: Int }", 'index.graphql:3:18 repeated-member: "A.b" & index.graphql:3:11'),
        ("enum A { B B }", 'index.graphql:3:12 repeated-member: "A.B" & index.graphql:3:10'),
        (
            "type A { b: Int }\nextend type A { b: Int c: Int }",
            'index.graphql:4:17 repeated-member: "A.b" & index.graphql:3:10',
        ),
        (
            "enum A { B }\nextend enum A { B C }",
            'index.graphql:4:17 repeated-member: "A.B" & index.graphql:3:10',
        ),
    ],
)
def test_member_that_stands_twice_in_another_type_is_a_warning(tmp_path: Path, members: str, line: str) -> None:
    assert warnings(tmp_path, f"type Query {{ a: Int }}\n{members}") == [line]


def test_member_of_another_type_that_stands_twice_with_different_types_is_reported(tmp_path: Path) -> None:
    assert problems(tmp_path, "type Query { a: Int }\ninput A {\n  b: Int\n  b: Int = 1\n}") == [
        'index.graphql:6:3 conflicting-definitions: "A.b" is Int = 1 & Int at index.graphql:5:3'
    ]


def test_several_schema_definitions_are_one_with_the_first_description(tmp_path: Path) -> None:
    index = "schema { query: Query }\ntype Query { a: Int }\ntype Mutation { b: Int }"
    other = '"About."\nschema { query: Query mutation: Mutation }\n"Else." schema { query: Query }'

    assert schema_of(tmp_path, index, other).startswith('"""About."""\nschema {\n  query: Query\n')


def test_schema_definitions_that_disagree_are_reported_with_both_places(tmp_path: Path) -> None:
    index = "schema { query: Query }\ntype Query { a: Int }\ntype Other { b: Int }"

    assert problems(tmp_path, index, "schema {\n  query: Other\n}") == [
        'other.graphql:2:3 conflicting-root-types: "Other" & "Query" & index.graphql:3:10'
    ]


def test_root_type_that_is_named_and_missing_is_a_warning(tmp_path: Path) -> None:
    assert warnings(tmp_path, "schema {\n  query: Query\n  mutation: Mutation\n}\ntype Query { a: Int }") == [
        'index.graphql:4:3 missing-root-type: "Mutation"'
    ]


def test_root_type_that_an_extension_names_and_that_is_missing_is_a_warning(tmp_path: Path) -> None:
    assert warnings(tmp_path, "type Query { a: Int }\nextend schema { mutation: Mutation }") == [
        'index.graphql:3:17 missing-root-type: "Mutation"'
    ]


def test_missing_query_type_is_reported_even_where_another_type_has_the_usual_name(tmp_path: Path) -> None:
    assert problems(tmp_path / "1", "schema { query: Root }\ntype Query { a: Int }") == [
        "index.graphql:3:1 missing-query-type"
    ]
    assert problems(
        tmp_path / "2", "schema { mutation: Mutation }\ntype Query { a: Int }\ntype Mutation { b: Int }"
    ) == ["index.graphql:3:1 missing-query-type"]


def test_scalars_may_be_declared_again(tmp_path: Path) -> None:
    index = "scalar Date\nscalar Int\ntype Query { a: Date }"

    assert schema_of(tmp_path, index, "scalar Date\nscalar ID") == "type Query {\n  a: Date\n}\n\nscalar Date\n"


def test_another_type_that_stands_twice_is_reported_with_both_places(tmp_path: Path) -> None:
    assert problems(tmp_path, "type Query { a: A }\ntype A { b: Int }", "type A { c: Int }") == [
        "index.graphql:4:6 duplicate-definition: 'A' & other.graphql:1:6"
    ]


def test_extension_of_another_type_needs_its_definition(tmp_path: Path) -> None:
    assert problems(tmp_path, "type Query { a: Int }\nextend type A { b: Int }") == [
        "index.graphql:4:13 impossible-extension: 'A'"
    ]


def test_entity_of_another_subgraph_needs_no_definition(tmp_path: Path) -> None:
    index = 'type Query { a: A }\nextend type A @key(fields: "id") { id: ID }\nextend type A { b: Int }'

    assert schema_of(tmp_path, index) == "type Query {\n  a: A\n}\n\ntype A {\n  id: ID\n  b: Int\n}\n"


@pytest.mark.parametrize(
    "schema",
    [
        '@sdl(files: "other.graphql", executables: {document: "o.graphql", persist: true})',
        '@sdl(files: ["other.graphql"], executables: [{document: "o.graphql", persist: true}])',
    ],
)
def test_single_value_stands_for_a_list_of_one(tmp_path: Path, schema: str) -> None:
    tools = """
  @tool(name: "p", prescribed: "O", descriptions: {name: "x", value: "The x."})
  @tool(name: "g", graphql: {expose: true, types: "Query", fields: "a"})"""
    files = {
        "index.graphql": f"extend schema {schema} {tools}",
        "other.graphql": "type Query { a(x: Int): Int }",
        "o.graphql": "query O($x: Int) { a(x: $x) }",
    }

    assert [tool.name for tool in compiled(tmp_path, files).bundle.tools] == ["p", "g"]
