"""`stile explain`: what a caller sees, and which rule hides the rest; and `--as`, which `stile call` has too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import Stile
from tests.support.endpoints import write_endpoint
from tests.support.raw_http import answer, answering, running_server

INDEX = """
schema @tool(name: "staff", graphql: [
  {expose: true, types: "Query", fields: "employees"}, {expose: false, types: "Employee", fields: "badge"}
]) { query: Query }
type Query { employees(where: Filter): [Employee!]!, secret: Int }
type Employee { name: String, salary: Int, ssn: String, badge: String, office: String @inaccessible }
input Filter { name: String, salaryGt: Int }
"""
CONFIG = """\
access:
  policies:
    - type: Query
      policyDefault: {condition: '?$jwt'}
      rules:
        - {condition: false, fields: [secret]}
    - type: Employee
      policyDefault: {condition: true}
      rules:
        - {condition: '$jwt.role:String == "hr"', fields: [salary]}
  hide: [Employee.ssn]
"""
OPERATIONS = """
query Names @mcpTool(name: "names") { employees { name } }
query Pay @mcpTool(name: "pay") { employees { salary } }
query Old @mcpTool(name: "old", hidden: true) { employees { name } }
"""


@pytest.fixture
def folder(workplace: Path) -> str:
    files = {"index.graphql": INDEX, "config.yaml": CONFIG, "operations/o.graphql": OPERATIONS}
    write_endpoint(workplace, files)
    (workplace / "clerk.json").write_text('{"sub": "1", "role": "clerk"}', encoding="utf-8")
    (workplace / "hr.json").write_text('{"sub": "2", "role": "hr"}', encoding="utf-8")
    return "api"


def explained(stile: Stile, *arguments: str) -> dict[str, Any]:
    done = stile("explain", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    (endpoint,) = json.loads(done.out)["endpoints"]
    assert isinstance(endpoint, dict)
    return endpoint


RULE_OF_SALARY = 'api/things/config.yaml:10: $jwt.role:String == "hr"'
DENIED = "api/things/config.yaml:4: policyDefault: ?$jwt"


def test_each_hidden_coordinate_stands_with_the_rule_that_hides_it(folder: str, stile: Stile) -> None:
    told = explained(stile, folder, "--as", "clerk.json")

    assert told["caller"] == "a caller with the claims of clerk.json"
    assert told["hidden"] == {
        "Employee.office": ["@inaccessible"],
        "Employee.salary": [RULE_OF_SALARY],
        "Employee.ssn": ['api/things/config.yaml:11: access.hide "Employee.ssn"'],
        "Filter.salaryGt": [f"follows from {RULE_OF_SALARY}"],
        "Query.secret": ["api/things/config.yaml:6: false"],
    }
    assert told["hidden_by_patterns"] == {"staff": ["Employee.badge", "Query.secret"]}


def test_tools_stand_with_the_reason_why_a_caller_does_not_have_them(folder: str, stile: Stile) -> None:
    tools = {tool["name"]: tool for tool in explained(stile, folder, "--as", "clerk.json")["tools"]}

    assert {name: tool["listed"] for name, tool in tools.items()} == {
        "staff": "yes",
        "names": "yes",
        "pay": "no",
        "old": "hidden",
    }
    assert tools["pay"]["because"] == [f"Employee.salary: {RULE_OF_SALARY}"]
    assert tools["names"]["because"] == []


def test_views_are_what_the_caller_sees(folder: str, stile: Stile) -> None:
    clerk = explained(stile, folder, "--as", "clerk.json")["views"]
    hr = explained(stile, folder, "--as", "hr.json")["views"]

    assert "salary" not in clerk["staff"]
    assert [word in hr["staff"] for word in ("salary: Int", "salaryGt: Int", "ssn", "badge", "office")] == [
        *[True] * 2,
        *[False] * 3,
    ]


def test_without_a_credential_nothing_may_be_left(folder: str, stile: Stile) -> None:
    told = explained(stile, folder, "--as", "anonymous")

    assert told["caller"] == "a caller without a credential"
    assert told["views"] == {"staff": ""}
    assert {tool["listed"] for tool in told["tools"]} == {"no"}
    (staff,) = [tool for tool in told["tools"] if tool["name"] == "staff"]
    assert staff["because"] == ["nothing is left of it"]
    assert told["hidden"]["Query.employees"] == [DENIED]


def test_who_skips_policies_lacks_only_what_is_hidden_from_everybody(folder: str, stile: Stile) -> None:
    told = explained(stile, folder)

    assert told["caller"] == "a caller who skips policies"
    assert list(told["hidden"]) == ["Employee.office", "Employee.ssn"]


def test_people_read_tables_and_the_schema(folder: str, stile: Stile) -> None:
    done = stile("explain", folder, "--as", "clerk.json")

    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "api/things, for a caller with the claims of clerk.json"
    rows = [line.split() for line in lines]
    assert ["pay", "prescribed", "no", "Employee.salary:", *RULE_OF_SALARY.split()] in rows
    assert "The schema of staff" in lines
    assert "  employees(where: Filter): [Employee!]!" in lines
    assert ["Employee.salary", *RULE_OF_SALARY.split()] in rows
    assert "The patterns of staff hide beside that: Employee.badge, Query.secret" in lines


def test_one_tool_may_be_asked_for(folder: str, stile: Stile) -> None:
    told = explained(stile, folder, "--as", "clerk.json", "--tool", "pay")

    assert [tool["name"] for tool in told["tools"]] == ["pay"]
    assert told["views"] == {}


def test_a_tool_that_does_not_exist_is_told_with_those_that_do(folder: str, stile: Stile) -> None:
    done = stile("explain", folder, "--tool", "pays")

    assert (done.code, done.out) == (2, "")
    assert 'There is no tool "pays". There are: names, old, pay, staff' in done.err


def test_a_folder_with_problems_is_not_explained(folder: str, stile: Stile, workplace: Path) -> None:
    (workplace / "api" / "things" / "config.yaml").write_text("access: {policies: [{type: Quary}]}", encoding="utf-8")

    done = stile("explain", folder)

    assert (done.code, done.out) == (1, "")
    assert 'api/things/config.yaml:1:28: the schema has no type "Quary" with fields' in done.err


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (None, "absent.json: cannot be read (No such file or directory); expected a file or anonymous"),
        ("[1]", 'absent.json: expected a JSON object of claims, such as {"sub": "ada"}'),
        ("{", "absent.json is no JSON: "),
    ],
)
@pytest.mark.parametrize("command", ["explain", "call"])
def test_claims_that_cannot_be_read_are_refused(
    folder: str, stile: Stile, workplace: Path, command: str, claims: str | None, said: str
) -> None:
    if claims is not None:
        (workplace / "absent.json").write_text(claims, encoding="utf-8")

    done = stile(command, folder, *(["names"] if command == "call" else []), "--as", "absent.json")

    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_a_tool_is_called_as_somebody(folder: str, stile: Stile, workplace: Path) -> None:
    reply = answer(b'{"data": {"employees": []}}', content_type="application/json")
    with running_server(answering(reply)) as api:
        config = workplace / "api" / "things" / "config.yaml"
        config.write_text(f"upstream: {{url: '{api.url}'}}\n{CONFIG}", encoding="utf-8")

        clerk = stile("call", folder, "pay", "--as", "clerk.json")
        hr = stile("call", folder, "pay", "--as", "hr.json")

    assert (clerk.code, hr.code) == (1, 0)
    assert clerk.err.strip() == '"pay" is not for this caller: `stile explain` says why'
    assert len(api.requests) == 1
