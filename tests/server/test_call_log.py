"""``log`` of ``config.yaml``: which fields a call read, and the arguments that the author named, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.model import Bundle
from handler.bundle.stored import read_record, write_bundle
from handler.bundle.tools import LoggedArgument
from handler.server.asgi.request_log import MAX_COORDINATES_CHARS
from handler.server.mcp.logged_call import MAX_VALUE_CHARS
from tests.support.api import Api, Reply, running_api
from tests.support.endpoints import READABLE, compiled, reported
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER, identified

KIT = "tests.support.acme_tools"
SDL = """
type Query { employee(id: ID): Employee me: Person find(where: Where, note: String): [Employee] people: [Named] }
type Mutation { pay(id: ID!): Employee }
interface Person { name: String salary(year: Int): Int }
type Employee implements Person { name: String salary(year: Int): Int boss: Employee }
union Named = Employee | Firm
type Firm { name: String }
input Where { name: String deep: Where login: Login any: [Where] }
input Login { user: String passWord: String }
"""
PAY = """query Pay($id: ID, $year: Int) @mcpTool {
  employee(id: $id) { salary(year: $year) boss { ...N } }
}
fragment N on Person { name }
"""
FIND = """query Find($where: Where, $note: String) @mcpTool(name: "find.all", scopes: ["hr"]) {
  find(where: $where, note: $note) { name }
}
"""
BOUND = 'query Bound($id: ID @mcpBind(claim: "sub"), $year: Int) @mcpTool { employee(id: $id) { salary(year: $year) } }'
RAISE = 'mutation Raise($id: ID!) @mcpTool(name: "raise", confirm: required) { pay(id: $id) { name } }'
INDEX = """
schema
  @sdl(files: "types.graphql")
  @tool(name: "ask", graphql: [{expose: true, types: "Query", fields: ".*"}])
  @tool(name: "run", prescribed: "Run")
{ query: Query mutation: Mutation }
"""
CONFIG = """
graphql: on
upstream: {{url: "{url}"}}
code: [{{use: "tests.support.acme_tools:kit", condition: true}}]
access:
  anonymous: allow
  policies:
    - {{type: Query, policyDefault: {{condition: true}}}}
    - {{type: Mutation, policyDefault: {{condition: true}}}}
    - {{type: Employee, policyDefault: {{condition: true}}, rules: [{{condition: "?$jwt.hr", fields: [salary]}}]}}
