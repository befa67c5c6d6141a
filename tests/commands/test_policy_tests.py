"""``policies.test.yaml``: what callers are expected to have, judged by the endpoint as it is served."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import Stile
from tests.support.endpoints import write_endpoint

INDEX = """
schema
  @tool(name: "ask", graphql: [{expose: true, types: "Query", fields: "employees|open"}])
  @tool(name: "boss", graphql: [{expose: true, types: "Query", fields: ".*"}], condition: "?$jwt.boss")
{ query: Query }
type Query { employees(where: Filter): [Employee] open: Int mine(id: ID!): Int }
type Employee { name: String salary: Int }
input Filter { salaryGt: Int name: String }
"""
CONFIG = """\
upstream: {url: "https://api.example.com/graphql"}
identity:
  api_keys:
    - {name: partner, sha256: 5d8ba18e0a5bb0e4b9c8c0b8b7d0f0f0d8d7f0b2b0c4d1a9e3f2a1b0c9d8e7f6, claims: {kind: partner}}
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
      rules: [{condition: "$jwt.sub:String == $variables.id:String", fields: [mine]}]
    - type: Employee
      policyDefault: {condition: true}
      rules: [{condition: '$jwt.role:String == "hr"', fields: [salary]}]
"""
OPERATIONS = """
query Pay @mcpTool(name: "my_pay", aliases: ["pay"]) { employees { salary } }
query Mine($id: ID!) @mcpTool(name: "mine") { mine(id: $id) }
query Scoped @mcpTool(name: "scoped", scopes: ["orders:read"]) { open }
query Find($where: Filter) @mcpTool(name: "find", hidden: true) { employees(where: $where) { name } }
"""
HR = "{claims: {role: hr, sub: e1, scope: 'orders:read'}}"


@pytest.fixture
def folder(workplace: Path) -> Path:
    files = {"index.graphql": INDEX, "config.yaml": CONFIG, "operations/all.graphql": OPERATIONS}
    return write_endpoint(workplace, files)


def checked(stile: Stile, folder: Path, tests: str, *options: str) -> tuple[int, list[str]]:
    """The exit code of check, and each problem with its place and code."""
    (folder / "policies.test.yaml").write_text(tests, encoding="utf-8")
    done = stile("check", ".", "--json", *options)
    (endpoint,) = json.loads(done.out)["endpoints"]
    return done.code, [_line(problem) for problem in endpoint["problems"]]


def _line(problem: dict[str, Any]) -> str:
    place = f"{Path(problem['file']).name}:{problem['line']}:{problem['column']}"
    return f"{place} {problem['code']}: {problem['sentence']}"


def test_met_expectations_are_no_problem(folder: Path, stile: Stile) -> None:
    (folder / "clerk.json").write_text('{"sub": "e2"}', encoding="utf-8")
    tests = f"""
- as: anonymous
  sees: [ask, find, Employee.name, Employee, Query.open, Filter.name, "Query.employees(where:)"]
  not: [my_pay, boss, mine, scoped, Employee.salary, Filter.salaryGt, Query.mine]
  tools: {{exactly: [ask, find]}}
  may: [{{tool: ask, arguments: {{query: "{{ employees {{ name }} }}"}}}}, find]
  may_not:
    - {{tool: ask, arguments: {{query: "{{ employees {{ salary }} }}"}}}}
    - {{tool: ask, arguments: {{query: "{{ employees(where: {{salaryGt: 1}}) {{ name }} }}"}}}}
    - {{tool: find, arguments: {{where: {{salaryGt: 1}}}}}}
    - my_pay
- as: {HR}
  sees: [my_pay, pay, mine, scoped, Employee.salary, Filter.salaryGt]
  not: [boss]
  may: [{{tool: mine, arguments: {{id: e1}}}}, {{tool: find, arguments: {{where: {{salaryGt: 1}}}}}}]
  may_not: [{{tool: mine, arguments: {{id: e2}}}}]
- as: clerk.json
  not: [Employee.salary]
- as: key:partner
  not: [Employee.salary, boss]
