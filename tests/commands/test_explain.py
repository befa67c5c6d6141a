"""`stile explain`: what a caller sees, and which rule hides the rest; and `--as`, which `stile call` has too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import Stile, ran, ran_on_terminal
from tests.support.endpoints import READABLE, write_endpoint
from tests.support.jobs import files_of
from tests.support.raw_http import answer, answering, running_server

INDEX = """
schema @tool(name: "staff", graphql: [
  {expose: true, types: "Query", fields: "employees"}, {expose: false, types: "Employee", fields: "badge"}
]) { query: Query }
type Query { employees(where: Filter): [Employee!]!, secret: Int }
type Employee { name: String, salary: Int, ssn: String, badge: String, office: String @inaccessible }
input Filter { name: String, salaryGt: Int }
"""
PAY = "type Pay { amount: Int iban: String }"
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
    assert told["hidden_by_patterns"] == {"staff": ["Employee.badge"]}


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


def test_a_type_that_is_lost_with_its_members_names_the_rules_of_these(
    folder: str, stile: Stile, workplace: Path
) -> None:
    index = workplace / "api" / "things" / "index.graphql"
    index.write_text(INDEX.replace("name: String, salary", "pay: Pay, name: String, salary") + PAY, encoding="utf-8")
    config = workplace / "api" / "things" / "config.yaml"
    rules = (
        "{type: Pay, rules: [{condition: '$jwt.a:Int == 1', fields: [amount]}, {condition: '?$jwt.b', fields: [iban]}]}"
    )
    config.write_text(CONFIG.replace("  hide:", f"    - {rules}\n  hide:"), encoding="utf-8")

    hidden = explained(stile, folder, "--as", "clerk.json")["hidden"]

    assert hidden["Pay.amount"] == ["api/things/config.yaml:11: $jwt.a:Int == 1"]
    both = [f"follows from api/things/config.yaml:11: {text}" for text in ("$jwt.a:Int == 1", "?$jwt.b")]
    assert hidden["Pay"] == hidden["Employee.pay"] == both
    (workplace / "clerk.json").write_text('{"a": 1}', encoding="utf-8")
    assert "Employee.pay" not in explained(stile, folder, "--as", "clerk.json")["hidden"]


def test_without_a_credential_nothing_may_be_left(folder: str, stile: Stile) -> None:
    told = explained(stile, folder, "--as", "anonymous")

    assert told["caller"] == "a caller without a credential"
    assert told["views"] == {"staff": ""}
    assert {tool["listed"] for tool in told["tools"]} == {"no"}
    (staff,) = [tool for tool in told["tools"] if tool["name"] == "staff"]
    assert staff["because"] == [f"Query.employees: {DENIED}"]
    assert told["hidden"]["Query.employees"] == [DENIED]


def test_who_skips_policies_lacks_only_what_is_hidden_from_everybody(folder: str, stile: Stile) -> None:
    told = explained(stile, folder)

    assert told["caller"] == "a caller who skips policies"
    assert list(told["hidden"]) == ["Employee.office", "Employee.ssn"]


def test_people_read_a_summary(folder: str, stile: Stile) -> None:
    done = stile("explain", folder, "--as", "clerk.json")

    assert done.code == 0
    assert done.out.splitlines() == [
        "api/things, for a caller with the claims of clerk.json",
        "Tools",
        "tool   kind        for this caller",
        "staff  graphql     part (2 of 3)",
        "names  prescribed  yes",
        "pay    prescribed  -",
        "old    prescribed  yes, not listed",
        "pay is not for this caller:",
        f"  {RULE_OF_SALARY}",
        "    Employee.salary",
        "Hidden: 5 parts",
        "  @inaccessible",
        "    Employee.office",
        f"  {RULE_OF_SALARY}",
        "    Employee.salary; with it: Filter.salaryGt",
        '  api/things/config.yaml:11: access.hide "Employee.ssn"',
        "    Employee.ssn",
        "  api/things/config.yaml:6: false",
        "    Query.secret",
        "Hidden by the patterns of staff (api/things/index.graphql:2): Employee.badge",
    ]


def test_people_read_schemas_if_they_ask_for_everything(folder: str, stile: Stile) -> None:
    lines = stile("explain", folder, "--as", "clerk.json", "--full").out.splitlines()

    assert "The schema of staff" in lines
    assert "  employees(where: Filter): [Employee!]!" in lines


def test_one_tool_may_be_asked_for(folder: str, stile: Stile) -> None:
    told = explained(stile, folder, "--as", "clerk.json", "--tool", "pay")

    assert [tool["name"] for tool in told["tools"]] == ["pay"]
    assert told["views"] == {}


def test_a_tool_that_does_not_exist_is_told_with_those_that_do(folder: str, stile: Stile) -> None:
    done = stile("explain", folder, "--tool", "pays")

    assert (done.code, done.out) == (2, "")
    assert 'There is no tool "pays"; did you mean pay? There are: names, old, pay, staff' in done.err


def test_a_folder_with_problems_is_not_explained(folder: str, stile: Stile, workplace: Path) -> None:
    (workplace / "api" / "things" / "config.yaml").write_text("access: {policies: [{type: Quary}]}", encoding="utf-8")

    done = stile("explain", folder)

    assert (done.code, done.out) == (1, "")
    assert 'api/things/config.yaml:1:28: the schema has no type "Quary" with fields' in done.err


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (None, "absent.json: cannot be read (No such file or directory); expected anonymous, a JSON file with"),
        ("[1]", 'absent.json: expected a JSON object of claims, such as {"sub": "ada"}'),
        ("{", "absent.json: invalid JSON: "),
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
    refused = '"pay" is not for this caller: the function answers -32602, Unknown tool: pay. `stile explain` says why'
    assert clerk.err.strip() == refused
    assert len(api.requests) == 1


def write_changed(workplace: Path, *, index: str = INDEX, config: str = CONFIG, operations: str = OPERATIONS) -> None:
    write_endpoint(workplace, {"index.graphql": index, "config.yaml": config, "operations/o.graphql": operations})


def test_a_constant_that_hides_a_tool_is_named(folder: str, stile: Stile, workplace: Path) -> None:
    operation = (
        'query Rich($where: Filter! @mcpBind(value: {salaryGt: 3})) @mcpTool(name: "rich") '
        "{ employees(where: $where) { name } }"
    )
    write_changed(workplace, operations=operation)

    (told,) = explained(stile, folder, "--as", "clerk.json", "--tool", "rich")["tools"]
    (open_to_hr,) = explained(stile, folder, "--as", "hr.json", "--tool", "rich")["tools"]

    assert (told["listed"], told["because"]) == ("no", [f"Filter.salaryGt: follows from {RULE_OF_SALARY}"])
    assert (open_to_hr["listed"], open_to_hr["because"]) == ("yes", [])


CLOSED = """\
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: false}
      rules: [{condition: true, fields: [employees, __type]}]
