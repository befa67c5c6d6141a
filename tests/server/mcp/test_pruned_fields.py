"""A document that names what a tool's patterns hide never leaves the process. The upstream's log is the proof."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.function import Function
from tests.support.upstream import Upstream

REFUSED = {
    "directly": '{ employee(id: "empl_01") { id ssn } }',
    "by alias": '{ employee(id: "empl_01") { name: ssn } }',
    "in a fragment": 'query { employee(id: "empl_01") { ...F } } fragment F on Employee { salary }',
    "in a nested fragment": (
        'query { employee(id: "empl_01") { ...F } } fragment F on Employee { manager { ...G } }'
        " fragment G on Employee { ssn }"
    ),
    "in an inline fragment": '{ employee(id: "empl_01") { ... on Employee { ssn } } }',
    "through an interface": '{ employee(id: "empl_01") { ... on Person { address { street } } } }',
    "through an interface's fragment": (
        'query { employee(id: "empl_01") { ...P } } fragment P on Person { address { street } }'
    ),
    "under a type that the tool does not reach": '{ employee(id: "empl_01") { ... on Customer { address { city } } } }',
    "by another root field": '{ node(id: "empl_01") { ... on Employee { ssn } } }',
    "by a union": '{ search(text: "a") { ... on Employee { ssn } } }',
    "behind @include": 'query($b: Boolean = false) { employee(id: "empl_01") { id ssn @include(if: $b) } }',
    "behind @skip": '{ employee(id: "empl_01") { id ssn @skip(if: true) } }',
    "in a second operation that is chosen": 'query A { employee(id: "x") { id } } query B { employees { ssn } }',
    "beside introspection": '{ __schema { types { name } } employee(id: "empl_01") { ssn } }',
    "as a mutation": 'mutation { placeOrder(input: {customerId: "cust_0001", lines: []}) { id } }',
    "in a subscription": 'subscription { employee(id: "empl_01") { ssn } }',
    "by the federation fields": "{ _service { sdl } }",
    "as a filter": "{ employees(where: {salaryGt: 200000}) { name } }",
    "as a filter beside another": '{ employees(where: {title: "CEO", salaryLt: 1}) { name } }',
    "as a variable's default": "query($w: EmployeeFilter = {salaryGt: 5}) { employees(where: $w) { name } }",
    "as an order": "{ employees(orderBy: SALARY_ASC) { name } }",
    "as an order's default": "query($o: EmployeeOrder! = SALARY_DESC) { employees(orderBy: $o) { name } }",
    "with an empty selection set": '{ employee(id: "empl_01") { } }',
}


@pytest.mark.parametrize("way", REFUSED)
def test_pruned_field_is_refused_here(function: Function, upstream: Upstream, way: str) -> None:
    upstream.clear()

    answer = function.query("employee-lookup", REFUSED[way], operationName="B" if "query B" in REFUSED[way] else None)

    assert answer.result["isError"] is True
    assert answer.text.startswith("The GraphQL request was refused: ")
    assert upstream.requests() == []


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("query($w: EmployeeFilter) { employees(where: $w) { name } }", {"w": {"salaryGt": 200_000}}),
        ("query($n: Float) { employees(where: {salaryGt: $n}) { name } }", {"n": 5}),
        ("query($o: EmployeeOrder!) { employees(orderBy: $o) { name } }", {"o": "SALARY_ASC"}),
    ],
)
def test_pruned_field_is_refused_in_variables_too(
    function: Function, upstream: Upstream, query: str, variables: dict[str, Any]
) -> None:
    upstream.clear()

    answer = function.query("employee-lookup", query, variables=variables)

    assert answer.result["isError"] is True
    assert upstream.requests() == []


def test_filters_and_orders_that_name_no_pruned_field_are_answered(function: Function, upstream: Upstream) -> None:
    answer = function.query("employee-lookup", '{ employees(where: {nameContains: "a"}, orderBy: NAME_DESC) { name } }')

    rows = upstream.query_rows("select name from employees where name like '%a%' order by name desc")
    names = [row["name"] for row in rows]
    assert [employee["name"] for employee in json.loads(answer.text)["data"]["employees"]] == names[:20]


def test_unrestricted_callers_do_not_get_pruned_fields_either(dev_function: Function, upstream: Upstream) -> None:
    upstream.clear()

    answer = dev_function.query("employee-lookup", REFUSED["directly"])

    assert answer.result["isError"] is True
    assert upstream.requests() == []


def test_visible_fields_of_the_same_type_are_answered(function: Function, upstream: Upstream) -> None:
    upstream.clear()

    answer = function.query("employee-lookup", '{ employee(id: "empl_01") { ... on Person { email } manager { id } } }')

    (row,) = upstream.query_rows("select email from employees where id = 'empl_01'")
    assert json.loads(answer.text) == {"data": {"employee": {"email": row["email"], "manager": None}}}
    assert len(upstream.requests()) == 1


@pytest.mark.parametrize(
    "query",
    [
        '{ __type(name: "Employee") { fields { name } } }',
        '{ f: __type(name: "EmployeeFilter") { inputFields { name } } q: __type(name: "Employee") { name } }',
        '{ o: __type(name: "EmployeeOrder") { enumValues { name } } q: __type(name: "Employee") { name } }',
        "{ __schema { types { name fields { name args { name } } inputFields { name } enumValues { name } } } }",
        '{ t: __type(name: "Person") { ...T } } fragment T on __Type { fields { name } possibleTypes { name } }',
    ],
)
def test_introspection_is_answered_from_the_view_and_not_sent(
    function: Function, upstream: Upstream, query: str
) -> None:
    upstream.clear()

    text = function.query("employee-lookup", query).text

    assert "employees" in text or "hiredOn" in text or '"Employee"' in text
    for hidden in ("ssn", "salary", "SALARY", "Address", "customer", "Customer", "placeOrder", "Mutation"):
        assert hidden not in text
    assert upstream.requests() == []


def test_schema_shown_to_the_model_names_no_pruned_field(function: Function) -> None:
    tools = {tool["name"]: tool for tool in function.request("tools/list").result["tools"]}

    sdl = tools["employee-lookup"]["inputSchema"]["properties"]["query"]["description"]

    assert "type Employee" in sdl
    for hidden in ("ssn", "salary", "SALARY", "Address", "type Customer", "Mutation"):
        assert hidden not in sdl


def test_descriptions_in_the_models_document_are_not_sent(function: Function, upstream: Upstream) -> None:
    upstream.clear()

    function.query(
        "employee-lookup",
        '"""about it""" query Q("""which""" $id: ID!) { employee(id: $id) { id } }',
        variables={"id": "empl_01", "undeclared": 1},
    )

    (request,) = upstream.requests()
    body = json.loads(request["body"])
    assert body["query"] == "query Q($id: ID!) {\n  employee(id: $id) {\n    id\n  }\n}"
    assert body["operationName"] == "Q"
    assert body["variables"] == {"id": "empl_01"}
