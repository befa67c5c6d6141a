"""``@sdl(visibility:)``: what of the included files clients of the API have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from handler.compiler.compile import Compiled
from tests.support.endpoints import READABLE, compiled, doubted, graphql_tool, prescribed_tool, reported

STAFF = """
type Query { staff: [Employee!] _everyone: [Employee!] payroll: Payroll }
type Employee { name: String salary: Int boss: Employee }
type Payroll { total: Int }
"""

INDEX = """
schema
  @sdl(files: "staff.graphql", visibility: [PATTERNS])
  @tool(name: "t", description: "{schema_sdl}", graphql: {expose: true, types: "Query", fields: ".*"}) {
  query: Query
}
type Query { version: String }
"""


def files_of(patterns: str, **others: str) -> dict[str, str]:
    """An index that includes staff.graphql with these patterns, and more files by their names."""
    named = {name.replace("__", "/") + ".graphql": text for name, text in others.items()}
    return {
        "index.graphql": INDEX.replace("PATTERNS", patterns),
        "staff.graphql": STAFF,
        "config.yaml": READABLE,
        **named,
    }


def sdl_of(made: Compiled) -> str:
    """What everybody is shown of the schema, on one line."""
    entry = graphql_tool(made, "t").listings[0].entry
    return " ".join(str(entry["description"]).split()) if entry else ""


def shown(folder: Path, files: Mapping[str, str]) -> str:
    return sdl_of(compiled(folder, files))


def test_included_root_fields_are_hidden_unless_exposed_and_the_including_file_is_not_judged(tmp_path: Path) -> None:
    assert shown(tmp_path, files_of('{expose: true, types: "Query", fields: "staff"}')) == (
        "type Query { version: String staff: [Employee!] } type Employee { name: String salary: Int boss: Employee }"
    )


def test_tool_without_a_root_field_is_told_of_the_scope_that_hides_them(tmp_path: Path) -> None:
    files = {
        "index.graphql": (
            'extend schema @sdl(files: ["s.graphql"], visibility: {expose: false, types: "Employee", fields: "pay"})\n'
            '@tool(name: "ask", graphql: {expose: true, types: "Query", fields: ".*"})'
        ),
        "s.graphql": "type Query { boss: Employee } type Employee { name: String pay: Int }",
        "config.yaml": READABLE,
    }

    assert reported(tmp_path, files) == [
        "index.graphql:2:1 nothing-exposed: @sdl(visibility:) & hides Query.boss & expose a root field there"
    ]


def test_without_patterns_everything_included_is_visible(tmp_path: Path) -> None:
    text = shown(tmp_path, files_of(""))

    assert "_everyone" in text
    assert "type Payroll" in text


def test_hidden_root_fields_take_no_types_with_them_that_others_return(tmp_path: Path) -> None:
    index = INDEX.replace("version: String", "boss: Employee")
    files = files_of("") | {
        "index.graphql": index.replace("PATTERNS", '{expose: false, types: "Query|Mutation", fields: ".*"}')
    }

    assert shown(tmp_path, files) == (
        "type Query { boss: Employee } type Employee { name: String salary: Int boss: Employee }"
    )


def test_field_that_a_scope_hides_is_hidden_from_holders_of_keys_too(tmp_path: Path) -> None:
    files = files_of(
        '{expose: true, types: "Query", fields: "staff"}, {expose: false, types: "Employee", fields: "salary"}'
    )
    made = compiled(tmp_path, files)

    tool = graphql_tool(made, "t")
    (listing,) = [each for each in tool.listings if each.outcome == tool.conditions]
    assert listing.entry is not None
    assert "salary" not in str(listing.entry)


def test_outer_scope_cannot_show_what_an_inner_one_hides(tmp_path: Path) -> None:
    middle = 'extend schema @sdl(files: ["inner.graphql"], visibility: {expose: true, types: "Query", fields: "a"})'
    inner = "type Query { a: Int b: Int c: Int }"
    files = files_of('{expose: true, types: "Query", fields: "a|b|m"}', staff=middle + " type Query { m: Int n: Int }")

    assert shown(tmp_path, {**files, "inner.graphql": inner}) == "type Query { version: String m: Int a: Int }"


def test_outer_scope_hides_what_an_inner_one_shows(tmp_path: Path) -> None:
    middle = 'extend schema @sdl(files: ["inner.graphql"], visibility: {expose: true, types: "Query", fields: "a|b"})'
    files = files_of('{expose: true, types: "Query", fields: "a"}', staff=middle)

    assert shown(tmp_path, {**files, "inner.graphql": "type Query { a: Int b: Int }"}) == (
        "type Query { version: String a: Int }"
    )


def test_file_that_two_scopes_include_is_judged_by_both(tmp_path: Path) -> None:
    twice = """
    extend schema @sdl(files: ["staff.graphql"])
      @sdl(files: ["staff.graphql"], visibility: {expose: false, types: "Employee", fields: "salary"})
      @tool(name: "t", description: "{schema_sdl}", graphql: {expose: true, types: "Query", fields: ".*"})
    type Query { boss: Employee }
    """
    text = shown(tmp_path, {"index.graphql": twice, "staff.graphql": STAFF, "config.yaml": READABLE})

    assert text == "type Query { boss: Employee } type Employee { name: String boss: Employee }"


def test_two_scopes_of_one_file_judge_their_own_files_alone(tmp_path: Path) -> None:
    index = """
    extend schema
      @sdl(files: ["a.graphql"], visibility: {expose: true, types: "Query", fields: "a"})
      @sdl(files: ["b.graphql"], visibility: {expose: false, types: "Thing", fields: "secret"})
      @tool(name: "t", description: "{schema_sdl}", graphql: {expose: true, types: "Query", fields: ".*"})
    """
    files = {
        "index.graphql": index,
        "a.graphql": "type Query { a: Thing hidden: Int } extend type Thing { secretary: String }",
        "b.graphql": "type Query { b: Int } type Thing { secret: Int name: String }",
        "config.yaml": READABLE,
    }

    # With a pattern in the second scope, its root fields are hidden unless exposed.
    assert shown(tmp_path, files) == "type Query { a: Thing } type Thing { name: String secretary: String }"


def test_what_names_a_field_hidden_by_a_scope_goes_with_it(tmp_path: Path) -> None:
    staff = """
    type Query { staff(where: Where, orderBy: Order): [Employee!] }
    type Employee { name: String salary: Int }
    input Where { name: String salaryGt: Int }
    enum Order { NAME SALARY_ASC }
    """
    patterns = '{expose: true, types: "Query", fields: "staff"}, {expose: false, types: "Employee", fields: "salary"}'
    text = shown(tmp_path, files_of(patterns, staff=staff))

    assert "input Where { name: String }" in text
    assert "enum Order { NAME }" in text


def test_persisted_operation_that_selects_a_hidden_field_is_refused_at_its_place(tmp_path: Path) -> None:
    files = files_of(
        '{expose: true, types: "Query", fields: "staff"}, {expose: false, types: "Employee", fields: "salary"}',
        operations__pay="query Pay {\n  staff { name salary }\n}\nquery Names { staff { name } }",
    )

    assert reported(tmp_path, files) == [
        "operations/pay.graphql:2:16 hidden-from-clients: 'salary' & 'Employee' & @sdl(visibility:) & @inaccessible"
    ]


def test_persisted_operation_that_uses_what_is_inaccessible_is_refused_at_its_place(tmp_path: Path) -> None:
    index = "type Query { a(b: Int, c: Int @inaccessible): Int d: Int @inaccessible }"
    files = {"index.graphql": index, "operations/o.graphql": "query O { a(c: 1) d }"}

    assert reported(tmp_path, files) == [
        "operations/o.graphql:1:13 hidden-from-clients: 'c' & 'Query.a' & @sdl(visibility:) & @inaccessible",
        "operations/o.graphql:1:19 hidden-from-clients: 'd' & 'Query' & @sdl(visibility:) & @inaccessible",
    ]


ASKED = """
type Query { staff(where: Where): [Employee!] payroll: Payroll }
type Employee { name: String salary: Int payroll: Payroll }
type Payroll { total: Int }
input Where { name: String salaryGt: Int }
"""


@pytest.mark.parametrize(
    ("operation", "line"),
    [
        ("query O { staff(where: {salaryGt: 1}) { name } }", "1:25 hidden-from-clients: 'Where' & 'salaryGt'"),
        ("query O { staff { payroll { __typename } } }", "1:19 hidden-from-clients: 'payroll'"),
        (
            "query O { staff { name ... on Employee { salary } } }",
            "1:42 hidden-from-clients: 'salary'",
        ),
    ],
)
@pytest.mark.parametrize("persist", [True, False])
def test_operation_is_judged_as_a_clients_of_the_api(
    tmp_path: Path, operation: str, line: str, *, persist: bool
) -> None:
    patterns = (
        '{expose: true, types: "Query", fields: "staff"}, {expose: false, types: "Employee", fields: "salary"},'
        '{expose: false, types: "Payroll", fields: ".*"}'
    )
    files = files_of(patterns, staff=ASKED)
    executables = f'executables: {{document: "o.graphql", persist: {str(persist).lower()}}}, visibility'
    files["index.graphql"] = files["index.graphql"].replace("visibility", executables)

    assert reported(tmp_path, {**files, "o.graphql": operation}) == [f"o.graphql:{line}"]


def test_operation_of_a_root_type_that_clients_do_not_have_is_refused(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { a: Int } type Mutation { hire: Int @inaccessible }",
        "operations/o.graphql": "mutation O @mcpTool { hire }",
    }
    assert reported(tmp_path, files) == [
        "operations/o.graphql:1:1 hidden-from-clients: @sdl(visibility:) & @inaccessible"
    ]


def test_operation_is_refused_where_clients_have_nothing(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int @inaccessible }", "operations/o.graphql": "query O @mcpTool { a }"}

    assert reported(tmp_path, files) == [
        "operations/o.graphql:1:1 hidden-from-clients: @sdl(visibility:) & @inaccessible"
    ]


def test_scope_that_includes_no_file_is_doubted(tmp_path: Path) -> None:
    index = """
    extend schema @sdl(visibility: {expose: false, types: "Employee", fields: "salary"})
      @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})
    type Query { a: Employee } type Employee { salary: Int }
    """
    assert doubted(tmp_path, {"index.graphql": index, "config.yaml": READABLE}) == [
        "index.graphql:2:19 visibility-without-files: @sdl"
    ]


def test_persisted_operation_inside_the_visible_part_is_a_tool(tmp_path: Path) -> None:
    files = files_of(
        '{expose: true, types: "Query", fields: "staff"}',
        operations__names='query Names @mcpTool(name: "names") { staff { name } }',
    )

    assert prescribed_tool(compiled(tmp_path, files), "names").operation.name == "Names"


def test_pattern_of_a_scope_that_hides_nothing_in_its_files_is_reported(tmp_path: Path) -> None:
    files = files_of(
        '{expose: true, types: "Query", fields: "staff"}, {expose: false, types: "Query", fields: "version"}'
    )

    assert reported(tmp_path, files) == ['index.graphql:3:94 matches-nothing: Query & "version"']


@pytest.mark.parametrize("argument", ['visibility: {expose: true, types: "Query"}', 'visibility: "Query"'])
def test_visibility_that_is_no_pattern_is_reported(tmp_path: Path, argument: str) -> None:
    files = {"index.graphql": f"extend schema @sdl(files: [], {argument}) type Query {{ a: Int }}"}

    (line,) = reported(tmp_path, files)
    assert line.startswith("index.graphql:1:")
    assert "StepZen_VisibilityPattern" in line


def test_expression_of_a_scope_that_does_not_compile_is_reported_at_its_pattern(tmp_path: Path) -> None:
    files = files_of('{expose: true, types: "(", fields: ".*"}')

    assert reported(tmp_path, files) == ['index.graphql:3:45 invalid-pattern: "("']
