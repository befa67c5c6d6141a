"""Warnings about what may tell a guarded field all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, doubted

SDL = """
type Query {
  employee(id: ID!): Employee
  employees(where: EmployeeFilter, path: JSONPath, since: DateTime): [Employee!]
  node(id: ID!): Node
  stats: Stats
  offices(raw: JSON): [Office!]
}
interface Node { id: ID! }
type Employee implements Node { id: ID! salary: Int raw: JSON hired: DateTime homepage: HttpUrl boss: Employee }
type Office implements Node { id: ID! raw: JSON }
type Stats { employees: Aggregate }
type Aggregate { salary: Float maxSalary: Float }
input EmployeeFilter { salaryGt: Int name: String extra: JSON }
scalar JSON scalar JSONPath scalar DateTime scalar HttpUrl
"""

HIDE_SALARY = '{expose: false, types: "Employee", fields: "salary"}'
GUARD_SALARY = """\
access:
  policies:
    - {type: Query, policyDefault: {condition: true}}
    - {type: Employee, rules: [{condition: false, fields: [salary]}], policyDefault: {condition: true}}
"""


def doubts_of(folder: Path, exposed: str, *patterns: str, config: str = READABLE) -> list[Reported]:
    listed = ", ".join([f'{{expose: true, types: "Query", fields: "{exposed}"}}', *patterns])
    index = f'extend schema @tool(name: "t", description: "d", graphql: [{listed}])\n{SDL}'
    return doubted(folder, {"index.graphql": index, "config.yaml": config})


def operation_doubts(folder: Path, operation: str, *, config: str = GUARD_SALARY) -> list[Reported]:
    return doubted(folder, {"index.graphql": SDL, "operations/op.graphql": operation, "config.yaml": config})


def test_nothing_is_doubted_where_nothing_is_guarded(tmp_path: Path) -> None:
    assert doubts_of(tmp_path, ".*") == []


def test_same_name_on_another_type_in_reach_is_doubted(tmp_path: Path) -> None:
    assert doubts_of(tmp_path, "stats", HIDE_SALARY) == [
        "index.graphql:1:15 same-name-exposure: Aggregate.salary & Employee.salary"
    ]


def test_fields_that_only_follow_from_a_closed_root_type_are_not_doubted(tmp_path: Path) -> None:
    # Without a policy Mutation is closed, so Written is out of reach, and the interface's field with it.
    sdl = """
        type Query { node: Node other(subject: ID): Other }
        type Mutation { write(id: ID!): Written }
        interface Node { id: Int subject: ID }
        type Written implements Node { id: Int subject: ID written: Written! }
        type Other { id: Int subject: ID }
    """
    tool = 'extend schema @tool(name: "t", description: "d", graphql: {expose: true, types: "Query", fields: ".*"})'

    for config in (READABLE, ""):
        files = {"index.graphql": tool + sdl, "config.yaml": config}
        assert doubted(tmp_path, files) == []


COMMON = "".join(f"type T{n} {{ name: String title: String }} " for n in range(30))
ROOT = "".join(f"t{n}: T{n} " for n in range(30))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("title", ["EmployeeCount.title & Employee.title"]),
        ("salary", ["Pay.salary & Employee.salary"]),
    ],
)
def test_name_that_many_types_have_is_doubted_beside_the_guarded_type_only(
    tmp_path: Path, fields: str, expected: list[str]
) -> None:
    sdl = f"""
        type Query {{ employee: Employee pay: Pay count: EmployeeCount {ROOT} }} {COMMON}
        type Employee {{ name: String title: String salary: Int }}
        type EmployeeCount {{ title: Int }}
        type Pay {{ salary: Int }}
    """
    hide = f'{{expose: false, types: "Employee", fields: "{fields}"}}'
    tool = (
        f'schema @tool(name: "t", description: "d", graphql: [{{expose: true, types: "Query", fields: ".*"}}, {hide}])'
    )
    files = {"index.graphql": f"{tool} {{ query: Query }} {sdl}", "config.yaml": READABLE}

    (line,) = doubted(tmp_path, files)
    assert line == f"index.graphql:1:8 same-name-exposure: {expected[0]}"
    assert "T1" not in line


def test_same_name_out_of_reach_is_not_doubted(tmp_path: Path) -> None:
    assert not any("Aggregate" in line for line in doubts_of(tmp_path, "employee", HIDE_SALARY))


def test_scalars_that_can_hold_anything_are_doubted_on_guarded_types_and_in_what_asks_for_them(tmp_path: Path) -> None:
    assert doubts_of(tmp_path, "employees|offices", HIDE_SALARY) == [
        "index.graphql:1:15 opaque-value: Employee.raw & Query.employees(path:) & EmployeeFilter.extra"
    ]


def test_lookups_of_anything_by_id_are_doubted(tmp_path: Path) -> None:
    assert doubts_of(tmp_path, "node", HIDE_SALARY) == [
        "index.graphql:1:15 opaque-value: Employee.raw",
        "index.graphql:1:15 lookup-by-id: Query.node",
    ]


def test_what_policies_guard_is_doubted_like_what_patterns_hide(tmp_path: Path) -> None:
    hidden = doubts_of(tmp_path / "1", "stats|employees|node", HIDE_SALARY)
    guarded = doubts_of(tmp_path / "2", "stats|employees|node", config=GUARD_SALARY)

    assert len(hidden) == 3
    assert guarded == hidden


def test_variable_is_not_doubted_as_each_caller_may_name_what_they_may_read(tmp_path: Path) -> None:
    operation = "query Find($where: EmployeeFilter) @mcpTool { employees(where: $where) { id } }"

    assert operation_doubts(tmp_path, operation) == []


COUNTED = """
type Query { staff: [Person!]! %s }
type Person { name: String salary: Int }
input CountFilter { name: String salaryGt: Int }
type Count { total: Int! }
"""


@pytest.mark.parametrize(
    ("question", "inputs"),
    [
        ("staffCount(salaryGt: Int): Int!", "Query.staffCount(salaryGt:)"),
        ("staffCount(where: CountFilter): Int!", "CountFilter.salaryGt"),
        ("staffCount(where: CountFilter): Count!", "CountFilter.salaryGt"),
    ],
)
def test_filter_by_a_guarded_field_of_what_is_only_counted_is_doubted(
    tmp_path: Path, question: str, inputs: str
) -> None:
    index = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})\n'
    config = GUARD_SALARY.replace("Employee", "Person")

    assert doubted(tmp_path, {"index.graphql": index + COUNTED % question, "config.yaml": config}) == [
        f"index.graphql:1:15 count-exposure: {inputs} & Person.salary"
    ]


def test_operation_that_nobody_can_call_is_doubted(tmp_path: Path) -> None:
    config = "access: {policies: [{type: Query, policyDefault: {condition: true}}], hide: [Employee.salary]}"
    operation = "query Find @mcpTool { employees(where: {salaryGt: 5}) { id } }"

    assert operation_doubts(tmp_path, operation, config=config) == ['operations/op.graphql:1:1 uncallable-tool: "Find"']


UNDECIDED = """
type Query { staff(where: Filter, salaryband: Int): [Person!]! }
type Mutation { pay(salary: Int, name: String, input: Pay): Person touch(where: Touch): Touched }
type Person { name: String salary: Int taxband: String }
type Touched { affected: Int }
input Filter { name: String minSalaryclass: Int salarygt: Int salaried: Int taxband: String }
input Pay { salary: Int }
input Touch { salaryGt: Int salarygroup: Int }
"""


def undecided(folder: Path, config: str) -> list[Reported]:
    index = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query|Mutation", fields: ".*"})\n'
    return doubted(folder, {"index.graphql": index + UNDECIDED, "config.yaml": config})


OPEN_MUTATION = "    - {type: Mutation, policyDefault: {condition: true}}\n"


def test_input_whose_words_begin_with_a_guarded_name_and_go_on_is_doubted(tmp_path: Path) -> None:
    config = GUARD_SALARY.replace("Employee", "Person") + OPEN_MUTATION

    assert (
        "index.graphql:1:15 similar-name-exposure: "
        "Filter.minSalaryclass & Filter.salarygt & Query.staff(salaryband:) & Person.salary"
    ) in undecided(tmp_path, config)


def test_data_of_a_mutation_by_a_guarded_name_is_doubted(tmp_path: Path) -> None:
    config = GUARD_SALARY.replace("Employee", "Person") + OPEN_MUTATION

    assert (
        "index.graphql:1:15 mutation-data-exposure: Mutation.pay(salary:) & Pay.salary & Person.salary"
    ) in undecided(tmp_path, config)


def test_word_that_is_another_fields_name_is_not_doubted(tmp_path: Path) -> None:
    config = GUARD_SALARY.replace("Employee", "Person").replace("[salary]", "[name]") + OPEN_MUTATION

    assert not [line for line in undecided(tmp_path, config) if " similar-name-exposure: " in line]
