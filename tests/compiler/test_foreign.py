from __future__ import annotations

from pathlib import Path

import pytest

from handler.commands.local import local_entries
from handler.graph.index import read_index
from handler.graph.view import build_view, print_view
from handler.policy import HIDDEN, outcome_of
from tests.support.endpoints import READABLE, compiled, doubted, graphql_tool, prescribed_tool, reported

TOOL = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})\n'
ELSEWHERE = "which Stile does not run: upstream.url must name a server that does"


def printed(folder: Path, sdl: str) -> str:
    made = compiled(folder, {"index.graphql": TOOL + sdl, "config.yaml": READABLE})
    return print_view(build_view(read_index(made.index, sha256=made.bundle.index), ()))


def warnings(folder: Path, sdl: str) -> list[str]:
    return doubted(folder, {"index.graphql": TOOL + sdl})


@pytest.mark.parametrize(
    "directive",
    [
        '@rest(endpoint: "https://a.b/$x", setters: [{field: "a", path: "b"}])',
        '@graphql(endpoint: "https://a.b/")',
        '@dbquery(type: "mysql", query: "select 1")',
        '@materializer(query: "a")',
        '@sequence(steps: [{query: "a"}])',
        '@supplies(query: "a")',
        "@value(const: {a: [1]})",
        "@mock",
        '@mockfn(name: "Email")',
        '@inject(from: "a", on: {expose: true, types: "Query", fields: "b"})',
        '@connector(use: "x")',
    ],
)
def test_backend_directive_of_stepzen_is_dropped_with_a_warning(tmp_path: Path, directive: str) -> None:
    sdl = f"type Query {{\n  a: Int\n  b: Int {directive}\n}}"

    assert printed(tmp_path / "1", sdl) == "type Query {\n  a: Int\n  b: Int\n}\n"
    (name, *_) = directive.split("(")
    assert warnings(tmp_path / "2", sdl) == [f"index.graphql:4:3: 1 field uses {name}, {ELSEWHERE}"]


def test_definitions_for_editors_are_dropped_with_their_missing_types(tmp_path: Path) -> None:
    definitions = """
    directive @tool(name: String! graphql: [StepZen_VisibilityPattern!]) repeatable on SCHEMA
    directive @sdl(files: [String!]! executables: [StepZen_ExecutableDocument!]) repeatable on SCHEMA
    directive @rest(setters: [StepZen_Setter!]) on FIELD_DEFINITION
    directive @mcpTool(name: String output: Stile_Output) on QUERY
    """
    assert printed(tmp_path, definitions + "type Query { a: Int }") == "type Query {\n  a: Int\n}\n"


def test_operation_may_sort_as_stepzen_lets_it(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: [Int] }", "operations/o.graphql": "query O @mcpTool { a @sort }"}

    assert prescribed_tool(compiled(tmp_path, files), "O").operation.text.split() == [
        "query",
        "O",
        "{",
        "a",
        "@sort",
        "}",
    ]


SUBGRAPH = """
type Query { a: Int _service: _Service! _entities(representations: [_Any!]!): [_Entity]! }
type _Service { sdl: String } union _Entity = A type A @key(fields: "id") { id: ID! }
"""


@pytest.mark.parametrize(
    ("patterns", "shown"),
    [
        ('{expose: true, types: "Query", fields: ".*"}', []),
        ('{expose: true, types: "Query", fields: "_.*|a"}', []),
        ('{expose: true, types: "Query", fields: "a|_service"}', ["_service"]),
        (
            '{expose: true, types: ".*", fields: ".*"}, {expose: true, types: "Query", fields: "_entities"}',
            ["_entities"],
        ),
        ('{expose: true, types: "Query", fields: "a"}, {expose: false, types: "Query", fields: "_service"}', []),
    ],
)
def test_subgraph_fields_are_hidden_unless_a_pattern_exposes_them_by_name(
    tmp_path: Path, patterns: str, shown: list[str]
) -> None:
    index = TOOL.replace('{expose: true, types: "Query", fields: ".*"}', f"[{patterns}]") + SUBGRAPH
    made = compiled(tmp_path, {"index.graphql": index, "config.yaml": READABLE})

    (entry,) = local_entries(made)
    text = str(entry["inputSchema"])
    assert [name for name in ("_service", "_entities") if f"  {name}" in text.replace("\\n", "\n")] == shown


