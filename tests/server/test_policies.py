"""Policies at work: what callers with different claims are listed, told, and let through, on one warm instance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import ApiKey, Identity
from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.server.auth.principal import Principal
from handler.server.endpoints.endpoint import MAX_ENTRIES, MAX_EVALUATIONS, MAX_VALIDATORS
from handler.server.endpoints.schema_views import MAX_PRINTED, MAX_VIEWS
from tests.conftest import DEMO
from tests.support.endpoints import cached_counts, compiled, graphql_tool
from tests.support.function import Answer, Function, running_function
from tests.support.upstream import Upstream

CONFIG = """\
upstream: {url: URL, timeout_s: 5}
graphql: on
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
      rules:
        - {condition: "?$jwt", fields: [employees, employee]}
        - {condition: "$jwt.email:String == $variables.email:String", fields: [customer]}
    - type: Employee
      policyDefault: {condition: true}
      rules:
        - {condition: '$jwt.role:String == "hr"', fields: [salary]}
        - {condition: false, fields: [ssn]}
"""
INDEX = """
schema
  @sdl(files: ["schema.graphql"], executables: [{document: "operations.graphql", persist: true}])
  @tool(name: "staff", graphql: {expose: true, types: "Query", fields: "employees|employee"})
  @tool(name: "anything", graphql: {expose: true, types: "Query", fields: ".*"}) {
  query: Query
}
"""
OPERATIONS = """
query StaffList($where: EmployeeFilter, $orderBy: EmployeeOrder! = NAME_ASC) @mcpTool(name: "staff-list") {
  employees(where: $where, orderBy: $orderBy, first: 3) { name }
}
query Pay($first: Int!) @mcpTool(name: "pay") { employees(first: $first) { name salary } }
query Mine($email: String!) @mcpTool(name: "mine") { customer(email: $email) { name } }
query Default($email: String! = "DEFAULT") @mcpTool(name: "default") { customer(email: $email) { name } }
query Own($email: String! @mcpBind(claim: "email")) @mcpTool(name: "own") { customer(email: $email) { email } }
query Fixed @mcpTool(name: "fixed") { customer(email: "DEFAULT") { name } }
"""
PAY = {"orderBy": "SALARY_DESC"}
ABOVE = {"where": {"salaryGt": 1}}


@dataclass(frozen=True)
class Office:
    """The endpoint as it runs, and its callers by name."""

    function: Function
    upstream: Upstream

    def call(self, who: str, tool: str, arguments: Mapping[str, Any]) -> Answer:
        return self.function.call(tool, arguments, headers=key_of(who))

    def listed(self, who: str) -> dict[str, Any]:
        tools = self.function.request("tools/list", headers=key_of(who)).result["tools"]
        return {tool["name"]: tool for tool in tools}

    def graphql(self, who: str, parameters: Mapping[str, Any], path: str = "/graphql") -> Answer:
        return self.function.graphql(parameters, path, headers=key_of(who))

    def sent(self) -> list[dict[str, Any]]:
        """What reached the API since the last time."""
        requests = [json.loads(request["body"]) for request in self.upstream.requests()]
        self.upstream.clear()
        return requests


def key_of(who: str) -> dict[str, str]:
    return {} if who == "nobody" else {"x-api-key": f"stile_{who}"}


def with_callers(made: Compiled, callers: Mapping[str, Any]) -> Compiled:
    """The endpoint with a key for each caller, which has their claims."""
    keys = tuple(
        ApiKey(name=name, sha256=sha256(f"stile_{name}".encode()).hexdigest(), expires=0, claims=claims)
        for name, claims in callers.items()
    )
    return replace(made, bundle=replace(made.bundle, identity=Identity(issuers=(), api_keys=keys, trusted_apis=())))


def made(folder: Path, upstream: Upstream) -> Compiled:
    (customer,) = upstream.query_rows("select email from customers order by id limit 1")
    files = {
        "index.graphql": INDEX,
        "schema.graphql": (DEMO / "schema.graphql").read_text("utf-8"),
        "operations.graphql": OPERATIONS.replace("DEFAULT", customer["email"]),
        "config.yaml": CONFIG.replace("URL", upstream.url),
    }
    return compiled(folder, files)


@pytest.fixture
def emails(upstream: Upstream) -> list[str]:
    """Two customers, the first of which is what operations name themselves."""
    return [row["email"] for row in upstream.query_rows("select email from customers order by id limit 2")]


@pytest.fixture
def office(upstream: Upstream, emails: list[str], tmp_path: Path) -> Iterator[Office]:
    callers = {
        "hr": {"role": "hr", "email": emails[0]},
        "clerk": {"role": "clerk", "email": emails[1]},
        "odd": {"role": ["hr"], "email": None},
        "root": None,
    }
    upstream.clear()
    with running_function(with_callers(made(tmp_path, upstream), callers)) as function:
        yield Office(function, upstream)


def test_each_caller_is_listed_what_they_may_use(office: Office) -> None:
    assert list(office.listed("nobody")) == ["anything"]
    assert list(office.listed("clerk")) == ["staff", "anything", "staff-list", "mine", "default", "own"]
    assert list(office.listed("hr")) == ["staff", "anything", "staff-list", "pay", "mine", "default", "own"]
    assert list(office.listed("odd")) == ["staff", "anything", "staff-list"]
    assert list(office.listed("root")) == ["staff", "anything", "staff-list", "pay", "mine", "default", "own", "fixed"]


def test_the_schema_shown_is_the_callers(office: Office) -> None:
    def sdl(who: str) -> str:
        return str(office.listed(who)["staff"]["inputSchema"]["properties"]["query"]["description"])

    assert [word in sdl("clerk") for word in ("salary:", "salaryGt", "SALARY_ASC", "ssn", "hiredOn")] == [
        *[False] * 4,
        True,
    ]
    assert all(word in sdl("hr") for word in ("salary:", "salaryGt", "SALARY_ASC"))
    assert "ssn" not in sdl("hr")
    assert "ssn" in sdl("root")
    assert sdl("odd") == sdl("clerk")


def test_arguments_of_a_prescribed_tool_are_the_callers(office: Office) -> None:
    clerk, hr = office.listed("clerk")["staff-list"], office.listed("hr")["staff-list"]

    assert "salary" not in json.dumps(clerk).lower()
    assert "SALARY_DESC" in json.dumps(hr["inputSchema"])
    assert "salaryGt" in json.dumps(hr["inputSchema"])
    assert not [key for key in (json.dumps(clerk), json.dumps(hr)) if "stile:" in key]


@pytest.mark.parametrize("arguments", [PAY, ABOVE])
def test_an_argument_that_tells_what_a_caller_may_not_read_is_unknown_to_them(
    office: Office, arguments: dict[str, Any]
) -> None:
    refused = office.call("clerk", "staff-list", arguments)
    assert refused.result["isError"] is True
    assert "SALARY_ASC" not in refused.text
    assert office.sent() == []

    allowed = office.call("hr", "staff-list", arguments)
    assert "isError" not in allowed.result
    assert office.sent()[0]["variables"] == arguments


def test_an_unknown_argument_and_a_denied_one_are_refused_with_the_same_words(office: Office) -> None:
    denied = office.call("clerk", "staff-list", {"where": {"salaryGt": 1}}).text
    unknown = office.call("clerk", "staff-list", {"where": {"shoeSize": 1}}).text

    assert denied.replace("salaryGt", "NAME") == unknown.replace("shoeSize", "NAME")


def test_documents_are_judged_by_the_callers_view(office: Office) -> None:
    document = {"query": "{ employees(first: 1) { name salary } }"}

    assert office.call("clerk", "staff", document).result["isError"] is True
    assert office.graphql("clerk", document).status == 400
    assert office.graphql("clerk", document, "/tools/staff/graphql").status == 400
    assert office.sent() == []

    assert "salary" in office.call("hr", "staff", document).text
    assert office.graphql("hr", document).json["data"]["employees"][0]["salary"] > 0
    assert len(office.sent()) == 2


def test_introspection_tells_the_callers_view(office: Office) -> None:
    asked = {"query": '{ __type(name: "Employee") { fields { name } } }'}

    def fields(who: str) -> set[str]:
        answer = office.graphql(who, asked, "/tools/staff/graphql").json
        return {field["name"] for field in answer["data"]["__type"]["fields"]}

    assert fields("hr") - fields("clerk") == {"salary"}
    assert office.graphql("nobody", asked, "/tools/staff/graphql").status == 401


def test_who_calls_is_compared_with_the_values_of_variables(office: Office, emails: list[str]) -> None:
    assert office.call("hr", "mine", {"email": emails[0]}).result["structuredContent"]["data"]["customer"]
    assert len(office.sent()) == 1

    refused = office.call("hr", "mine", {"email": emails[1]})
    assert refused.text == "You are not allowed to make this call with these values. Nothing was sent."
    assert office.sent() == []


def test_a_default_is_a_value_too(office: Office) -> None:
    assert "isError" not in office.call("hr", "default", {}).result
    assert office.call("clerk", "default", {}).result["isError"] is True
    assert len(office.sent()) == 1


def test_a_bound_variable_is_compared_as_well(office: Office, emails: list[str]) -> None:
    """The safest form: no model names whose it is."""
    assert office.call("clerk", "own", {}).result["structuredContent"]["data"]["customer"]["email"] == emails[1]
    assert office.call("hr", "own", {"email": emails[1]}).result["isError"] is True
    assert office.call("odd", "own", {}).json["error"]["message"] == "Unknown tool: own"
    assert len(office.sent()) == 1


def test_an_operation_without_the_variable_is_for_nobody(office: Office) -> None:
    """The policy compares a variable; the operation names somebody itself."""
    assert office.call("hr", "fixed", {}).json["error"]["message"] == "Unknown tool: fixed"
    assert office.sent() == []


def test_a_variable_that_a_model_declares_counts_for_nothing(office: Office, emails: list[str]) -> None:
    """The trap: the caller's own address in a variable that policies compare, and somebody else's where it matters."""
    own, other = emails
    for text in (
        f'query ($email: String!) {{ customer(email: "{other}") {{ name }} a: __typename @include(if: true) }}',
        f'query ($email: String!) {{ customer(email: "{other}") {{ name }} b: customer(email: $email) {{ name }} }}',
        "query ($email: String!) { customer(email: $email) { name } }",
    ):
        document = {"query": text, "variables": {"email": own}}
        assert office.call("hr", "anything", document).result["isError"] is True
        assert office.graphql("hr", document).status == 400
        assert office.graphql("hr", document, "/tools/anything/graphql").status == 400
    assert office.sent() == []


def test_persisted_documents_follow_the_same_policies(upstream: Upstream, emails: list[str], tmp_path: Path) -> None:
    endpoint = made(tmp_path, upstream)
    (document,) = endpoint.bundle.graphql.documents
    callers = {"hr": {"role": "hr", "email": emails[0]}, "clerk": {"role": "clerk", "email": emails[1]}}
    upstream.clear()

    with running_function(with_callers(endpoint, callers)) as function:
        office = Office(function, upstream)

        def status(who: str, operation: str, variables: Mapping[str, Any]) -> int:
            asked = {"documentId": document.id, "operationName": operation, "variables": variables}
            return office.graphql(who, asked).status

        assert status("hr", "Mine", {"email": emails[0]}) == 200
        assert status("hr", "Mine", {"email": emails[1]}) == 403
        assert status("hr", "Pay", {"first": 1}) == 200
        assert status("clerk", "Pay", {"first": 1}) == 400
        assert status("clerk", "StaffList", PAY) == 400
        assert status("hr", "StaffList", PAY) == 200
    assert len(office.sent()) == 3


def test_two_callers_in_turn_never_get_what_is_the_others(office: Office, emails: list[str]) -> None:
    document = {"query": "{ employees(first: 1) { name salary } }"}
    lists = {who: office.listed(who) for who in ("hr", "clerk", "nobody")}

    for _ in range(3):
        for who in ("hr", "clerk", "nobody", "clerk", "hr"):
            assert office.listed(who) == lists[who]
            assert (b'\\"salary\\":' in office.call(who, "anything", document).body) is (who == "hr")
        assert "isError" not in office.call("hr", "mine", {"email": emails[0]}).result
        assert "isError" in office.call("clerk", "mine", {"email": emails[0]}).result


def test_public_lists_are_those_that_everybody_gets(office: Office) -> None:
    def scope(who: str) -> str:
        answer = office.function.request("tools/list", modern=True, headers=key_of(who))
        return str(answer.result["cacheScope"])

    assert {who: scope(who) for who in ("nobody", "clerk", "root")} == {
        "nobody": "public",
        "clerk": "private",
        "root": "private",
    }


LEVELS = 11
"""Conditions of which any may hold: 2,048 outcomes."""


def test_thousands_of_outcomes_on_one_instance_are_told_apart_and_soon_forgotten(tmp_path: Path) -> None:
    fields = " ".join(f"f{number}: Int" for number in range(LEVELS))
    values = " ".join(f"V{number}" for number in range(LEVELS))
    rules = "".join(
        f"        - {{condition: '$jwt.can:String has \"{number}\"', fields: [f{number}]}}\n"
        for number in range(LEVELS)
    )
    files = {
        "index.graphql": 'schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"}) '
        f"{{ query: Query }} type Query {{ always: Int thing(by: By): Thing }} type Thing {{ id: ID {fields} }}"
        f" enum By {{ {values} F0 }}",
        "operations/o.graphql": 'query O($by: By) @mcpTool(name: "o") { thing(by: $by) { id } }',
        "config.yaml": "access:\n  policies:\n    - {type: Query, policyDefault: {condition: true}}\n"
        f"    - type: Thing\n      policyDefault: {{condition: true}}\n      rules:\n{rules}",
    }
    made = compiled(tmp_path, files)
    endpoint = local_endpoint(made)
    request, operation = made.bundle.tools

    for number in range(2_000):
        can = [str(bit) for bit in range(LEVELS) if number >> bit & 1]
        caller = endpoint.evaluation_of(Principal(kind="token", claims={"can": can}))
        entry, other = endpoint.entry(request, caller), endpoint.entry(operation, caller)
        assert entry
        sdl = entry["inputSchema"]["properties"]["query"]["description"]
        assert [str(bit) for bit in range(LEVELS) if f"  f{bit}: Int" in sdl] == can
        assert ("F0" in json.dumps(other)) is ("0" in can)
        misfit = endpoint.validator(operation, caller).misfits({"by": "F0"})
        assert bool(misfit) is ("0" not in can)
        endpoint.schema.view_schemas(graphql_tool(made, "t"), caller)

    most = {
        "evaluations": MAX_EVALUATIONS,
        "entries": MAX_ENTRIES,
        "views": MAX_VIEWS,
        "schemas": MAX_VIEWS,
        "printed": MAX_PRINTED,
        "validators": MAX_VALIDATORS,
    }
    assert all(count <= most[kind] for kind, count in cached_counts(endpoint).items())
    assert cached_counts(endpoint)["views"] == MAX_VIEWS
