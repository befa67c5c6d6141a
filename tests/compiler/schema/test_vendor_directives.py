from __future__ import annotations

from pathlib import Path

import pytest
from graphql import build_schema, lexicographic_sort_schema, print_schema

from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.graph.index import read_index
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from handler.policy.evaluation import HIDDEN, Evaluation
from tests.samples import SUPERGRAPH, SUPERGRAPH_API
from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, compiled, doubted, graphql_tool, prescribed_tool, problems_of, reported
from tests.support.local_entries import local_entries
from tests.support.outcomes import outcome_of

TOOL = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})\n'


def printed(folder: Path, sdl: str) -> str:
    made = compiled(folder, {"index.graphql": TOOL + sdl, "config.yaml": READABLE})
    return print_view(build_view(read_index(made.index, sha256=made.bundle.index), ()))


def seen(made: Compiled) -> str:
    """The schema of the tool for callers who skip policies."""
    endpoint, tool = local_endpoint(made), graphql_tool(made, "t")
    everything = Evaluation(made.bundle.conditions, claims=None, unrestricted=True)
    return print_view(endpoint.schema.view(tool, everything.outcome(tool.conditions)))


def warnings(folder: Path, sdl: str) -> list[Reported]:
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
    assert warnings(tmp_path / "2", sdl) == [f"index.graphql:4:3 unsupported-directive: 1 field & {name}"]


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

    assert warnings(tmp_path, sdl) == ["index.graphql:3:3 unsupported-directive: 3 fields & @rest & @mock"]


def test_backend_directive_of_a_type_is_a_warning(tmp_path: Path) -> None:
    assert warnings(tmp_path, "type Query { a: A }\ntype A @mock { b: Int }") == [
        "index.graphql:3:1 unsupported-directive: 1 definition & @mock"
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


def test_supergraph_is_the_api_schema_that_its_router_answers(tmp_path: Path) -> None:
    tool = TOOL.replace('"Query"', '".*"')

    made = compiled(tmp_path, {"index.graphql": tool + SUPERGRAPH, "config.yaml": READABLE})

    shown, api = (print_schema(lexicographic_sort_schema(build_schema(each))) for each in (seen(made), SUPERGRAPH_API))
    assert shown == api


def test_supergraph_of_federation_1_has_no_type_of_its_router(tmp_path: Path) -> None:
    sdl = """
        schema
          @core(feature: "https://specs.apollo.dev/core/v0.2")
          @core(feature: "https://specs.apollo.dev/join/v0.1", for: EXECUTION)
          @core(feature: "https://specs.apollo.dev/inaccessible/v0.1", as: "secret", for: SECURITY)
        { query: Query }
        directive @core(as: String, feature: String!, for: core__Purpose) repeatable on SCHEMA
        directive @join__owner(graph: join__Graph!) on INTERFACE | OBJECT
        directive @join__graph(name: String!, url: String!) on ENUM_VALUE
        directive @join__field(graph: join__Graph) on FIELD_DEFINITION
        directive @secret on FIELD_DEFINITION
        enum core__Purpose { EXECUTION SECURITY }
        scalar join__FieldSet
        enum join__Graph { A @join__graph(name: "a", url: "http://a.internal") }
        type Query @join__owner(graph: A) { a: Int @join__field(graph: A) b: Int @secret @join__field(graph: A) }
    """

    assert seen(compiled(tmp_path, {"index.graphql": TOOL + sdl, "config.yaml": READABLE})) == (
        "type Query {\n  a: Int\n}\n"
    )


INCLUDED = 'extend schema @sdl(files: ["schema.graphql"])\n'


def test_directive_that_the_apis_own_schema_does_not_declare_is_one_warning(tmp_path: Path) -> None:
    sdl = "type Query {\n  a: Int @rset(to: 1)\n  b(c: Int @rset): E\n}\nenum E @other { F }"

    made = compiled(tmp_path, {"index.graphql": TOOL + INCLUDED, "schema.graphql": sdl, "config.yaml": READABLE})

    assert [(each.line, each.code, each.about) for each in made.warnings] == [
        (2, "undeclared-directive", ("rset",)),
        (5, "undeclared-directive", ("other",)),
    ]
    assert [each.sentence.partition("index.graphql may have ")[2] for each in made.warnings] == [
        "directive @rset(to: Int) on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION (2 uses in all)",
        "directive @other on ENUM",
    ]


def test_line_that_declares_a_directive_declares_it(tmp_path: Path) -> None:
    sdl = """
        schema @a { query: Query }
        type Query @b(list: ["x"]) @b { c(d: I @a): Int @a(f: 1.5, s: "x", b: true) }
        extend type Query @b { e: E u: U s: S n: N }
        input I @a { x: Int @a }
        enum E @a { F @a(i: 1) }
        union U @a = T
        type T { t: Int }
        scalar S @a
        interface N @a { n: Int }
    """
    files = {"index.graphql": TOOL + INCLUDED, "schema.graphql": sdl, "config.yaml": READABLE}
    lines = [
        each.sentence.partition("may have ")[2].partition(" (")[0] for each in compiled(tmp_path / "1", files).warnings
    ]

    made = compiled(tmp_path / "2", {**files, "index.graphql": "\n".join([TOOL + INCLUDED, *lines])})

    assert len(lines) == 2
    assert [each.code for each in made.warnings] == []


@pytest.mark.parametrize("name", ["inacessible", "Inaccessible", "in_accessible", "unaccessible", "Tool", "sdls"])
def test_undeclared_directive_that_may_hide_or_open_something_stays_an_error(tmp_path: Path, name: str) -> None:
    files = {"index.graphql": TOOL + INCLUDED, "schema.graphql": f"type Query {{ a: Int b: Int @{name} }}"}

    (problem,) = problems_of(tmp_path, files)

    assert (problem.file, problem.column, problem.code) == ("schema.graphql", 28, "unknown-directive")
    assert f"'@{name}'; did you mean @" in problem.sentence


def test_undeclared_directive_in_a_file_of_the_author_stays_an_error(tmp_path: Path) -> None:
    included = INCLUDED.replace("schema.graphql", "more.graphql")

    assert reported(tmp_path, {"index.graphql": TOOL + included, "more.graphql": "type Query { a: Int @rset }"}) == [
        "more.graphql:1:21 unknown-directive: '@rset'"
    ]


def test_unknown_directive_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "type Query {\n  a: Int @rset\n}"}) == [
        "index.graphql:2:10 unknown-directive: '@rset'"
    ]


