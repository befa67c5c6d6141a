"""Operations that walk on from the object that the variable of a condition names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, doubted

SCHEMA = """
type Query {
  employee(id: ID!): Employee
  employees(where: Where, first: Int): Page
  me: Employee
  person(id: ID!): Person
  node(id: ID!): Node
  pay(of: ID!): Int
}
type Mutation { raise(input: Raise!): RaisePayload }
input Raise { employee: ID! }
input Where { id: Eq }
input Eq { eq: ID }
type Page { nodes: [Employee!] edges: [Edge!] }
type Edge { node: Employee }
type RaisePayload { employee: Employee }
interface Node { id: ID! }
interface Person { name: String salary: Int }
type Employee implements Person & Node {
  id: ID! name: String salary: Int bonus(of: ID): Int reports: [Employee!] boss: Person office: Office
}
type Office implements Node { id: ID! staff: [Employee!] city: String }
"""
CONDITION = "$jwt.employee_id:String == $variables.employee:String"


def doubts(
    folder: Path, selection: str, *, condition: str = CONDITION, type_: str = "Employee", fields: str = "salary, bonus"
) -> list[Reported]:
    config = f"""\
access:
  anonymous: challenge
  policies:
    - {{type: Query, policyDefault: {{condition: "?$jwt"}}}}
    - {{type: Mutation, policyDefault: {{condition: "?$jwt"}}}}
    - type: {type_}
      policyDefault: {{condition: true}}
      rules: [{{condition: '{condition}', fields: [{fields}]}}]
"""
    if type_ == "Query":
        config = config.replace('    - {type: Query, policyDefault: {condition: "?$jwt"}}\n', "")
    kind, _, rest = selection.partition(" ")
    operation = f'{kind} Pay($employee: ID! @mcpBind(claim: "employee_id")) @mcpTool {rest}'
    files = {"index.graphql": SCHEMA, "operations/pay.graphql": operation, "config.yaml": config}
    return [line for line in doubted(folder, files) if " variable-walk: " in line]


@pytest.mark.parametrize(
    ("selection", "path"),
    [
        ("query { employee(id: $employee) { name reports { salary } } }", "employee.reports.salary"),
        ("query { employee(id: $employee) { salary boss { salary } } }", "employee.boss.salary"),
        ("query { employee(id: $employee) { boss { ... on Employee { salary } } } }", "employee.boss.salary"),
        ("query { employee(id: $employee) { office { staff { salary } } } }", "employee.office.staff.salary"),
        (("query { employee(id: $employee) { ...F } } fragment F on Employee { reports { ...G } } "
         "fragment G on Employee { salary }"), "employee.reports.salary"),
        ("query { employee(id: $employee) { ...G reports { ...G } } } fragment G on Employee { salary }",
         "employee.reports.salary"),
        ("query { employee(id: $employee) { name } me { salary } }", "me.salary"),
        ("query { employee(id: $employee) { name } employee2: employee(id: 7) { salary } }", "employee.salary"),
        ("query { me @include(if: true) { bonus } employee(id: $employee) { name } }", "me.bonus"),
        ("query { person(id: $employee) { ... on Employee { reports { salary } } } }", "person.reports.salary"),
        ("query { employees(where: {id: {eq: $employee}}) { nodes { reports { salary } } } }",
         "employees.nodes.reports.salary"),
        ("mutation { raise(input: {employee: $employee}) { employee { reports { salary } } } }",
         "raise.employee.reports.salary"),
    ],
)  # fmt: skip
def test_operation_that_walks_on_is_doubted_with_its_path(tmp_path: Path, selection: str, path: str) -> None:
    (line,) = doubts(tmp_path, selection)

    assert line.startswith("operations/pay.graphql:1:")
    assert f'"Pay" reads Employee.{path.rpartition(".")[2]} at {path}, of an object' in line
    assert f"(config.yaml:8:27: {CONDITION})" in line
    assert "take the field out of the operation, or guard it by a condition without $variables" in line


@pytest.mark.parametrize(
    "selection",
    [
        "query { employee(id: $employee) { name salary } }",
        "query { employee(id: $employee) { salary reports { name reports { name } } } }",
        "query { employee(id: $employee) { ...F } } fragment F on Employee { salary ... on Employee { bonus } }",
        "query { person(id: $employee) { salary ... on Employee { bonus } } }",
        "query { node(id: $employee) { ... on Employee { salary } } }",
        "query { employees(where: {id: {eq: $employee}}) { nodes { salary } edges { node { salary } } } }",
        "mutation { raise(input: {employee: $employee}) { employee { salary } } }",
        "query { me { bonus(of: $employee) } }",
        "query { employee(id: $employee) { reports { __typename name } } }",
    ],
)
def test_object_that_the_variable_names_is_not_doubted(tmp_path: Path, selection: str) -> None:
    assert doubts(tmp_path, selection) == []


@pytest.mark.parametrize(
    "condition",
    ['$jwt.roles:String has "hr"', "true", '$variables.employee:String == "e7"', "?$variables.employee",
     "$jwt.employee_id:String == $variables.other:String"],
)  # fmt: skip
def test_condition_that_does_not_compare_a_claim_with_a_variable_of_the_operation_is_not_doubted(
    tmp_path: Path, condition: str
) -> None:
    assert doubts(tmp_path, "query { employee(id: $employee) { reports { salary } } }", condition=condition) == []


@pytest.mark.parametrize(
    "condition", [f'$jwt.roles:String has "hr" || {CONDITION}', f"!($jwt.a:Boolean) && {CONDITION}"]
)
def test_comparison_inside_a_condition_counts(tmp_path: Path, condition: str) -> None:
    assert len(doubts(tmp_path, "query { employee(id: $employee) { reports { salary } } }", condition=condition)) == 1


def test_doubt_names_operation_and_coordinate_for_an_ignore(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { me: Me of(me: ID): Int } type Me { pay: Int boss: Me }",
        "operations/o.graphql": 'query Pay($me: ID @mcpBind(claim: "sub")) @mcpTool { of(me: $me) me { pay } }',
        "config.yaml": "access: {policies: [{type: Query, policyDefault: {condition: true}}, {type: Me, policyDefault: "
        "{condition: '$jwt.sub:String == $variables.me:String'}}]}",
    }

    abouts = {warning.code: warning.about for warning in compiled(tmp_path, files).warnings}
    assert abouts["variable-walk"] == ("Pay", "Me.pay")


def test_root_field_has_to_take_the_variable_itself(tmp_path: Path) -> None:
    taken = "query { pay(of: $employee) }"
    other = "query { pay(of: 7) employee(id: $employee) { name } }"

    assert doubts(tmp_path / "1", taken, type_="Query", fields="pay") == []
    assert doubts(tmp_path / "2", other, type_="Query", fields="pay") == ['variable-walk: "Pay" & Query.pay']


def test_field_of_another_type_is_doubted_unless_the_variable_names_its_object(tmp_path: Path) -> None:
    selection = "query { employee(id: $employee) { office { city } } }"

    assert doubts(tmp_path, selection, type_="Office", fields="city") == [
        "variable-walk: Office.city & employee.office.city"
    ]


def test_fragments_without_end_are_walked_once(tmp_path: Path) -> None:
    chain = " ".join(
        f"fragment F{n} on Employee {{ reports {{ ...F{n + 1} }} boss {{ ... on Employee {{ ...F{n + 1} }} }} }}"
        for n in range(25)
    )
    selection = f"query {{ employee(id: $employee) {{ ...F0 }} }} {chain} fragment F25 on Employee {{ name }}"

    assert doubts(tmp_path, selection) == []
