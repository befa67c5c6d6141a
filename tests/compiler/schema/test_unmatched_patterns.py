"""Visibility patterns with alternatives that match nothing: errors if they hide, warnings if they expose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.errors.authoring import CompileError
from tests.support.endpoints import READABLE, compiled, doubted, problems_of, reported

SDL = """
type Query { employee: Employee employees: [Employee!] customer: Customer }
type Employee { id: ID! name: String salary: Int ssn: String grossPay: Int netPay: Int address: Address }
type Customer { id: ID! name: String taxID: String }
interface Address { city: String }
input EmployeeFilter { salaryGt: Int }
"""


def files_of(*patterns: str, sdl: str = SDL) -> dict[str, str]:
    index = f'extend schema @tool(name: "t", graphql: [\n{chr(10).join(patterns)}\n])\n{sdl}'
    return {"index.graphql": index, "config.yaml": READABLE}


def pattern(types: str, fields: str, *, expose: bool) -> str:
    types, fields = types.replace("\\", "\\\\"), fields.replace("\\", "\\\\")
    return f'{{expose: {str(expose).lower()}, types: "{types}", fields: "{fields}"}}'


ALL = pattern("Query", ".*", expose=True)


def test_types_without_fields_are_told_with_what_guards_them(tmp_path: Path) -> None:
    sdl = "type Query { a: Row b(in: Order): Int } union Row = One | Two type One { x: Int } type Two { x: Int }"
    files = files_of(
        ALL,
        pattern("Row", "x", expose=False),
        pattern("Order", "PAY_ASC", expose=False),
        sdl=f"{sdl} enum Order {{ PAY_ASC }}",
    )

    assert reported(tmp_path, files) == [
        'index.graphql:3:1 matches-nothing: types "Row" & Row is a union: name its members, One, Two',
        'index.graphql:4:1 matches-nothing: types "Order" & Order is an enum, whose values access.hide',
    ]


@pytest.mark.parametrize(
    ("types", "fields", "expected"),
    [
        (
            "Employee",
            "salery|ssn",
            ['"salery" & fields "salery|ssn" & Employee & hides nothing & did you mean salary?'],
        ),
        ("Employee", "salry", ['fields "salry" matches no field of Employee & did you mean salary?']),
        ("Employe", "salary", ['types "Employe" matches no type with fields & did you mean Employee?']),
        ("Employe|Customer", "name", ['"Employe" in types "Employe|Customer" & did you mean Employee?']),
        ("Employee", "(gros|net)Pay|ssn", ['"gros" in fields "(gros|net)Pay|ssn" & did you mean grossPay?']),
        ("Employee", "((gross|nett)Pay|ssn)", ['"nett" & did you mean netPay?']),
        ("Employee", "salary|salery", ['"salery" & did you mean salary?']),
        ("Employee", "^salery$|^ssn$", ['"^salery$" & did you mean salary?']),
        ("Employee", r"salery\b|ssn", [r'"salery\b" & did you mean salary?']),
        ("Employee", "(?i)SALERY|(?i)SSN", ['"(?i)SALERY" & did you mean salary?']),
        ("Employee", ".*(salery|sn)", ['"salery" & did you mean salary?']),
        ("Employee", "xyzzy", ['fields "xyzzy" & correct or remove it']),
        ("Employee", "salery|sn", ['"salery" & salary?', '"sn" & ssn?']),
        (".*", "salery", ['fields "salery" matches no field of Query, Employee, Customer and 1 more']),
        ("Query|Mutation", "employes", ['fields "employes" matches no field of Query & employees?']),
        ("EmployeeFilter", "salaryGt", ['types "EmployeeFilter" & EmployeeFilter is an input type & access.hide']),
        ("String", "x", ['types "String" matches no type with fields & String is a scalar: name the fields']),
        ("Employee", "", ['fields "" matches no field of Employee']),
        ("Employee", "|", ['"" in fields "|" matches no field of Employee']),
        ("", "salary", ['types "" matches no type with fields']),
        ("Employee", "Employee.salary", ['fields "Employee.salary" & did you mean salary?']),
        ("Mutations", ".*", ['types "Mutations" matches no type with fields']),
    ],
)
def test_alternative_that_hides_nothing_is_an_error_at_its_pattern(
    tmp_path: Path, types: str, fields: str, expected: list[str]
) -> None:
    files = files_of(ALL, pattern(types, fields, expose=False))

    assert reported(tmp_path, files) == [f"index.graphql:3:1 matches-nothing: {parts}" for parts in expected]


@pytest.mark.parametrize(
    ("types", "fields"),
    [
        ("Employee|Customer", "salary|taxID|name"),  # a field of one of the types is enough
        ("Emp.*|Cust.*", "sal.*|tax.*"),
        ("Employee", "salary|sal.*|s.*"),
        ("Employee", "(gross|net)(Pay)|salar(y|ies)?y?".replace("(y|ies)?y?", "y")),
        ("Employee", "(gross|net)?Pay|ssn"),
        ("Employee", "[gn]\\w+Pay|ssn?"),
        ("Employee", "(?:(gross)|(net))Pay"),
        ("Employee", "(g|r|o|s|n|e|t)+Pay"),
        ("Mutation|Subscription", ".*"),
        ("Mutation|Subscription", "delete.*|update.*"),
        ("Query|Mutation|Subscription", "employee|customer"),
        (".*", ".*s.*"),
        ("Query|Address", "customer|city"),
    ],
)
def test_pattern_whose_alternatives_all_match_is_right(tmp_path: Path, types: str, fields: str) -> None:
    files = files_of(ALL, pattern(types, fields, expose=False), pattern("Query", "employees", expose=True))

    assert [line for line in doubted(tmp_path, files) if "overridden" not in line] == []


def test_field_that_another_pattern_hides_or_exposes_counts(tmp_path: Path) -> None:
    hide, expose = (pattern("Employee", "salary|ssn", expose=expose) for expose in (False, True))

    assert [line for line in doubted(tmp_path, files_of(ALL, hide, expose, hide)) if "overridden" not in line] == []


def test_alternative_that_exposes_nothing_is_doubted(tmp_path: Path) -> None:
    files = files_of(pattern("Query", "employee|custmer", expose=True), pattern("Employe", "salary", expose=True))

    assert doubted(tmp_path, files) == [
        'index.graphql:2:1 unmatched-pattern: "custmer" & exposes nothing & did you mean customer?',
        'index.graphql:3:1 unmatched-pattern: types "Employe" & exposes nothing & did you mean Employee?',
    ]


def test_doubt_names_the_alternative_for_an_ignore(tmp_path: Path) -> None:
    files = files_of(pattern("Query", "employee|custmer|cust.mr", expose=True))

    assert [warning.about for warning in compiled(tmp_path, files).warnings] == [("cust.mr",), ("custmer",)]


def test_pattern_for_directives_that_the_schema_lacks_is_right(tmp_path: Path) -> None:
    assert doubted(tmp_path, files_of(ALL, pattern("@", ".*", expose=False))) == []


def test_tool_that_exposes_nothing_for_a_misspelt_name_is_reported_at_its_pattern(tmp_path: Path) -> None:
    files = files_of(pattern("Query", "emploees|custmer", expose=True))

    assert reported(tmp_path, files) == [
        'index.graphql:2:1 nothing-exposed: "custmer" & did you mean customer?',
        'index.graphql:2:1 nothing-exposed: "emploees" & did you mean employees?',
    ]


def test_type_without_the_fields_of_a_pattern_is_doubted(tmp_path: Path) -> None:
    files = files_of(ALL, pattern("Employee|Customer", "salary|ssn", expose=False))

    assert doubted(tmp_path, files) == [
        'index.graphql:3:1 unmatched-pattern: "Customer" in types "Employee|Customer" & fields "salary|ssn"'
    ]


def test_many_alternatives_that_match_nothing_are_counted(tmp_path: Path) -> None:
    fields = "|".join(["ssn", *(f"a{n}" for n in range(30))])

    lines = reported(tmp_path, files_of(ALL, pattern("Employee", fields, expose=False)))
    assert len(lines) == 11
    assert any("each of 20 more alternatives" in line for line in lines)


def test_pattern_with_too_many_alternatives_to_check_is_refused_only_if_it_hides(tmp_path: Path) -> None:
    many = "|".join(f"a{n}" for n in range(2000))
    product = f"({many})?({many})?({many})?salary"

    files = files_of(ALL, pattern("Employee", product, expose=False))
    assert reported(tmp_path / "hide", files) == ["index.graphql:3:1 invalid-pattern: several patterns"]
    files = files_of(ALL, pattern("Employee", product, expose=True))
    assert [line for line in doubted(tmp_path / "expose", files) if "several" in line] == []


def test_pattern_of_another_file_is_reported_where_it_is_written(tmp_path: Path) -> None:
    index = (
        'extend schema @sdl(files: ["staff.graphql"], visibility: [{expose: true, types: "Query", fields: ".*"}\n'
        '{expose: false, types: "Employee", fields: "salery|ssn"}])\ntype Query { a: Int }\n'
    )
    staff = "extend type Query { staff: Employee }\ntype Employee { salary: Int ssn: Int }"

    assert reported(tmp_path, {"index.graphql": index, "staff.graphql": staff}) == [
        'index.graphql:2:1 matches-nothing: "salery" & did you mean salary?'
    ]


def test_project_for_stepzen_is_judged_alike(tmp_path: Path) -> None:
    files = {
        **files_of(ALL, pattern("Employee", "salery|ssn", expose=False)),
        "stepzen.config.json": '{"endpoint": "api/things"}',
    }

    assert reported(tmp_path, files) == ['index.graphql:3:1 matches-nothing: "salery"']


NAMES = ["salary", "ssn", "grossPay", "netPay", "address"]


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=4),
    slip=st.none() | st.sampled_from(["salery", "snn", "payslips"]),
    grouped=st.booleans(),
)
def test_only_misspelt_names_are_reported(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], slip: str | None, *, grouped: bool
) -> None:
    alternatives = [*names, *([slip] if slip else [])]
    fields = "|".join(alternatives)
    files = files_of(ALL, pattern("Employee", f"({fields})" if grouped else fields, expose=False))
    folder = tmp_path_factory.mktemp("endpoint")

    if slip:
        (problem,) = problems_of(folder, files)
        assert f'"{slip}"' in problem.sentence or fields == slip
    else:
        try:
            compiled(folder, files)
        except CompileError as exc:
            raise AssertionError(str(exc)) from exc