# "directive @tool ... Locations: repeatable, Type System: SCHEMA"; Cosmo's @mcpTool is "on QUERY | MUTATION".


@pytest.mark.parametrize(
    ("sdl", "place"),
    [
        ('type Query @tool(name: "x") { a: Int }', "1:12"),
        ('type Query { a: Int @tool(name: "x") }', "1:21"),
        ('type Query { a(b: Int @tool(name: "x")): Int }', "1:23"),
        ('extend type Query @tool(name: "x") { a: Int }', "1:19"),
        ('type Query { a: E } enum E @tool(name: "x") { X }', "1:28"),
        ('type Query { a: E } enum E { X @tool(name: "x") }', "1:32"),
        ('type Query { a: U } union U @tool(name: "x") = A type A { a: Int }', "1:29"),
        ('type Query { a: S } scalar S @tool(name: "x")', "1:30"),
        ('type Query { a(i: I): Int } input I @tool(name: "x") { a: Int }', "1:37"),
        ("directive @tool on OBJECT type Query @tool { a: Int }", "1:38"),
    ],
)
def test_tool_elsewhere_than_on_the_schema_is_reported_with_where_it_belongs(
    tmp_path: Path, sdl: str, place: str
) -> None:
    assert reported(tmp_path, {"index.graphql": sdl}) == [
        f"index.graphql:{place} misplaced-directive: @tool & extend schema @tool"
    ]