"""

    assert checked(stile, folder, tests) == (0, [])


POLICY = 'config.yaml:13:27: $jwt.role:String == "hr"'
UNMET: list[tuple[str, str]] = [
    ("{as: anonymous, sees: [^my_pay]}", f"anonymous does not have my_pay: Employee.salary: {POLICY}"),
    (
        "{as: anonymous, sees: [^boss]}",
        "anonymous does not have boss: tool boss: index.graphql:4:91: condition of boss: ?$jwt.boss",
    ),
    (
        "{as: {claims: {sub: a}}, sees: [^scoped]}",
        "the caller of line 1 does not have scoped: it needs the scopes orders:read",
    ),
    (
        "{as: anonymous, sees: [^Employee.salary]}",
        f"anonymous does not reach Employee.salary: Employee.salary: {POLICY}, tool boss: ",
    ),
    (
        "{as: anonymous, not: [^Employee.name]}",
        "anonymous reaches Employee.name, but should not: by ask ({ employees { name } }), find (employees > name)",
    ),
    (
        "{as: anonymous, not: [^find]}",
        "anonymous has find, but should not; open by config.yaml:9:34: policyDefault: true, ",
    ),
    (
        "{as: anonymous, tools: {exactly: [ask, find, ^boss]}}",
        "anonymous does not have boss: tool boss: ",
    ),
    (
        f"{{as: {HR}, may_not: [{{tool: ^mine, arguments: {{id: e1}}}}]}}",
        "the caller of line 1 calls mine: the call is let through",
    ),
    (
        f"{{as: {HR}, may: [{{tool: ^mine, arguments: {{id: e2}}}}]}}",
        "the caller of line 1 calls mine: You are not allowed to make this call with these values.",
    ),
]
MISTAKES: list[tuple[str, str, str]] = [
    ("{as: anonymous, not: [^my_pya]}", "unknown-expectation", 'there is no tool and no type "my_pya"; did you mean'),
    ("{as: anonymous, not: [^Employee.salry]}", "unknown-expectation", '"Employee.salry": "Employee" has no field'),
    ("{as: anonymous, not: [^Employe.salary]}", "unknown-expectation", '"Employe.salary": the schema has no type'),
    (
        "{as: anonymous, tools: {exactly: [^aks, ask, find]}}",
        "unknown-expectation",
        'there is no tool "aks"; did you mean ask?',
    ),
    (
        "{as: anonymous, may_not: [{tool: ^mine, arguments: {idd: e1}}]}",
        "unknown-expectation",
        "this is a call of nobody: Invalid arguments for tool mine: /id",
    ),
    (
        '{as: anonymous, may_not: [{tool: ^ask, arguments: {query: "{ employees { salry } }"}}]}',
        "unknown-expectation",
        "this is a call of nobody: The GraphQL request was refused: 1:15: Cannot query field 'salry'",
    ),
    (
        "{as: ^key:partnr, not: [boss]}",
        "unknown-caller",
        'api/things: there is no API key "partnr"; did you mean partner?',
    ),
    ("{as: ^nobody.json, not: [boss]}", "unknown-caller", "nobody.json: cannot be read"),
    ("{as: {claims: ^[1]}, not: [boss]}", "invalid-value", '"tests[0].as.claims": expected a mapping'),
    ("^{as: anonymous}", "invalid-value", '"tests[0].sees": expected one of sees, not'),
    (
        "{as: anonymous, ^see: [ask], not: [boss]}",
        "unknown-key",
        'unknown key "tests[0].see": expected one of as, sees',
    ),
    ("^{not: [boss]}", "invalid-value", '"tests[0].as": expected anonymous'),
    ("{as: anonymous, not: ^[]}", "invalid-value", '"tests[0].not": expected at least one'),
    ("{as: anonymous, sees: [ask], may_not: ^[]}", "invalid-value", '"tests[0].may_not": expected at least one'),
    ("{as: anonymous, tools: ^{}}", "invalid-value", '"tests[0].tools": expected {exactly: […]}'),
]


@pytest.mark.parametrize(
    ("entry", "code", "sentence"),
    [*((entry, "unmet-expectation", sentence) for entry, sentence in UNMET), *MISTAKES],
    ids=lambda each: each[:60],
)
def test_problem_says_where_and_which_rule(folder: Path, stile: Stile, entry: str, code: str, sentence: str) -> None:
    line = f"- {entry}"
    exit_code, (problem,) = checked(stile, folder, line.replace("^", ""))

    assert exit_code == 1
    assert problem.startswith(f"policies.test.yaml:1:{line.index('^') + 1} {code}: {sentence}")


@pytest.mark.parametrize(
    "text", ["as: anonymous\n", "- 5\n", "- [a]\n", "just text", "- as: 'anonymous\n", "\t- x", "- *a"]
)
def test_file_that_is_no_list_of_entries_is_a_problem(folder: Path, stile: Stile, text: str) -> None:
    code, problems = checked(stile, folder, text)

    assert (code, bool(problems)) == (1, True)


@pytest.mark.parametrize("text", ["", "# - {as: anonymous, not: [ask]}\n", "[]\n"])
def test_file_that_expects_nothing_is_a_problem(folder: Path, stile: Stile, text: str) -> None:
    code, (problem,) = checked(stile, folder, text)

    assert code == 1
    assert problem.startswith("policies.test.yaml:1:1 unknown-expectation: it expects nothing: write an entry")


def test_tool_that_nobody_expects_is_found_by_the_list(folder: Path, stile: Stile) -> None:
    code, (problem,) = checked(stile, folder, "- {as: anonymous, tools: {exactly: [ask]}}\n")

    assert code == 1
    assert problem.startswith("policies.test.yaml:1:27 unmet-expectation: anonymous has find, but should not")
    assert problem.endswith("it is not among the expected tools")


def test_challenged_callers_have_nothing(folder: Path, stile: Stile) -> None:
    (folder / "config.yaml").write_text(CONFIG.replace("anonymous: allow", "anonymous: challenge"), encoding="utf-8")
    tests = "- {as: anonymous, not: [ask, Employee.name], tools: {exactly: []}, may_not: [find]}\n"

    assert checked(stile, folder, tests) == (0, [])
    code, (problem,) = checked(stile, folder, "- {as: anonymous, sees: [ask]}\n")
    assert (code, problem.endswith("anonymous does not have ask: access.anonymous is challenge")) == (1, True)


def test_stage_is_judged_by_its_own_configuration(folder: Path, stile: Stile) -> None:
    (folder / "config.prod.yaml").write_text("access: {anonymous: challenge}\n", encoding="utf-8")
    tests = "- {as: anonymous, not: [ask], stages: [prod]}\n- {as: anonymous, sees: [ask], stages: ['']}\n"

    assert checked(stile, folder, tests) == checked(stile, folder, tests, "--stage", "prod") == (0, [])
    assert checked(stile, folder, "- {as: anonymous, not: [ask]}\n", "--stage", "prod") == (0, [])
    assert checked(stile, folder, "- {as: anonymous, not: [ask]}\n")[0] == 1


@pytest.mark.parametrize(
    "command", [["publish", ".", "out", "--create"], ["build", ".", "--out", "out"], ["check", "."]]
)
def test_endpoint_with_an_unmet_expectation_is_not_stored(
    folder: Path, workplace: Path, stile: Stile, command: list[str]
) -> None:
    (folder / "policies.test.yaml").write_text("- {as: anonymous, not: [ask]}\n", encoding="utf-8")

    done = stile(*command)

    assert done.code == 1
    assert "policies.test.yaml:1:25: anonymous has ask, but should not" in done.out + done.err
    assert not (workplace / "out").exists()


def test_file_is_not_in_the_bundle(folder: Path, workplace: Path, stile: Stile) -> None:
    def built() -> bytes:
        assert stile("build", ".", "--out", "out").code == 0
        (bundle,) = (workplace / "out").glob("api/things/bundle.*")
        return bundle.read_bytes()

    before = built()
    (folder / "policies.test.yaml").write_text("- {as: anonymous, sees: [ask]}\n", encoding="utf-8")

    assert built() == before
    assert stile("check", ".", "--strict").err == ""


def test_explain_and_call_do_not_need_met_expectations(folder: Path, stile: Stile) -> None:
    (folder / "policies.test.yaml").write_text("- {as: anonymous, not: [ask]}\n", encoding="utf-8")

    assert stile("explain", ".", "--as", "anonymous").code == 0


def test_entry_of_a_stage_that_does_not_exist_is_a_problem(folder: Path, stile: Stile) -> None:
    code, (problem,) = checked(stile, folder, "- {as: anonymous, sees: [Employee.salary], stages: [prdo]}\n")

    assert code == 1
    assert problem.startswith('policies.test.yaml:1:53 unknown-expectation: there is no stage "prdo"')


@pytest.mark.parametrize(
    ("name", "said"),
    [("/dev/zero", "it is not a file"), ("pipe", "it is not a file"), ("large", "more than 100,000 bytes")],
)
def test_file_of_claims_that_has_no_end_is_refused(folder: Path, stile: Stile, name: str, said: str) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "large").write_text("[" * 100_001, encoding="utf-8")

    code, (problem,) = checked(stile, folder, f"- {{as: {name}, sees: [ask]}}\n")

    assert code == 1
    assert problem.startswith(f"policies.test.yaml:1:8 unknown-caller: {name}: ")
    assert said in problem