def test_subgraph_fields_are_hidden_where_no_tool_is_declared(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": SUBGRAPH, "config.yaml": READABLE})

    for guards in (made.bundle.graphql.guards, graphql_tool(made, "api-things").guards):
        assert {"Query._service", "Query._entities"} <= {each for each, mask in guards.items() if mask >= HIDDEN}


def test_policy_may_forbid_subgraph_fields_that_a_tool_exposes(tmp_path: Path) -> None:
    policy = "{type: Query, rules: [{condition: false, fields: [_service]}], policyDefault: {condition: true}}"
    index = TOOL.replace('".*"', '"_service|a"') + SUBGRAPH
    made = compiled(tmp_path, {"index.graphql": index, "config.yaml": f"access: {{policies: [{policy}]}}"})

    everybody = outcome_of(made.bundle.conditions, unrestricted=False)
    assert not made.bundle.guards["Query._service"] <= everybody
    (entry,) = local_entries(made, unrestricted=False)
    assert "_service" not in str(entry)


def test_backend_directives_of_many_fields_are_one_warning(tmp_path: Path) -> None:
    sdl = "type Query {\n  a: Int @mock\n  b: Int @rest @rest\n  c: Int @rest\n}"

    assert warnings(tmp_path, sdl) == [f"index.graphql:3:3: 3 fields use @rest, @mock, {ELSEWHERE}"]


def test_backend_directive_of_a_type_is_a_warning(tmp_path: Path) -> None:
    assert warnings(tmp_path, "type Query { a: A }\ntype A @mock { b: Int }") == [
        f"index.graphql:3:1: 1 definition uses @mock, {ELSEWHERE}"
    ]


def test_backend_directive_that_is_defined_without_its_argument_types_is_dropped(tmp_path: Path) -> None:
    sdl = "directive @rest(headers: [StepZen_Header!]) on FIELD_DEFINITION\ntype Query { a: Int }"

    assert warnings(tmp_path, sdl) == []


@pytest.mark.parametrize(
    "sdl",
    [
        'type Query @aws_iam @aws_api_key { a: Int @aws_auth(cognito_groups: ["x"]) @aws_oidc }',
        'type Query { a: A }\ntype A @key(fields: "b") @shareable { b: Int @external @tag(name: "x") }',
        'type Query { a(x: Int @federation__tag(name: "x")): Int }',
        'extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])\ntype Query { a: Int }',
        'type Query { a(x: String @preset(value: "x-hasura-role")): Int }',
        'enum E { A @tag(name: "x") }\ninput I { a: Int @tag(name: "x") }\ntype Query { a(i: I): E }',
        "directive @key(fields: FieldSet!) on OBJECT\ntype Query { a: Int }",
    ],
)
def test_directives_of_other_systems_are_dropped_without_a_word(tmp_path: Path, sdl: str) -> None:
    assert warnings(tmp_path / "1", sdl) == []
    assert "@" not in printed(tmp_path / "2", sdl)


def test_what_federation_keeps_from_clients_is_hidden_from_everybody(tmp_path: Path) -> None:
    sdl = """
        type Query { a(b: Int, c: Int @inaccessible): Int d: Int @inaccessible e: Secret f: Size }
        extend type Query { g: Int @federation__inaccessible }
        type Secret @inaccessible { h: Int }
        enum Size { SMALL LARGE @inaccessible }
    """

    made = compiled(tmp_path, {"index.graphql": TOOL + sdl, "config.yaml": READABLE})

    (entry,) = local_entries(made)
    sdl = entry["inputSchema"]["properties"]["query"]["description"]
    assert "a(b: Int): Int" in sdl
    assert "SMALL" in sdl
    assert not [name for name in ("c:", "d:", "e:", "g:", "Secret", "LARGE") if f" {name}" in sdl]
    assert made.warnings == ()


def test_unknown_directive_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "type Query {\n  a: Int @rset\n}"}) == [
        "index.graphql:2:10: Unknown directive '@rset'."
    ]


def test_directive_for_the_schema_is_reported_elsewhere(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": 'type Query @tool(name: "x") { a: Int }'}) == [
        "index.graphql:1:12: Unknown directive '@tool'."
    ]


def test_directives_that_an_author_defines_are_taken(tmp_path: Path) -> None:
    assert warnings(tmp_path, "directive @cost2(a: Int) on FIELD_DEFINITION\ntype Query { a: Int @cost2(a: 1) }") == []


@pytest.mark.parametrize("name", ["Date", "DateTime", "JSON", "Secret", "AWSDateTime", "AWSJSON", "AWSEmail", "_Any"])
def test_scalar_of_another_system_needs_no_definition_and_may_have_one(tmp_path: Path, name: str) -> None:
    sdl = f"type Query {{\n  a(b: [{name}!]): {name}!\n}}\n"

    assert printed(tmp_path / "1", sdl) == f"{sdl}\nscalar {name}\n"
    assert printed(tmp_path / "2", f"scalar {name}\n{sdl}") == f"{sdl}\nscalar {name}\n"


def test_unknown_scalar_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "type Query { a: Money }"}) == [
        "index.graphql:1:17: Unknown type 'Money'."
    ]


def test_schema_has_no_scalars_that_nothing_names(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": TOOL + "type Query { a: Int }"})

    assert "JSON" not in read_index(made.index, sha256=made.bundle.index)


def test_operation_may_ask_hasura_to_cache(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int }", "operations/o.graphql": "query O @cached(ttl: 9) @mcpTool { a }"}

    text = prescribed_tool(compiled(tmp_path / "1", files), "O").operation.text
    files["index.graphql"] += " directive @cached(ttl: String) on QUERY"

    assert text.startswith("query O @cached(ttl: 9) {")
    assert reported(tmp_path / "2", files) == [
        "operations/o.graphql:1:22: String cannot represent a non string value: 9"
    ]