@pytest.mark.parametrize(
    ("sdl", "told"),
    [
        (
            'type Q @sdl(files: "a.graphql") { a: Int } schema { query: Q }',
            "1:8 misplaced-directive: @sdl & extend schema @sdl",
        ),
        (
            "extend schema @mcpTool\ntype Query { a: Int }",
            "1:15 misplaced-directive: @mcpTool",
        ),
        (
            "type Query { a: Int @mcpTool }",
            "1:21 misplaced-directive: @mcpTool",
        ),
        (
            'type Query { a(b: Int @mcpToolArg(description: "x")): Int }',
            "1:23 misplaced-directive: @mcpToolArg",
        ),
    ],
)
def test_other_directive_of_stile_at_a_wrong_place_is_reported(tmp_path: Path, sdl: str, told: str) -> None:
    assert reported(tmp_path, {"index.graphql": sdl}) == [f"index.graphql:{told}"]


def test_tool_on_an_operation_is_reported_with_what_is_meant_for_one(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int }", "operations/o.graphql": 'query O @tool(name: "x") { a }'}

    assert reported(tmp_path, files) == ["operations/o.graphql:1:9 misplaced-directive: @tool & @mcpTool"]


def test_directives_that_an_author_defines_are_taken(tmp_path: Path) -> None:
    assert warnings(tmp_path, "directive @cost2(a: Int) on FIELD_DEFINITION\ntype Query { a: Int @cost2(a: 1) }") == []


@pytest.mark.parametrize("name", ["Date", "DateTime", "JSON", "Secret", "AWSDateTime", "AWSJSON", "AWSEmail", "_Any"])
def test_scalar_of_another_system_needs_no_definition_and_may_have_one(tmp_path: Path, name: str) -> None:
    sdl = f"type Query {{\n  a(b: [{name}!]): {name}!\n}}\n"

    assert printed(tmp_path / "1", sdl) == f"{sdl}\nscalar {name}\n"
    assert printed(tmp_path / "2", f"scalar {name}\n{sdl}") == f"{sdl}\nscalar {name}\n"


def test_unknown_scalar_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "type Query { a: Money }"}) == [
        "index.graphql:1:17 unknown-type: 'Money'"
    ]


def test_schema_has_no_scalars_that_nothing_names(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": TOOL + "type Query { a: Int }"})

    assert "JSON" not in read_index(made.index, sha256=made.bundle.index)


def test_operation_may_ask_hasura_to_cache(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int }", "operations/o.graphql": "query O @cached(ttl: 9) @mcpTool { a }"}

    text = prescribed_tool(compiled(tmp_path / "1", files), "O").operation.text
    files["index.graphql"] += " directive @cached(ttl: String) on QUERY"

    assert text.startswith("query O @cached(ttl: 9) {")
    assert reported(tmp_path / "2", files) == ["operations/o.graphql:1:22 wrong-value: non string value: 9"]


# StepZen extracts "the connection structure (edges, nodes & PageInfo) required by the GraphQL Cursor Connections
# Specification" (input StepZen_RESTPagination), and its projects do not define PageInfo. Its fields are that
# specification's: hasPreviousPage and hasNextPage are non-null booleans, startCursor and endCursor are opaque.
STEPZEN = {"stepzen.config.json": '{"endpoint": "api/things"}', "config.yaml": READABLE}
PAGED = """
type Query { customers(first: Int! = 10, after: String! = ""): Customers }
type Customers { edges: [CustomerEdge] pageInfo: PageInfo! }
type CustomerEdge { node: String cursor: String }
"""
PAGE_INFO = "type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }"


def shown_of(folder: Path, sdl: str, **files: str) -> str:
    """What everybody is shown of a StepZen project's schema, on one line."""
    named = {name.replace("__", "."): text for name, text in files.items()}
    made = compiled(folder, {**STEPZEN, "index.graphql": TOOL + sdl, **named})
    return " ".join(
        local_entries(made, unrestricted=False)[0]["inputSchema"]["properties"]["query"]["description"].split()
    )


def test_page_of_a_stepzen_project_needs_no_definition(tmp_path: Path) -> None:
    assert PAGE_INFO in shown_of(tmp_path, PAGED)


def test_page_that_nothing_names_is_not_there(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**STEPZEN, "index.graphql": f"{TOOL}type Query {{ a: Int }}"})

    assert "PageInfo" not in read_index(made.index, sha256=made.bundle.index)


