"""``access.hide`` and ``access.show``, and what guarded inputs mean for prescribed tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.compiler.schema.coordinates import FORMS
from handler.policy.evaluation import Mask
from tests.support.endpoints import compiled, doubted, prescribed_tool, reported
from tests.support.outcomes import outcome_of

SDL = """
schema { query: Reads mutation: Writes }
type Reads { employee(id: ID!): Employee employees(where: EmployeeFilter, orderBy: EmployeeOrder): [Employee!]
  person: Person }
type Writes { hire(name: String): Employee }
interface Person { name: String }
type Employee implements Person { id: ID! name: String salary: Int taxId: String }
input EmployeeFilter { name: String salaryGt: Int }
enum EmployeeOrder { NAME SALARY_ASC }
"""
OPEN_TO_ALL = """\
access:
  policies:
    - {type: Query, policyDefault: {condition: true}}
    - {type: Mutation, policyDefault: {condition: true}}
"""
ON_SALARY = "    - {type: Employee, rules: [{condition: false, fields: [salary]}], policyDefault: {condition: true}}\n"


def hidden_of(folder: Path, access: str) -> set[str]:
    """What no caller can use, not even an unrestricted one."""
    bundle = compiled(folder, {"index.graphql": SDL, "config.yaml": OPEN_TO_ALL + access}).bundle
    outcome = outcome_of(bundle.conditions, unrestricted=True)
    return {coordinate for coordinate, mask in bundle.guards.items() if not mask <= outcome}


@pytest.mark.parametrize(
    ("hide", "hidden"),
    [
        ("Employee.taxId", {"Employee.taxId"}),
        ("Employee.salary", {"Employee.salary", "EmployeeFilter.salaryGt", "EmployeeOrder.SALARY_ASC"}),
        ("Query.employees(where:)", {"Reads.employees(where:)"}),
        ("Reads.employee(id:)", {"Reads.employee(id:)", "Reads.employee"}),
        ("Mutation.hire", {"Writes.hire"}),
        ("Writes", {"Writes", "Writes.hire"}),
        ("EmployeeFilter.name", {"EmployeeFilter.name"}),
        (
            "EmployeeFilter",
            {"EmployeeFilter", "EmployeeFilter.name", "EmployeeFilter.salaryGt", "Reads.employees(where:)"},
        ),
        ("EmployeeOrder.NAME", {"EmployeeOrder.NAME"}),
        (
            "EmployeeOrder",
            {"EmployeeOrder", "EmployeeOrder.NAME", "EmployeeOrder.SALARY_ASC", "Reads.employees(orderBy:)"},
        ),
    ],
)
def test_hidden_coordinate_is_hidden_from_everybody(tmp_path: Path, hide: str, hidden: set[str]) -> None:
    assert hidden_of(tmp_path, f'  hide: ["{hide}"]') == hidden


def test_hidden_type_is_hidden_with_its_fields_and_with_what_returns_it(tmp_path: Path) -> None:
    assert hidden_of(tmp_path, "  hide: Employee") >= {
        "Employee",
        "Employee.name",
        "Person.name",
        "Reads.employee",
        "Reads.employees",
        "Writes.hire",
    }


def test_shown_input_comes_back_and_the_others_do_not(tmp_path: Path) -> None:
    access = "  hide: [Employee.salary]\n  show: [EmployeeFilter.salaryGt]"

    assert hidden_of(tmp_path, access) == {"Employee.salary", "EmployeeOrder.SALARY_ASC"}


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("hide", "Employe.taxId", 'unknown-coordinate: "Employe" & did you mean Employee?'),
        ("hide", "Employee.taxID", 'unknown-coordinate: "taxID" & did you mean taxId?'),
        ("hide", "EmployeeOrder.SALARY", 'unknown-coordinate: "SALARY" & did you mean SALARY_ASC?'),
        ("hide", "Query.employees(were:)", 'unknown-coordinate: "Reads.employees" & "were" & did you mean where?'),
        ("hide", "EmployeeFilter.name(x:)", 'unknown-coordinate: "EmployeeFilter.name" & "x"'),
        ("hide", "__Type.name", 'unknown-coordinate: "__Type"'),
        ("hide", "Employee taxId", f"unknown-coordinate: {FORMS}"),
        ("show", "EmployeeFiler.a", 'unknown-coordinate: "EmployeeFiler" & did you mean EmployeeFilter?'),
        ("show", "Employee.salary", "not-an-input"),
        ("show", "EmployeeFilter", "not-an-input"),
    ],
)
def test_coordinate_that_does_not_fit_is_a_problem_with_its_place(
    tmp_path: Path, key: str, text: str, problem: str
) -> None:
    lines = reported(tmp_path, {"index.graphql": SDL, "config.yaml": f'access:\n  {key}: ["{text}"]\n'})

    assert lines == [f"config.yaml:2:10 {problem}"]
    assert f'access.{key} "{text}"' in lines[0]


@pytest.mark.parametrize(
    ("hide", "show", "direct"),
    [
        ("EmployeeFilter.salaryGt", "EmployeeFilter.salaryGt", "EmployeeFilter.salaryGt"),
        ("EmployeeFilter", "EmployeeFilter.salaryGt", "EmployeeFilter.salaryGt"),
        ("Query.employees", "Reads.employees(where:)", "Reads.employees"),
        ("Employee.taxId", "Employee.taxId", "Employee.taxId"),
    ],
)
def test_what_is_hidden_itself_cannot_be_shown(tmp_path: Path, hide: str, show: str, direct: str) -> None:
    config = f"access:\n  hide: [{hide}]\n  show: [{show}]\n"

    (line,) = reported(tmp_path, {"index.graphql": SDL, "config.yaml": config})

    assert line == f'config.yaml:3:10 hidden-itself: "{show}" & access.hide hides {direct}'


def test_what_a_directive_hides_itself_cannot_be_shown(tmp_path: Path) -> None:
    sdl = SDL.replace("salaryGt: Int", "salaryGt: Int @inaccessible")

    assert reported(tmp_path, {"index.graphql": sdl, "config.yaml": "access: {show: [EmployeeFilter.salaryGt]}"}) == [
        'config.yaml:1:17 hidden-itself: "EmployeeFilter.salaryGt" & @inaccessible'
    ]


@pytest.mark.parametrize("show", ["EmployeeFilter.salaryGt", "Query.employees(where:)"])
def test_exception_from_what_nothing_hides_is_doubted(tmp_path: Path, show: str) -> None:
    files = {"index.graphql": SDL, "config.yaml": f'{OPEN_TO_ALL}  show: ["{show}"]\n'}
    coordinate = show.replace("Query", "Reads")

    (line,) = [line for line in doubted(tmp_path, files) if "access.show" in line]
    assert line == f'unused-exception: access.show "{coordinate}"'
    assert line.startswith("config.yaml:")


def test_exception_that_only_a_tools_patterns_need_is_not_doubted(tmp_path: Path) -> None:
    hide = '{expose: false, types: "Employee", fields: "salary"}'
    tool = f'@tool(name: "t", graphql: [{{expose: true, types: "Query", fields: ".*"}} {hide}])'
    files = {
        "index.graphql": f"extend schema {tool} {SDL}",
        "config.yaml": f"{OPEN_TO_ALL}  show: [EmployeeFilter.salaryGt]\n",
    }

    assert not [line for line in doubted(tmp_path, files) if "access.show" in line]


def mask_of(folder: Path, operation: str, access: str) -> Mask:
    files = {"index.graphql": SDL, "config.yaml": OPEN_TO_ALL + access, "operations/op.graphql": operation}
    return prescribed_tool(compiled(folder, files), "Op").mask


@pytest.mark.parametrize(
    "operation",
    [
        "query Op @mcpTool { employees(where: {salaryGt: 5}) { name } }",
        "query Op($n: Int) @mcpTool { employees(where: {salaryGt: $n}) { name } }",
        "query Op @mcpTool { employees(orderBy: SALARY_ASC) { name } }",
        "query Op($o: EmployeeOrder = SALARY_ASC) @mcpTool { employees(orderBy: $o) { name } }",
        "query Op @mcpTool { employees(where: {salaryGt: 5}) @skip(if: true) { name } }",
        "query Op @mcpTool { ...F } fragment F on Reads { employees(where: {salaryGt: 5}) { name } }",
    ],
)
def test_prescribed_operation_that_names_a_guarded_field_in_an_input_has_its_mask(
    tmp_path: Path, operation: str
) -> None:
    assert mask_of(tmp_path / "1", operation, ON_SALARY) == {1}
    assert mask_of(tmp_path / "2", operation, "  hide: [Employee.salary]") == {0}


def test_prescribed_operation_that_names_it_nowhere_is_open(tmp_path: Path) -> None:
    operation = "query Op($w: EmployeeFilter) @mcpTool { employees(where: $w, orderBy: NAME) { name } }"

    assert mask_of(tmp_path, operation, ON_SALARY) == set()


@pytest.mark.parametrize(
    "operation",
    [
        'query Op @mcpTool { employee(id: "1") { __typename } }',
        "query Op @mcpTool { person { ... on Employee { __typename } } }",
    ],
)
def test_prescribed_operation_that_meets_a_hidden_type_has_its_mask(tmp_path: Path, operation: str) -> None:
    assert mask_of(tmp_path, operation, "  hide: [Employee]") == {0}