"""
FEDERATED = """
schema @tool(name: "staff", graphql: {expose: true, types: "Query", fields: "employees"}) { query: Root }
type Root { employees: Int, _service: Service, _entities: Int } type Service { sdl: String }
"""
OF_NOBODY = "gives all there is, and no rule names it (at /graphql)"


@pytest.mark.parametrize("mode", ["on", "persisted"])
def test_introspection_that_the_policy_of_query_closes_is_among_the_hidden(
    folder: str, stile: Stile, workplace: Path, mode: str
) -> None:
    write_changed(workplace, config=f"graphql: {mode}\n{CLOSED}")

    hidden = explained(stile, folder, "--as", "clerk.json")["hidden"]

    assert hidden["Query.__schema"] == ["api/things/config.yaml:6: policyDefault: false (at /graphql)"]
    assert "Query.__type" not in hidden
    assert "Query.__schema" not in explained(stile, folder)["hidden"]  # whoever skips policies


def test_introspection_is_not_told_of_where_there_is_no_graphql_or_one_tool_is_asked_for(
    folder: str, stile: Stile, workplace: Path
) -> None:
    write_changed(workplace, config=f"graphql: off\n{CLOSED}")
    off = explained(stile, folder, "--as", "clerk.json")["hidden"]
    write_changed(workplace, config=CLOSED)
    one = explained(stile, folder, "--as", "clerk.json", "--tool", "names")["hidden"]

    for hidden in (off, one):
        assert not [coordinate for coordinate in hidden if "__" in coordinate]
        assert "Query.secret" in hidden


def test_fields_of_federation_are_among_the_hidden_until_a_rule_names_them(
    folder: str, stile: Stile, workplace: Path
) -> None:
    config = CLOSED.replace("employees, __type", "employees, _service")
    write_changed(workplace, index=FEDERATED, config=config, operations="query O { employees }")

    hidden = explained(stile, folder, "--as", "clerk.json")["hidden"]

    default = "api/things/config.yaml:5: policyDefault: false"
    assert hidden == {
        "Root._entities": [default, OF_NOBODY],
        "Root.__schema": [f"{default} (at /graphql)"],
        "Root.__type": [f"{default} (at /graphql)"],
    }
    assert explained(stile, folder)["hidden"] == {"Root._entities": [OF_NOBODY]}


def test_each_tool_stands_with_the_place_where_it_is_declared(folder: str, stile: Stile) -> None:
    places = {tool["name"]: tool["at"] for tool in explained(stile, folder)["tools"]}

    assert places == {
        "staff": "api/things/index.graphql:2",
        "names": "api/things/operations/o.graphql:2",
        "pay": "api/things/operations/o.graphql:3",
        "old": "api/things/operations/o.graphql:4",
    }


SCOPED = 'query Names @mcpTool(name: "names", scopes: ["a:b", "c"]) { employees { name } }'


@pytest.mark.parametrize(
    ("caller", "lacking", "said"),
    [
        (["--as", "claims.json"], ["a:b"], "this caller lacks a:b"),
        (["--as", "anonymous"], ["a:b", "c"], "this caller lacks a:b c"),
        (["--as", "enough.json"], [], "this caller has them"),
        ([], [], "this caller is not asked for them"),
    ],
)
def test_scopes_of_a_tool_are_told_with_those_that_the_caller_lacks(
    folder: str, stile: Stile, workplace: Path, caller: list[str], lacking: list[str], said: str
) -> None:
    write_changed(workplace, operations=SCOPED)
    (workplace / "claims.json").write_text('{"scope": "c d"}', encoding="utf-8")
    (workplace / "enough.json").write_text('{"scp": ["c", "a:b"]}', encoding="utf-8")

    (told,) = explained(stile, folder, *caller, "--tool", "names")["tools"]
    lines = stile("explain", folder, *caller).out.splitlines()

    assert (told["scopes"], told["lacking"]) == (["a:b", "c"], lacking)
    assert [line for line in lines if "scopes" in line] == [f"names asks for the scopes a:b c: {said}"]


def test_a_challenge_is_told_once_and_by_the_setting(folder: str, stile: Stile, workplace: Path) -> None:
    write_changed(workplace, config=CONFIG.replace("access:", "access:\n  anonymous: challenge"))

    done = stile("explain", folder, "--as", "anonymous")

    assert done.out.splitlines()[0] == (
        "api/things, for a caller without a credential, who is answered 401 everywhere (access.anonymous is "
        "challenge); policies alone would leave them this"
    )
    assert done.out.count("challenge") == 1


def test_built_in_page_of_a_stepzen_project_is_explained(workplace: Path, stile: Stile) -> None:
    files = {
        "index.graphql": "type Query { a: String things: Things } type Things { pageInfo: PageInfo! }",
        "config.yaml": READABLE.replace("]}", "], hide: [PageInfo.endCursor]}"),
        "stepzen.config.json": '{"endpoint": "api/things"}',
    }
    write_endpoint(workplace, files)

    told = stile("explain", ".", "--as", "anonymous", "--full").out

    assert "type PageInfo {\n  hasNextPage: Boolean!\n  hasPreviousPage: Boolean!\n  startCursor: String\n}" in told
    assert 'access.hide "PageInfo.endCursor"' in " ".join(told.split())


LIFTED = {
    "index.graphql": """