@pytest.mark.parametrize(
    "own", ["type PageInfo { next: String }", "type PageInfo {} extend type PageInfo { next: String }"]
)
def test_page_that_an_author_defines_wins(tmp_path: Path, own: str) -> None:
    assert "type PageInfo { next: String }" in shown_of(tmp_path, PAGED + own)


def test_page_may_be_extended_and_be_in_a_union(tmp_path: Path) -> None:
    sdl = "type Query { any: Any } union Any = PageInfo extend type PageInfo { total: Int }"

    assert f"{PAGE_INFO[:-2]} total: Int }}" in shown_of(tmp_path, sdl)


def test_page_outside_of_a_stepzen_project_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": TOOL + PAGED}) == ["index.graphql:4:50 unknown-type: 'PageInfo'"]


def test_other_unknown_type_of_a_stepzen_project_is_reported(tmp_path: Path) -> None:
    files = {**STEPZEN, "index.graphql": f"{TOOL}type Query {{ p: PageInfo q: PageInf }}"}

    assert reported(tmp_path, files) == ["index.graphql:2:29 unknown-type: 'PageInf' & Did you mean 'PageInfo'?"]


def test_broken_config_of_stepzen_brings_no_report_of_its_types(tmp_path: Path) -> None:
    files = {"stepzen.config.json": '{"endpoint": 1}', "index.graphql": TOOL + PAGED}

    assert [problem.partition(":")[0] for problem in reported(tmp_path, files)] == ["stepzen.config.json"]


@pytest.mark.parametrize(
    "config",
    [
        READABLE.replace("]}", "], hide: [PageInfo.startCursor]}"),
        READABLE.replace(
            "]}",
            ", {type: PageInfo, rules: [{condition: false, fields: startCursor}], policyDefault: {condition: true}}]}",
        ),
    ],
    ids=["hide", "policy"],
)
def test_field_of_a_page_can_be_guarded(tmp_path: Path, config: str) -> None:
    hidden = PAGE_INFO.replace("startCursor: String ", "")

    assert hidden in shown_of(tmp_path, PAGED, config__yaml=config)


def test_field_of_a_page_can_be_hidden_by_patterns_of_a_tool(tmp_path: Path) -> None:
    tool = (
        'extend schema @tool(name: "t", graphql: [{expose: true, types: "Query", fields: ".*"}, '
        '{expose: false, types: "PageInfo", fields: ".*Cursor"}])\n'
    )
    made = compiled(tmp_path, {**STEPZEN, "index.graphql": tool + PAGED})

    assert {"PageInfo.startCursor", "PageInfo.endCursor"} <= graphql_tool(made, "t").guards.keys()


@pytest.mark.parametrize(("index", "lines"), [("a: Int", []), ("a: Int last: PageInfo", ["matches-nothing: PageInfo"])])
def test_field_of_a_page_is_hidden_if_no_other_file_names_the_type(
    tmp_path: Path, index: str, lines: list[str]
) -> None:
    sdl = (
        'extend schema @sdl(files: ["paged.graphql"], visibility: [{expose: true, types: "Query", fields: ".*"}, '
        f'{{expose: false, types: "PageInfo", fields: "endCursor"}}])\ntype Query {{ {index} }}'
    )
    files = {**STEPZEN, "index.graphql": TOOL + sdl, "paged.graphql": PAGED}

    if lines:
        assert reported(tmp_path, files) == lines
    else:
        assert compiled(tmp_path, files).bundle.guards["PageInfo.endCursor"] == HIDDEN


def test_operation_of_a_page_has_an_output_schema(tmp_path: Path) -> None:
    operation = "query Customers @mcpTool { customers { pageInfo { hasNextPage endCursor } } }"
    made = compiled(tmp_path, {**STEPZEN, "index.graphql": PAGED, "operations/o.graphql": operation})

    output = str(prescribed_tool(made, "Customers").entry["outputSchema"])

    assert "'hasNextPage': {'type': 'boolean'}" in output
    assert "endCursor" in output