log: {log}
"""
LOG = "{coordinates: true, arguments: [Pay.year, find.all.where, find.all.note, run.id, echo.text]}"
HR: Mapping[str, Any] = {"hr": True, "scope": "hr", "sub": "e1"}
CLERK: Mapping[str, Any] = {"sub": "e2"}
PAY_READS = "Employee.boss Employee.name Employee.salary Person.name Query.employee"


def files(log: str = LOG, url: str = "https://api.example/graphql") -> dict[str, str]:
    return {
        "index.graphql": INDEX,
        "types.graphql": SDL,
        "operations/pay.graphql": PAY,
        "operations/find.graphql": FIND,
        "operations/bound.graphql": BOUND,
        "operations/raise.graphql": RAISE,
        "operations/run.graphql": "query Run($id: ID) { employee(id: $id) { name } }",
        "config.yaml": CONFIG.format(url=url, log=log),
    }


@contextmanager
def serving(
    folder: Path, claims: Mapping[str, Any] = HR, *, log: str = LOG, reply: Reply | None = None
) -> Iterator[tuple[Function, Api]]:
    with running_api(lambda _: reply or Reply({"data": {"employee": {"name": "n"}}})) as api:
        made = compiled(folder, files(log, api.url), STILE_CODE_MODULES=KIT)
        with running_function(identified(made, claims), code_modules=(KIT,)) as function:
            yield function, api


def line(function: Function) -> dict[str, Any]:
    return function.lines[-1]


def told(function: Function) -> dict[str, Any]:
    """The facts of the last line that ``log`` adds."""
    names = ("coordinates", "coordinates_refused", "coordinates_left_out", "arguments")
    return {name: line(function)[name] for name in names if name in line(function)}


def asked(document: str) -> dict[str, Any]:
    return {"query": document}


# Off


def test_without_log_nothing_is_added(tmp_path: Path) -> None:
    for place, log in enumerate(("{}", "{coordinates: false, arguments: []}")):
        with serving(tmp_path / str(place), log=log) as (function, _):
            function.call("Pay", {"id": "e1", "year": 2025}, headers=HOLDER)
            function.query("ask", "{ employee { salary } }")

            assert [set(each) & {"coordinates", "coordinates_refused", "arguments"} for each in function.lines] == [
                set(),
                set(),
            ]


def test_bundle_of_an_older_release_logs_nothing_more(tmp_path: Path) -> None:
    made = compiled(tmp_path, files(), STILE_CODE_MODULES=KIT).bundle
    stored = json.loads(write_bundle(made))["content"]
    del stored["log"]

    assert made.log is not None
    assert LoggedArgument(tool="run", name="id", inside="variables") in made.log.arguments
    assert read_record(Bundle, stored).log is None


# Coordinates


def test_call_logs_the_fields_that_its_operation_reads(tmp_path: Path) -> None:
    with serving(tmp_path) as (function, _):
        function.call("Pay", {"id": "e1"}, headers=HOLDER)

        assert told(function) == {"coordinates": PAY_READS}
        assert line(function)["decision"] == "allowed"


@pytest.mark.parametrize(
    ("document", "coordinates"),
    [
        ("{ employee { salary } }", "Employee.salary Query.employee"),
        ("{ a: employee { b: salary @skip(if: true) } }", "Employee.salary Query.employee"),
        ("{ me { salary } }", "Employee.salary Person.salary Query.me"),
        ("{ people { ... on Employee { name } ... on Firm { name } } }", "Employee.name Firm.name Query.people"),
        ("query A { employee { name } } query B { me { name } }", "Employee.name Query.employee"),
        (
            "{ employee { ...F } } fragment F on Employee { boss { salary } }",
            "Employee.boss Employee.salary Query.employee",
        ),
        ("{ people { __typename } }", "Query.people"),
    ],
)
def test_documents_of_models_and_requests_log_the_fields_that_they_read(
    tmp_path: Path, document: str, coordinates: str
) -> None:
    name = {"operationName": "A"} if "query A" in document else {}
    with serving(tmp_path) as (function, api):
        function.call("ask", {**asked(document), **name}, headers=HOLDER)
        by_tool = told(function)
        function.graphql({**asked(document), **name}, headers=HOLDER)
        by_request = told(function)
        function.graphql({**asked(document), **name}, "/tools/ask/graphql", headers=HOLDER)

        assert len(api.asked) == 3
        assert by_tool == by_request == told(function) == {"coordinates": coordinates}


def test_introspection_reads_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as (function, api):
        function.query("ask", '{ __type(name: "Employee") { name } }')

        assert (told(function), api.asked) == ({}, [])


def test_persisted_document_logs_the_fields_that_it_reads(tmp_path: Path) -> None:
    with serving(tmp_path) as (function, _):
        function.graphql({"documentId": f"sha256:{sha256(PAY.encode()).hexdigest()}"}, headers=HOLDER)

        assert told(function) == {"coordinates": PAY_READS}


def test_tools_in_python_log_all_that_their_requests_read(tmp_path: Path) -> None:
    with serving(tmp_path) as (function, _):
        function.call("ask_graphql", asked("{ employee { boss { salary } } }"), headers=HOLDER)
        one = told(function)
        function.call("run_operation", {"name": "Pay"}, headers=HOLDER)
        two = told(function)
        function.call("ask_graphql", asked("{ employee { salry } me { name } }"), headers=HOLDER)

        assert one == {"coordinates": "Employee.boss Employee.salary Query.employee"}
        assert two == {"coordinates": PAY_READS}
        assert told(function) == {"coordinates_refused": "Employee.name Person.name Query.employee Query.me"}


def test_items_of_a_batch_log_their_own(tmp_path: Path) -> None:
    def item(number: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }

    with serving(tmp_path) as (function, _):
        batch = [item(1, "Pay", {"year": 1}), item(2, "ask", asked("{ me { name } }")), item(3, "Pay", {"year": "x"})]
        function.post(batch, headers={"mcp-protocol-version": "2025-03-26", **HOLDER})
        first, second, third = line(function)["calls"]

    assert (first["coordinates"], first["arguments"]) == (PAY_READS, {"year": 1})
    assert second["coordinates"] == "Employee.name Person.name Query.me"
    assert (third["coordinates_refused"], third["arguments"]) == (PAY_READS, {"year": "x"})
    assert "coordinates" not in third


def test_failed_answer_was_read_all_the_same(tmp_path: Path) -> None:
    with serving(tmp_path, reply=Reply(b"<html>", 502)) as (function, _):
        function.call("Pay", {}, headers=HOLDER)

        assert told(function) == {"coordinates": PAY_READS}


def test_long_list_of_fields_is_cut_and_says_how_many_it_lacks(tmp_path: Path) -> None:
    names = [f"field_with_a_long_name_{number:04}" for number in range(199)]
    sdl = f"type Query {{ {' '.join(f'{name}: Int' for name in names)} }}"
    exposed = '@tool(name: "ask", graphql: [{expose: true, types: "Query", fields: ".*"}])'
    with running_api() as api:
        config = f"upstream: {{url: '{api.url}'}}\nlog: {{coordinates: true}}\n{READABLE}"
        made = compiled(tmp_path, {"index.graphql": f"extend schema {exposed} {sdl}", "config.yaml": config})
        with running_function(made) as function:
            function.query("ask", f"{{ {' '.join(names)} }}")
            read = told(function)

    kept = read["coordinates"].split()
    assert len(read["coordinates"]) <= MAX_COORDINATES_CHARS
    assert kept == [f"Query.{name}" for name in names][: len(kept)]
    assert read["coordinates_left_out"] == len(names) - len(kept) > 0


# Refused


@pytest.mark.parametrize(
    ("tool", "arguments", "refused"),
    [
        ("Pay", {"id": "e1"}, PAY_READS),
        ("Pay", {"id": {"no": "id"}}, PAY_READS),
        ("find.all", {}, "Employee.name Query.find"),
        ("raise", {"id": "e1"}, "Employee.name Mutation.pay"),
        (
            "ask",
            {"query": "{ employee { salary boss { name } } }"},
            "Employee.boss Employee.name Employee.salary Query.employee",
        ),
        ("ask", {"query": "{ employee { name } nope { name } }"}, "Employee.name Query.employee"),
        ("ask", {"query": "mutation { pay(id: 1) { salary } }"}, "Employee.salary Mutation.pay"),
    ],
    ids=str,
)
def test_refused_call_logs_apart_the_fields_that_it_asked_for(
    tmp_path: Path, tool: str, arguments: dict[str, Any], refused: str
) -> None:
    with serving(tmp_path, CLERK) as (function, api):
        function.call(tool, arguments, headers=HOLDER)

        assert told(function) == {"coordinates_refused": refused}
        assert api.asked == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"query": "{ employee { salary } }"},
        {"query": "{ employee { salary } "},
        {"query": "{" * 3_000},
        {"query": "{ employee " * 2_000},
        {"query": "x" * 200_000},
        {"documentId": f"sha256:{sha256(PAY.encode()).hexdigest()}"},
        {"documentId": "sha256:0"},
    ],
    ids=lambda each: str(each)[:40],
)
def test_refused_request_logs_what_is_known_of_it(tmp_path: Path, parameters: dict[str, str]) -> None:
    expected = {0: {"coordinates_refused": "Employee.salary Query.employee"}, 1: {"coordinates_refused": PAY_READS}}
    known = 0 if parameters.get("query") == "{ employee { salary } }" else 1 if "documentId" in parameters else 2
    with serving(tmp_path, CLERK) as (function, _):
        function.graphql(parameters, headers=HOLDER)

        assert told(function) == ({} if parameters.get("documentId") == "sha256:0" else expected.get(known, {}))


def test_names_that_the_schema_lacks_are_not_logged(tmp_path: Path) -> None:
    with serving(tmp_path) as (function, _):
        function.query("ask", "{ employee { my_secret_is_hunter2 { x } } Query_hunter2 ... on Hunter2 { hunter2 } }")

        assert told(function) == {"coordinates_refused": "Query.employee"}
        assert "unter2" not in str(line(function))


# Arguments


def test_named_arguments_are_logged_and_no_others(tmp_path: Path) -> None:
    with serving(tmp_path) as (function, _):
        function.call("Pay", {"id": "the-id-of-ada", "year": 2025}, headers=HOLDER)
        pay = told(function)["arguments"]
        function.call("run", {"variables": {"id": "e7"}}, headers=HOLDER)
        run = told(function)["arguments"]
        function.call("Bound", {"year": 4711}, headers=HOLDER)
        function.call("say", {"text": "hello"}, headers=HOLDER)

        assert (pay, run) == ({"year": 2025}, {"id": "e7"})
        assert told(function)["arguments"] == {"text": "hello"}
        assert "the-id-of-ada" not in str(function.lines)
        assert "4711" not in str(function.lines)


@pytest.mark.parametrize(
    ("value", "logged"),
    [
        ("a\nb\r\x1b[31m\x00\u2028\u202e", r"a\nb\r\x1b[31m\x00\u2028\u202e"),
        ('"} {"level":"ERROR"', '"} {"level":"ERROR"'),
        ("x" * 100_000, "x" * (MAX_VALUE_CHARS - 1) + "…"),
        ("\x00" * 100_000, ("\\x00" * MAX_VALUE_CHARS)[: MAX_VALUE_CHARS - 1] + "…"),
        ("\ud800", r"\ud800"),
        (True, True),
        (None, None),
        (-2.5, -2.5),
        (10**300, "1" + "0" * (MAX_VALUE_CHARS - 2) + "…"),
    ],
    ids=lambda each: repr(each)[:30],
)
def test_hostile_value_is_one_bounded_text_without_control_characters(tmp_path: Path, value: Any, logged: Any) -> None:
    with serving(tmp_path) as (function, _):
        function.call("echo", {"text": value}, headers=HOLDER)

        assert told(function)["arguments"] == {"text": logged}
        assert json.loads(json.dumps(told(function), ensure_ascii=False).encode()) == told(function)


def test_objects_are_bounded_and_have_no_secrets(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"name": "n"}
    for _ in range(400):
        deep = {"deep": deep}
    with serving(tmp_path) as (function, _):
        login = {"login": {"user": "ada", "passWord": "hunter2"}, "any": [{"login": {"passWord": "hunter2"}}]}
        function.call("find.all", {"where": login}, headers=HOLDER)
        shown = told(function)["arguments"]["where"]
        for hostile in (deep, {"any": [{"name": "x" * 1_000}] * 500}, {f"key{n}": n for n in range(20_000)}):
            function.call("find.all", {"where": hostile, "note": "n"}, headers=HOLDER)

            assert len(told(function)["arguments"]["where"]) <= MAX_VALUE_CHARS
            assert told(function)["arguments"]["note"] == "n"

        assert shown == '{"login":{"user":"ada","passWord":"(secret)"},"any":[{"login":{"passWord":"(secret)"}}]}'
        assert "hunter2" not in str(function.lines)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("Pya.year", "unknown-logged-argument: did you mean"),
        ("Pay.yeer", 'unknown-logged-argument: Pay has no argument "yeer" & did you mean'),
        ("Pay", "unknown-logged-argument: expected tool.argument"),
        ("Bound.id", "unknown-logged-argument: @mcpBind fills it"),
        ("run.variables", "unknown-logged-argument: run has no argument"),
        ("ask.query", "unloggable-argument: a model writes"),
        ("ask.variables", "unloggable-argument"),
        ("sealed.word", "unloggable-argument: secret"),
        ("sealed.login", "unloggable-argument: secret"),
        ("sealed.apiKey", "unloggable-argument: secret"),
        ("catalog-call.arguments", "unloggable-argument: the arguments of any tool"),
    ],
)
def test_argument_that_cannot_be_logged_is_a_problem(tmp_path: Path, entry: str, problem: str) -> None:
    given = files(f"{{arguments: [Pay.year, {entry}]}}")
    given["config.yaml"] = "catalog: true\n" + given["config.yaml"].replace("acme_tools", "acme_sealed")
    (found,) = reported(tmp_path, given, STILE_CODE_MODULES="tests.support.acme_sealed")
    row = given["config.yaml"].splitlines()
    place = f"config.yaml:{len(row)}:{row[-1].index(entry + ']') + 1}"

    assert found == f"{place} {problem}"