schema @tool(name: "t", graphql: [
  {expose: true, types: "Query", fields: "person"}, {expose: false, types: "Person", fields: "pay"}
]) { query: Query }
type Query { person(id: ID!): Person, other: Int }
type Person { name: String, pay: Int }
""",
    "config.yaml": """
access:
  policies:
    - {type: Query, policyDefault: {condition: '?$jwt'}}
    - type: Person
      policyDefault: {condition: '?$jwt'}
      rules: [{condition: '$jwt.roles:String has "manager"', fields: [pay]}]
""",
}
"""A tool whose patterns change the conditions of types that its callers see all the same."""


def test_parts_that_a_caller_sees_are_not_said_to_be_hidden_by_patterns(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, LIFTED)
    (workplace / "c.json").write_text('{"sub": "1"}', encoding="utf-8")
    (workplace / "m.json").write_text('{"roles": ["manager"]}', encoding="utf-8")

    employee = explained(stile, "api", "--as", "c.json")
    manager = explained(stile, "api", "--as", "m.json")

    assert "person(id: ID!): Person" in employee["views"]["t"]
    assert employee["hidden_by_patterns"] == {"t": ["Query.other"]}  # Person.pay is among the hidden of the policy
    assert list(employee["hidden"]) == ["Person.pay"]
    assert manager["hidden_by_patterns"] == {"t": ["Person.pay", "Query.other"]}


PAID = {
    "index.graphql": "type Query { employee(id: ID!): Employee } type Employee { name: String, salary: Int }",
    "config.yaml": """
