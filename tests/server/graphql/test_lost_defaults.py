"""A default that names something hidden: the API would apply it, so a caller has to give the input."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from graphql import execute_sync, get_introspection_query, parse

from tests.support.api import Api, running_api
from tests.support.endpoints import PUBLIC, compiled, graphql_tool, prescribed_tool, reported
from tests.support.function import Function, running_function
from tests.support.schemas import schema_of_sdl

SDL = """
type Query {
  employees(orderBy: [Order!] = [NAME, SALARY], sort: Sort = {}): [Employee!]
  people(by: Order! = SALARY, page: Page = {size: 2}): [Person!]
}
type Mutation { rank(sort: Sort): Int }
directive @sorted(by: Order = SALARY) on QUERY
interface Person { name: String reports(by: Order = NAME): [Employee!] }
type Employee implements Person { name: String salary: Int reports(by: Order = SALARY): [Employee!] }
input Sort { by: Order = SALARY, then: Order = NAME }
input Page { size: Int, sort: Sort }
enum Order { NAME SALARY }
"""
SHOWN = """\
  employees(orderBy: [Order!]!, sort: Sort!): [Employee!]
  people(by: Order!, page: Page = { size: 2 }): [Person!]
"""
NEVER = """
type Query {
  employees(orderBy: [Order!]!, sort: Sort!): [Employee!]
  people(by: Order!, page: Page = { size: 2 }): [Person!]
}
type Mutation { rank(sort: Sort): Int }
directive @sorted(by: Order!) on QUERY
interface Person { name: String reports(by: Order!): [Employee!] }
type Employee implements Person { name: String reports(by: Order!): [Employee!] }
input Sort { by: Order!, then: Order = NAME }
input Page { size: Int, sort: Sort }
enum Order { NAME }
"""
TOOL = 'extend schema @tool(name: "ask", graphql: [{expose: true, types: "Query|Mutation", fields: ".*"}])\n'
RANK = 'mutation Rank($sort: Sort) @mcpTool(name: "rank") { rank(sort: $sort) }'

REFUSED = {
    "nothing given": "{ people(page: {size: 1}) { name } }",
    "nothing given for a list": "{ employees(sort: {by: NAME}) { name } }",
    "an empty object for a default of its own field": "{ employees(orderBy: NAME, sort: {}) { name } }",
    "no object, whose own default would be empty": "{ employees(orderBy: NAME) { name } }",
    "null": "{ employees(orderBy: null, sort: {by: null}) { name } }",
    "a variable without a value": "query ($by: Order) { people(by: $by) { name } }",
    "a variable of an object": "query ($sort: Sort!) { employees(orderBy: NAME, sort: $sort) { name } }",
    "nothing given on an interface": "{ people(by: NAME) { reports { name } } }",
    "nothing given below": "{ people(by: NAME, page: {sort: {then: NAME}}) { name } }",
    "a directive": "query @sorted { people(by: NAME) { name } }",
    "the value": "{ people(by: SALARY) { name } }",
    "a mutation": "mutation { rank(sort: {}) }",
}
ACCEPTED = {
    "another value": "{ people(by: NAME) { name reports(by: NAME) { name } } }",
    "an object": "{ employees(orderBy: [NAME], sort: {by: NAME}) { name } }",
    "a variable": "query ($by: Order!) @sorted(by: $by) { people(by: $by) { name } }",
    "a mutation": "mutation { rank(sort: {by: NAME}) }",
}
VARIABLES: Mapping[str, Any] = {"a variable": {"by": "NAME"}, "a variable of an object": {"sort": {"then": "NAME"}}}


def files(sdl: str, url: str, *, policy: bool = False, hide: bool = True, operation: str = "") -> dict[str, str]:
    rule = '    - {type: Employee, policyDefault: {condition: true}, rules: [{condition: "?$jwt", fields: [salary]}]}\n'
    access = PUBLIC + (rule if policy else "  hide: [Employee.salary]\n" if hide else "")
    written = {"index.graphql": TOOL + sdl, "config.yaml": f'{access}upstream: {{url: "{url}"}}\n'}
    return written | ({"operations/rank.graphql": operation} if operation else {})


@contextmanager
def served(folder: Path, api: Api, sdl: str = SDL, **options: Any) -> Iterator[Function]:
    with running_function(compiled(folder, files(sdl, api.url, **options))) as function:
        yield function


@pytest.mark.parametrize("policy", [False, True], ids=["hidden", "policy"])
@pytest.mark.parametrize("case", [*REFUSED, *(f"accepted: {each}" for each in ACCEPTED)])
def test_request_is_answered_as_if_neither_value_nor_default_had_existed(
    tmp_path: Path, case: str, policy: bool
) -> None:
    name = case.removeprefix("accepted: ")
    document = REFUSED[case] if case in REFUSED else ACCEPTED[name]
    with running_api() as api:
        with served(tmp_path / "hidden", api, policy=policy) as function:
            answer = function.query("ask", document, variables=VARIABLES.get(name, {}))
        asked = len(api.asked)
        with served(tmp_path / "never", api, NEVER, hide=False) as function:
            expected = function.query("ask", document, variables=VARIABLES.get(name, {}))

    assert answer.body == expected.body
    assert (asked == 0) is (case in REFUSED)


@pytest.mark.parametrize("policy", [False, True], ids=["hidden", "policy"])
def test_introspection_and_the_listed_schema_show_an_input_without_its_default(tmp_path: Path, policy: bool) -> None:
    with running_api() as api, served(tmp_path, api, policy=policy) as function:
        (entry,) = function.request("tools/list").result["tools"]
        answer = function.query("ask", get_introspection_query(one_of=True))

    assert SHOWN in entry["inputSchema"]["properties"]["query"]["description"]
    shown = schema_of_sdl(NEVER)
    expected = execute_sync(shown, parse(get_introspection_query(one_of=True))).data
    assert expected is not None
    assert _by_name(json.loads(answer.result["content"][0]["text"])["data"]) == _by_name(expected)


def _by_name(introspected: Any) -> dict[str, Any]:
    schema = introspected["__schema"]
    found = {each["name"]: each for each in (*schema["types"], *schema["directives"])}
    return {name: each for name, each in found.items() if not name.startswith("__")}


def test_arguments_of_a_tool_need_what_has_no_default_for_its_caller(tmp_path: Path) -> None:
    made = compiled(tmp_path, files(SDL, "http://127.0.0.1:9/graphql", operation=RANK))
    tool = prescribed_tool(made, "rank")

    assert tool.entry["inputSchema"]["properties"]["sort"] == {
        "type": "object",
        "properties": {
            "by": {"type": "string", "enum": ["NAME"]},
            "then": {"type": "string", "enum": ["NAME"], "default": "NAME"},
        },
        "required": ["by"],
    }


@pytest.mark.parametrize(("sort", "sent"), [({}, False), ({"by": None}, False), ({"by": "NAME"}, True)])
@pytest.mark.parametrize("policy", [False, True], ids=["hidden", "policy"])
def test_call_without_a_value_for_a_lost_default_is_refused(
    tmp_path: Path, sort: dict[str, Any], sent: bool, policy: bool
) -> None:
    with running_api() as api, served(tmp_path, api, policy=policy, operation=RANK) as function:
        listed = {each["name"]: each for each in function.request("tools/list").result["tools"]}
        function.call("rank", {"sort": sort})

    assert bool(api.asked) is sent
    assert listed["rank"]["inputSchema"]["properties"]["sort"]["required"] == ["by"]
    assert "default" not in listed["rank"]["inputSchema"]["properties"]["sort"]["properties"]["by"]


@pytest.mark.parametrize(
    ("operation", "listed"),
    [
        ("query Rank($by: Order) { people(by: $by) { name } }", False),
        ("query Rank($by: Order) { employees(orderBy: NAME, sort: {by: $by}) { name } }", False),
        ("query Rank($by: Order) @sorted(by: $by) { people(by: NAME) { name } }", False),
        ("query Rank($by: Order) { ...A } fragment A on Query { people(by: $by) { name } }", False),
        ("query Rank($by: Order!) { people(by: $by) { name } }", True),
        ("query Rank($by: Order! = NAME) { people(by: $by) { name } }", True),
        ("query Rank($by: Order) { people(by: NAME, page: {sort: {by: NAME, then: $by}}) { name } }", True),
    ],
)
@pytest.mark.parametrize("policy", [False, True], ids=["hidden", "policy"])
def test_tool_whose_variable_leaves_the_choice_to_a_lost_default_is_hidden(
    tmp_path: Path, operation: str, listed: bool, policy: bool
) -> None:
    operation = operation.replace(")", ') @mcpTool(name: "rank")', 1)
    with running_api() as api, served(tmp_path, api, policy=policy, operation=operation) as function:
        names = {each["name"] for each in function.request("tools/list").result["tools"]}
        function.call("rank", {})

    assert ("rank" in names) is listed
    assert bool(api.asked) is (listed and "Order!)" not in operation)


def test_argument_that_only_an_implementer_has_takes_its_field_along(tmp_path: Path) -> None:
    sdl = SDL.replace(
        "type Employee implements Person {", "type Employee implements Person { boss(by: Order = SALARY): Person"
    )
    sdl = sdl.replace("interface Person {", "interface Person { boss: Person")
    made = compiled(tmp_path, files(sdl, "http://127.0.0.1:9/graphql"))

    hidden = made.bundle.guards.keys()
    assert {"Employee.boss", "Person.boss", "Employee.boss(by:)="} <= hidden
    assert "Employee.reports" not in hidden
    assert graphql_tool(made, "ask").name == "ask"


def test_example_that_leaves_the_choice_to_a_lost_default_is_reported(tmp_path: Path) -> None:
    operation = RANK.replace('"rank")', '"rank", examples: [{sort: {}}])')
    written = files(SDL, "http://127.0.0.1:9/graphql", policy=True, operation=operation)

    assert any("$sort uses Sort.by=" in each for each in reported(tmp_path, written))