identity:
  api_keys:
    - {name: partner, sha256: SHA, claims: {kind: partner}}
    - {name: old, sha256: OLD, expires: "2020-01-01"}
access:
  anonymous: challenge
  policies:
    - {type: Query, policyDefault: {condition: '!($jwt.kind:String == "partner")'}}
    - type: Employee
      policyDefault: {condition: true}
      rules:
        - condition: '$jwt.roles:String has "hr" || $jwt.employee_id:String == $variables.employee:String'
          fields: [salary]
""".replace("SHA", "a" * 64).replace("OLD", "b" * 64),
    "operations/o.graphql": """
query Mine($employee: ID! @mcpBind(claim: "employee_id")) @mcpTool(name: "mine") { employee(id: $employee) { salary } }
query Any($employee: ID!) @mcpTool(name: "any") { employee(id: $employee) { salary } }
query Fixed($employee: ID! @mcpBind(value: "e9")) @mcpTool(name: "fixed") { employee(id: $employee) { salary } }
query Hr @mcpTool(name: "hr", scopes: ["pay"]) { employee(id: "1") { salary } }
query Name($id: ID!) @mcpTool(name: "name") { employee(id: $id) { name } }
""",
}
"""Conditions over variables that calls fill, that claims fill, and that constants fill."""


@pytest.fixture
def paid(workplace: Path) -> str:
    write_endpoint(workplace, PAID)
    (workplace / "emp.json").write_text('{"kind": "staff", "employee_id": "e5"}', encoding="utf-8")
    (workplace / "none.json").write_text('{"kind": "staff"}', encoding="utf-8")
    (workplace / "hr.json").write_text('{"kind": "staff", "roles": ["hr"]}', encoding="utf-8")
    return "api"


def test_tools_that_a_call_decides_about_and_claims_that_are_missing_are_told(paid: str, stile: Stile) -> None:
    def verdicts(caller: str) -> dict[str, tuple[str, str]]:
        tools = explained(stile, paid, "--as", caller)["tools"]
        return {tool["name"]: (tool["verdict"], tool["note"]) for tool in tools}

    by_value, decided = "no call meets its condition with the bound values", "the values of $variables decide"
    claim = "it needs the claim employee_id"

    assert verdicts("emp.json") == {
        "mine": ("yes", ""),
        "any": ("call", f"{decided} at the call"),
        "fixed": ("refused", by_value),
        "hr": ("no", ""),
        "name": ("yes", ""),
    }
    assert verdicts("none.json")["mine"] == ("no", "")  # the condition compares the claim
    assert verdicts("hr.json") == {
        "mine": ("refused", claim),
        "any": ("yes", ""),
        "fixed": ("yes", ""),
        "hr": ("403", "it needs the scopes pay"),
        "name": ("yes", ""),
    }


def test_callers_stand_side_by_side(paid: str, stile: Stile) -> None:
    callers = ("anonymous", "emp.json", "key:partner", "key:old")
    done = stile("explain", paid, *(word for caller in callers for word in ("--as", caller)))

    assert (done.code, done.err) == (0, "")
    rule = (
        'api/things/config.yaml:13: $jwt.roles:String has "hr" || $jwt.employee_id:String == $variables.employee:String'
    )
    lines = done.out.splitlines()
    assert lines[:12] == [
        "api/things",
        "Tools by caller",
        "tool   anonymous  emp.json  key:partner  key:old",
        "mine   401        yes       -            401",
        "any    401        call      -            401",
        "fixed  401        refused   -            401",
        "hr     401        -         -            401",
        "name   401        yes       -            401",
        "401 for anonymous: access.anonymous is challenge",
        "401 for key:old: the key has expired",
        "mine is not for key:partner:",
        f"  {rule}",
    ]
    assert "fixed for emp.json: no call meets its condition with the bound values" in lines
    assert lines[lines.index("hr is not for emp.json:") + 1] == f"  {rule}"


def test_json_has_an_entry_for_each_caller(paid: str, stile: Stile) -> None:
    done = stile("explain", paid, "--as", "anonymous", "--as", "key:partner", "--json")

    entries = json.loads(done.out)["endpoints"]
    assert [entry["as"] for entry in entries] == ["anonymous", "key:partner"]
    assert entries[1]["caller"] == "the holder of the API key partner"


def test_callers_of_a_field_stand_with_witnesses_tools_and_ways(paid: str, stile: Stile) -> None:
    done = stile("explain", paid, "--field", "Employee.salary", "--json")

    (endpoint,) = json.loads(done.out)["endpoints"]
    named = [(each["callers"][0], each) for each in endpoint["classes"]]
    found = {json.dumps(who["claims"] or who["as"], sort_keys=True): each for who, each in named}
    through = {who: [(way["name"], way["verdict"]) for way in each["through"]] for who, each in found.items()}
    assert endpoint["complete"]
    assert {verdict for _, verdict in through['"anonymous"']} == {"401"}
    assert through['{"kind": "partner"}'] == []
    assert [who for who, each in found.items() if not each["reaches"]][:2] == ['"anonymous"', '{"kind": "partner"}']
    assert through['{"employee_id": "x", "kind": "partnerx"}'] == [
        ("mine", "yes"),
        ("any", "call"),
        ("fixed", "refused"),
    ]
    assert through['{"employee_id": "x", "kind": "partnerx", "roles": ["hr"], "scope": ["pay"]}'] == [
        ("mine", "yes"),
        ("any", "yes"),
        ("fixed", "yes"),
        ("hr", "yes"),
    ]
    ways = {way["path"] for each in endpoint["classes"] for way in each["through"]}
    assert ways == {"employee > salary"}


@pytest.mark.parametrize(
    ("coordinate", "said"),
    [
        ("Employee.slary", '--field "Employee.slary": "Employee" has no field "slary"; did you mean salary?'),
        ("Employe", '--field "Employe": the schema has no type "Employe"; did you mean Employee?'),
        ("Query.employee(ID:)", '"Query.employee" has no argument "ID"; did you mean id?'),
        ("@shown", 'the schema has no directive "@shown" for requests'),
        ("a b", "not a coordinate: expected Type, Type.field"),
    ],
)
def test_coordinates_that_do_not_exist_are_refused(paid: str, stile: Stile, coordinate: str, said: str) -> None:
    done = stile("explain", paid, "--field", coordinate)

    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_field_that_nobody_reaches_is_told_with_its_rules(folder: str, stile: Stile) -> None:
    done = stile("explain", folder, "--field", "Query.secret", "--as", "clerk.json")

    assert done.code == 0
    assert done.out.splitlines()[-6:] == [
        "None of these callers reaches it.",
        "Hidden from the others by",
        "  api/things/config.yaml:6: false",
        "    Query.secret",
        "  api/things/index.graphql:2: the patterns of staff",
        "    Query.secret",
    ]


@pytest.mark.parametrize("columns", [80, 100])
def test_lines_fit_a_terminal_and_no_path_is_broken(paid: str, columns: int) -> None:
    for arguments in (
        ["--as", "emp.json"],
        ["--as", "emp.json", "--as", "key:partner"],
        ["--field", "Employee.salary"],
    ):
        code, shown = ran_on_terminal("explain", paid, *arguments, columns=columns)
        lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in shown.splitlines()]

        assert code == 0
        assert "api/things/config.yaml:13:" in shown
        assert max(len(line.rstrip()) for line in lines if "Compiling" not in line) <= columns


def test_output_without_utf_8_is_escaped(paid: str, workplace: Path) -> None:
    config = workplace / "api" / "things" / "config.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace('"hr"', '"Löhne"'), encoding="utf-8")

    done = ran("explain", paid, "--field", "Employee.salary", PYTHONIOENCODING="ascii", LANG="C", NO_COLOR="1")

    assert done.code == 0
    assert "L\\xf6hne" in done.out


def test_field_of_a_type_that_the_schema_definition_does_not_name_is_told_with_the_cause(
    workplace: Path, stile: Stile
) -> None:
    schema = "schema { query: Query }\ntype Query { a: Int }\ntype Mutation { set(b: Int): Int }\n"
    write_endpoint(workplace, {"index.graphql": schema, "config.yaml": READABLE})

    for words in ((), ("--as", "anonymous")):
        told = stile("explain", ".", "--field", "Mutation.set", *words).out
        cause = '"Mutation" is not a root type: the schema definition at index.graphql:1:1 does not name it'
        assert f"reaches it: {cause} (mutation: Mutation)" in told


def test_job_that_a_tool_starts_is_told_with_its_query_and_statuses(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, files_of("https://jobs.example.com", cancel='"Cancel"'))

    tools = {tool["name"]: tool for tool in explained(stile, "api")["tools"]}
    assert tools["export"]["task"] == {
        "poll": "State",
        "statusTool": "export_status",
        "cancel": "Cancel",
        "statuses": {"SUCCESS": "completed", "FAILED": "failed", "CANCELED": "cancelled"},
    }
    assert tools["export_status"]["task"] is None
    assert (
        "export starts a job: State asks about it, by the tool export_status; the status SUCCESS is completed, "
        "FAILED is failed, CANCELED is cancelled, any other is working\n"
    ) in stile("explain", "api").out
