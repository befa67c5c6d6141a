"""Persisted documents: asked for by id, and the modes of the endpoint's own GraphQL.

Source: GraphQL over HTTP, "Persisted Documents"; IBM API Connect for GraphQL, "Executable documents".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from tests.conftest import DEMO
from tests.support.endpoints import READABLE, compiled, doubted, reported
from tests.support.function import Answer, Function, running_function
from tests.support.raw_http import Peer, answer, running_server
from tests.support.upstream import Upstream

ONE = "query One($n: Int!, $note: String) { a(n: $n, note: $note) }\n"
TWO = "# both\nquery Open { a(n: 1) }\nquery Secret { secret }\nmutation Set { set(n: 1) }\n"
CLOSED = "query Closed { secret }\n"
UNNAMED = "{ a(n: 2) }\n"

FILES: Mapping[str, str] = {
    "index.graphql": """
        extend schema @sdl(executables: [
          {document: "one.graphql", persist: true} {document: "two.graphql", persist: true}
          {document: "closed.graphql", persist: true} {document: "unnamed.graphql", persist: true}
          {document: "only-judged.graphql"}
        ])
        type Query { a(n: Int, note: String): Int, secret: Int }
        type Mutation { set(n: Int): Int }
    """,
    "one.graphql": ONE,
    "two.graphql": TWO,
    "closed.graphql": CLOSED,
    "unnamed.graphql": UNNAMED,
    "only-judged.graphql": "query Judged { a }",
    "operations/tool.graphql": "query Tool($yes: Boolean) @mcpTool { a(n: 3) @include(if: $yes) }\n",
}
ACCESS = """
graphql: persisted
access:
  anonymous: allow
  policies:
    - type: Query
      rules: [{condition: false, fields: secret}]
      policyDefault: {condition: true}
    - {type: Mutation, policyDefault: {condition: true}}
"""


def id_of(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"


@contextmanager
def served(
    folder: Path, *, config: str = ACCESS, files: Mapping[str, str] | None = None, **services: Any
) -> Iterator[tuple[Function, list[dict[str, Any]]]]:
    """The endpoint, some of its files replaced, with what its API was sent; that answers 1 to everything."""
    bodies: list[dict[str, Any]] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
            peer.send(answer(b'{"data": {"a": 1}}', content_type="application/json"))

    with running_server(script) as server:
        own = {"config.yaml": f"upstream: {{url: '{server.url}'}}\n{config}"}
        endpoint = compiled(folder, {**FILES, **(files or {}), **own})
        with running_function(endpoint, **services) as function:
            yield function, bodies


def refused(answered: Answer, status: int = 400) -> str:
    """The one message of a refusal, which must be one."""
    assert answered.status == status, answered.body
    (error,) = answered.json["errors"]
    assert set(answered.json) == {"errors"}
    return str(error["message"])


def test_document_id_runs_its_operation_by_post_and_by_get(tmp_path: Path) -> None:
    with served(tmp_path) as (function, bodies):
        posted = function.graphql({"documentId": id_of(ONE), "variables": {"n": 5}})
        got = function.get({"documentId": id_of(ONE), "operationName": "One", "variables": '{"n":5}'})

    assert (posted.status, posted.json) == (got.status, got.json) == (200, {"data": {"a": 1}})
    assert bodies == [{"query": ONE, "operationName": "One", "variables": {"n": 5}}] * 2


def test_ids_of_the_demo_are_the_digests_of_its_files(function: Function, upstream: Upstream) -> None:
    file = (DEMO / "operations.graphql").read_bytes()
    request = {
        "documentId": f"sha256:{sha256(file).hexdigest()}",
        "operationName": "CustomerLookup",
        "variables": {"email": "elif.nunez@example.com"},
    }
    upstream.clear()

    assert function.graphql(request).json["data"]["customer"]["name"] == "Elif Núñez"
    (sent,) = upstream.requests()
    assert "CustomersInState" not in sent["body"]


def test_document_of_several_operations_needs_a_name(tmp_path: Path) -> None:
    with served(tmp_path) as (function, bodies):
        without = function.graphql({"documentId": id_of(TWO)})
        empty = function.graphql({"documentId": id_of(TWO), "operationName": ""})
        unknown = function.graphql({"documentId": id_of(TWO), "operationName": "One"})
        named = function.graphql({"documentId": id_of(TWO), "operationName": "Open"})

    assert refused(without) == refused(empty) == "it has several operations: name one in operationName"
    assert refused(unknown) == 'it has no operation "One"'
    assert named.json == {"data": {"a": 1}}
    assert len(bodies) == 1


def test_operation_that_the_caller_may_not_run_is_as_an_unknown_one(tmp_path: Path) -> None:
    with served(tmp_path) as (function, bodies):
        of_two = function.graphql({"documentId": id_of(TWO), "operationName": "Secret"})
        of_none = function.graphql({"documentId": id_of(TWO), "operationName": "Secrex"})
        closed = function.graphql({"documentId": id_of(CLOSED)})
        unknown = function.graphql({"documentId": id_of("never published")})
        odd = function.graphql({"documentId": "\ud800"})

    assert refused(of_two) == 'it has no operation "Secret"'
    assert refused(of_none) == 'it has no operation "Secrex"'
    assert refused(closed) == "there is no persisted document with this documentId"
    assert (closed.status, closed.body) == (unknown.status, unknown.body) == (odd.status, odd.body)
    assert bodies == []


def test_holder_of_everything_may_run_it(tmp_path: Path) -> None:
    with served(tmp_path, development=True) as (function, bodies):
        assert function.graphql({"documentId": id_of(CLOSED)}).status == 200
    assert len(bodies) == 1


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
def test_unknown_id_is_400_whatever_is_accepted(tmp_path: Path, accept: str) -> None:
    with served(tmp_path) as (function, _):
        for unknown in ("", "sha256:", id_of("x"), id_of(ONE).upper(), id_of(ONE)[7:], id_of("query Judged { a }")):
            answered = function.graphql({"documentId": unknown}, headers={"accept": accept})

            assert refused(answered) == "there is no persisted document with this documentId"


def test_operation_without_a_name_runs_by_its_id_alone(tmp_path: Path) -> None:
    with served(tmp_path) as (function, bodies):
        assert function.graphql({"documentId": id_of(UNNAMED)}).json == {"data": {"a": 1}}
        assert (
            refused(function.graphql({"documentId": id_of(UNNAMED), "operationName": "X"})) == 'it has no operation "X"'
        )

    assert bodies == [{"query": UNNAMED}]


def test_operation_without_a_name_that_does_not_validate_is_a_problem(tmp_path: Path) -> None:
    assert reported(tmp_path, {**FILES, "unnamed.graphql": "{ b }"}) == [
        "unnamed.graphql:1:3 unknown-field: 'b' & 'Query' & Did you mean 'a'?"
    ]


def test_variables_are_checked_and_undeclared_ones_left_out(tmp_path: Path) -> None:
    with served(tmp_path) as (function, bodies):
        wrong = function.graphql({"documentId": id_of(ONE), "variables": {"n": "5", "note": 1}})
        missing = function.graphql({"documentId": id_of(ONE)})
        old = function.graphql({"documentId": id_of(ONE)}, headers={"accept": "application/json"})
        undeclared = function.graphql({"documentId": id_of(ONE), "variables": {"n": 5, "more": {}, "note": None}})

    assert (wrong.status, old.status) == (400, 200)
    assert [error["message"] for error in wrong.json["errors"]] == [
        'variables/n: expected integer, got string "5"',
        "variables/note: expected string or null, got integer 1",
    ]
    assert refused(missing) == "variables/n: required, but missing"
    assert undeclared.status == 200
    assert [body["variables"] for body in bodies] == [{"n": 5, "note": None}]


def test_variables_with_more_mistakes_than_are_told_end_with_a_note(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { a(list: [Int]): Int }",
        "operations/o.graphql": "query O($list: [Int]) { a(list: $list) }",
        "config.yaml": f"default_tool: false\n{READABLE}",
    }
    with running_function(compiled(tmp_path, files)) as function:
        request = {"documentId": id_of(files["operations/o.graphql"]), "variables": {"list": ["x"] * 60}}
        errors = function.graphql(request).json["errors"]

    assert len(errors) == 51
    assert errors[0]["message"] == 'variables/list/0: expected integer or null, got string "x"'
    assert errors[-1]["message"] == "and more"
    assert {each["extensions"]["code"] for each in errors} == {"invalid-arguments"}


def test_null_that_the_api_cannot_take_is_left_out(tmp_path: Path) -> None:
    tool = FILES["operations/tool.graphql"]
    with served(tmp_path) as (function, bodies):
        function.graphql({"documentId": id_of(tool), "variables": {"yes": None}})
        function.graphql({"documentId": id_of(tool), "variables": {"yes": True}})

    assert [body.get("variables") for body in bodies] == [None, {"yes": True}]


# Bound variables

BOUND = """query Bound($n: Int!, $org: Int! @mcpBind(header: "X-Org"), $kind: String @mcpBind(value: "agent")) {
  orders(n: $n, org: $org, kind: $kind)
}
"""
BOUND_TOOL = 'query BoundTool($n: Int!, $org: Int! @mcpBind(header: "X-Org")) @mcpTool { orders(n: $n, org: $org) }\n'
CLAIMED = 'query Claimed($org: Int @mcpBind(claim: "org.id")) { orders(org: $org) }\n'


@contextmanager
def serving_bound(folder: Path, **more: str) -> Iterator[tuple[Function, list[dict[str, Any]]]]:
    """Operations with bound variables, and what reaches their API."""
    files = {
        "index.graphql": "type Query { orders(n: Int, org: Int, kind: String): Int }",
        "operations/bound.graphql": BOUND,
        "operations/tool.graphql": BOUND_TOOL,
        "operations/claimed.graphql": CLAIMED,
        **more,
    }
    bodies: list[dict[str, Any]] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
            peer.send(answer(b'{"data": {"orders": 1}}', content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}'}}\n{READABLE}"
        with running_function(compiled(folder, {**files, "config.yaml": config})) as function:
            yield function, bodies


@pytest.mark.parametrize("text", [BOUND, BOUND_TOOL], ids=["operation", "tool"])
def test_bound_variables_are_filled_as_in_a_tool_call_and_never_by_the_caller(tmp_path: Path, text: str) -> None:
    own = {"n": 5, "org": 8, "kind": "mine"}
    org = {"x-org": "7"}
    with serving_bound(tmp_path) as (function, bodies):
        assert function.graphql({"documentId": id_of(text), "variables": {"n": 5}}, headers=org).status == 200
        assert function.graphql({"documentId": id_of(text), "variables": own}, headers=org).status == 200
        assert function.get({"documentId": id_of(text), "variables": json.dumps(own)}, headers=org).status == 200
        function.call("BoundTool", {"n": 5}, headers=org)

    filled = {"n": 5, "org": 7, "kind": "agent"} if text == BOUND else {"n": 5, "org": 7}
    assert [body["variables"] for body in bodies] == [filled] * 3 + [{"n": 5, "org": 7}]
    assert "mcpBind" not in bodies[0]["query"]


@pytest.mark.parametrize(
    ("text", "headers", "message"),
    [
        (BOUND, {}, "Bound fills a variable from the request header x-org, which is missing. "),
        (BOUND_TOOL, {}, "BoundTool fills a variable from the request header x-org, which is missing. "),
        (BOUND, {"x-org": "a"}, "Bound fills a variable from the request header x-org, which does not have the form "),
        (CLAIMED, {"org.id": "7"}, "Claimed fills a variable from the verified claim org.id, which is missing. "),
    ],
)
def test_what_fills_a_bound_variable_is_named_where_it_is_missing(
    tmp_path: Path, text: str, headers: Mapping[str, str], message: str
) -> None:
    request = {"documentId": id_of(text), "variables": {"n": 5, "org": 7}}
    with serving_bound(tmp_path) as (function, bodies):
        new = function.graphql(request, headers=headers)
        old = function.graphql(request, headers={**headers, "accept": "application/json"})

    assert (new.status, old.status) == (400, 200)
    assert refused(new).startswith(message)
    assert new.json == old.json
    assert bodies == []


def test_bound_variables_are_no_part_of_what_callers_variables_are_checked_against(tmp_path: Path) -> None:
    with serving_bound(tmp_path) as (function, bodies):
        wrong = function.graphql({"documentId": id_of(BOUND), "variables": {"n": "5", "org": []}})

    assert refused(wrong) == 'variables/n: expected integer, got string "5"'
    assert bodies == []


def test_operations_of_one_text_keep_their_own_bindings(tmp_path: Path) -> None:
    """Without a name, two may differ in nothing else than in what is bound."""
    first = "query($n: Int @mcpBind(value: 1), $kind: String!) { orders(n: $n, kind: $kind) }"
    second = 'query($n: Int, $kind: String! @mcpBind(value: "agent")) { orders(n: $n, kind: $kind) }'
    index = """
        extend schema @sdl(executables: [{document: "1.graphql", persist: true} {document: "2.graphql", persist: true}])
        type Query { orders(n: Int, org: Int, kind: String): Int }
    """
    more = {"index.graphql": index, "1.graphql": first, "2.graphql": second}
    with serving_bound(tmp_path, **more) as (function, bodies):
        function.graphql({"documentId": id_of(first), "variables": {"n": 2, "kind": "mine"}})
        function.graphql({"documentId": id_of(second), "variables": {"n": 2, "kind": "mine"}})
        missing = function.graphql({"documentId": id_of(first), "variables": {"n": 2}})

    assert [body["variables"] for body in bodies] == [{"n": 1, "kind": "mine"}, {"n": 2, "kind": "agent"}]
    assert refused(missing) == "variables/kind: required, but missing"


def test_constant_that_names_what_is_hidden_closes_the_operation(tmp_path: Path) -> None:
    index = "type Query { orders(n: Int, org: Int, kind: String, by: By): Int } enum By { DATE MARGIN }"
    text = "query By($by: By @mcpBind(value: MARGIN)) { orders(by: $by) }"
    hide = READABLE.replace("access: {", "access: {hide: [By.MARGIN], ")
    files = {"index.graphql": index, "operations/by.graphql": text, "config.yaml": hide}

    with running_function(compiled(tmp_path, files)) as function:
        answered = function.graphql({"documentId": id_of(text)})

    assert refused(answered) == "there is no persisted document with this documentId"


def test_binding_that_cannot_be_is_a_problem_without_a_tool_too(tmp_path: Path) -> None:
    text = 'query O($n: Int @mcpBind(value: "a")) { a(n: $n) }'
    files = {"index.graphql": "type Query { a(n: Int): Int }", "operations/o.graphql": text}

    assert reported(tmp_path / "1", files) == ["operations/o.graphql:1:33 wrong-value: Int & $n"]
    tool = {"operations/o.graphql": text.replace(") {", ") @mcpTool {", 1)}
    assert len(reported(tmp_path / "2", {**files, **tool})) == 1


def test_mutation_by_get_is_405_and_by_post_it_runs(tmp_path: Path) -> None:
    request = {"documentId": id_of(TWO), "operationName": "Set"}
    with served(tmp_path) as (function, bodies):
        got = function.get(request, headers={"accept": "application/json"})
        assert (got.status, got.headers["allow"], bodies) == (405, "POST", [])
        assert function.graphql(request).status == 200

    assert len(bodies) == 1


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
def test_mutation_by_get_is_405_whatever_else_it_lacks(tmp_path: Path, accept: str) -> None:
    key = sha256(b"key").hexdigest()
    files = {
        "index.graphql": "type Query { a: Int, secret: Int } type Mutation { set(n: Int, org: String): Int }",
        "operations/variables.graphql": "mutation Variables($n: Int!) { set(n: $n) }",
        "operations/bound.graphql": 'mutation Bound($org: String! @mcpBind(header: "x-org")) { set(org: $org) }',
        "operations/scopes.graphql": 'mutation Scopes @mcpTool(scopes: ["write"]) { set }',
        "config.yaml": f"{ACCESS}identity: {{api_keys: [{{name: k, sha256: {key}, claims: {{}}}}]}}",
    }
    holder = {"accept": accept, "x-api-key": "key"}
    with running_function(compiled(tmp_path, files)) as function:
        for name in ("variables", "bound", "scopes"):
            request = {"documentId": id_of(files[f"operations/{name}.graphql"])}
            got = function.get(request, headers=holder)

            assert refused(got, 405) == "a mutation cannot be sent by GET: send it by POST"
            assert got.headers["allow"] == "POST"
            assert function.graphql(request, headers={"x-api-key": "key"}).status in (400, 403)


def test_id_beside_a_query_is_400_in_every_mode(tmp_path: Path) -> None:
    for mode in ("persisted", "on"):
        with served(tmp_path / mode, config=ACCESS.replace("persisted", mode)) as (function, bodies):
            for text in (UNNAMED, ""):
                answered = function.graphql({"documentId": id_of(UNNAMED), "query": text})

                assert refused(answered) == "query and documentId exclude each other: send one of them"
        assert bodies == []


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
def test_mode_persisted_refuses_every_text_even_that_of_a_persisted_document(tmp_path: Path, accept: str) -> None:
    with served(tmp_path, development=True) as (function, bodies):
        for text in (UNNAMED, "{ __schema { types { name } } }", "{ __typename }", "{"):
            answered = function.graphql({"query": text}, headers={"accept": accept})

            assert refused(answered, 403) == (
                "this endpoint runs persisted documents only: send documentId instead of query"
            )
    assert bodies == []


def test_mode_on_takes_both(tmp_path: Path) -> None:
    with served(tmp_path, config=ACCESS.replace("persisted", "on")) as (function, bodies):
        assert function.graphql({"query": UNNAMED}).status == 200
        assert function.graphql({"documentId": id_of(UNNAMED)}).status == 200
    assert len(bodies) == 2


def test_mode_off_is_no_route(tmp_path: Path) -> None:
    with served(tmp_path, config=ACCESS.replace("persisted", '"off"'), development=True) as (function, bodies):
        for path in ("/graphql", "/__graphql"):
            for request in ({"query": UNNAMED}, {"documentId": id_of(UNNAMED)}):
                assert refused(function.graphql(request, path), 404) == "this endpoint serves no GraphQL"
    assert bodies == []


def test_document_is_sent_as_its_digest_where_the_api_takes_no_other(tmp_path: Path) -> None:
    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
            peer.send(answer(b'{"data": {"a": 1}}', content_type="application/json"))

    bodies: list[dict[str, Any]] = []
    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}', documents: documentId}}\ndefault_tool: false\n{ACCESS}"
        with running_function(compiled(tmp_path, {**FILES, "config.yaml": config})) as function:
            assert function.graphql({"documentId": id_of(UNNAMED)}).status == 200

    assert bodies == [{"documentId": id_of(UNNAMED)}]


# What is compiled


def mode_of(folder: Path, files: Mapping[str, str]) -> str:
    return compiled(folder, files).bundle.graphql.mode


SCHEMA = "type Query { a: Int }"
TOOL = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: "a"}) '


@pytest.mark.parametrize(
    ("files", "mode"),
    [
        ({"index.graphql": SCHEMA}, "on"),
        ({"index.graphql": SCHEMA, "config.yaml": "default_tool: false"}, "on"),
        ({"index.graphql": SCHEMA, "operations/o.graphql": "query O { a }"}, "on"),
        ({"index.graphql": TOOL + SCHEMA}, "persisted"),
        ({"index.graphql": SCHEMA, "operations/o.graphql": "query O @mcpTool { a }"}, "persisted"),
        ({"index.graphql": TOOL + SCHEMA, "stepzen.config.json": '{"endpoint": "api/things"}'}, "on"),
        ({"index.graphql": SCHEMA, "config.yaml": "{default_tool: false, upstream: {documents: apollo}}"}, "persisted"),
        ({"index.graphql": TOOL + SCHEMA, "config.yaml": "graphql: on"}, "on"),
        ({"index.graphql": SCHEMA, "config.yaml": "graphql: off"}, "off"),
    ],
)
def test_mode_is_on_only_where_no_tool_is_declared_or_a_project_is_stepzens(
    tmp_path: Path, files: Mapping[str, str], mode: str
) -> None:
    assert mode_of(tmp_path, files) == mode


def test_mode_that_is_none_is_a_problem(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": SCHEMA, "config.yaml": "graphql: maybe"}) == [
        "config.yaml:1:10 invalid-value: \"graphql\" & 'maybe'"
    ]


def test_mode_on_is_a_problem_where_the_api_takes_only_documents_it_knows(tmp_path: Path) -> None:
    config = "{default_tool: false, graphql: on, upstream: {documents: apollo}}"

    assert reported(tmp_path, {"index.graphql": SCHEMA, "config.yaml": config}) == [
        "config.yaml:1:32 known-documents-only"
    ]


def documents_of(endpoint: Compiled) -> dict[str, list[str]]:
    """Document id -> the names of the operations that requests may run."""
    tools = {tool.name: tool for tool in endpoint.bundle.tools}
    return {
        document.id: [each.operation.name for each in document.operations]
        + [tools[name].operation.name for name in document.tools]  # type: ignore[union-attr]
        for document in endpoint.bundle.graphql.documents
    }


def test_bundle_holds_persisted_documents_and_says_nothing_twice(tmp_path: Path) -> None:
    endpoint = compiled(tmp_path, {**FILES, "config.yaml": ACCESS})

    assert documents_of(endpoint) == {
        id_of(ONE): ["One"],
        id_of(TWO): ["Open", "Secret", "Set"],
        id_of(CLOSED): ["Closed"],
        id_of(UNNAMED): [""],
        id_of(FILES["operations/tool.graphql"]): ["Tool"],
    }
    assert [document.tools for document in endpoint.bundle.graphql.documents][-1] == ("Tool",)


def test_tool_that_says_more_than_its_operation_does_not_stand_for_it(tmp_path: Path) -> None:
    operation = "mutation M($n: Int) @mcpTool(confirm: advisory) { set(n: $n) }"
    endpoint = compiled(tmp_path, {**FILES, "operations/m.graphql": operation, "config.yaml": ACCESS})

    (document,) = [each for each in endpoint.bundle.graphql.documents if each.id == id_of(operation)]
    assert document.tools == ()
    assert set(document.operations[0].variables["properties"]) == {"n"}


CONSENT = {
    "its own": ("", 'mutation M($n: Int) @mcpTool(name: "m", confirm: advisory) { set(n: $n) }'),
    "nested arguments": ('@tool(name: "m", prescribed: "M", confirm: advisory)', "mutation M($n: Int) { set(n: $n) }"),
    "one of two": (
        '@tool(name: "m", prescribed: "M", confirm: advisory)',
        'mutation M($n: Int) @mcpTool(name: "free") { set(n: $n) }',
    ),
    "the other of two": (
        '@tool(name: "free", prescribed: "M")',
        'mutation M($n: Int) @mcpTool(name: "m", confirm: advisory) { set(n: $n) }',
    ),
    "a query": ("", 'query M($n: Int) @mcpTool(name: "m", confirm: advisory) { a(n: $n) }'),
}
AGREED = {"extensions": {"confirm": True}}


@pytest.mark.parametrize("name", CONSENT)
def test_operation_of_a_tool_that_asks_for_consent_waits_for_it_by_its_id_too(tmp_path: Path, name: str) -> None:
    directive, operation = CONSENT[name]
    index = FILES["index.graphql"].replace("extend schema", f"extend schema {directive}")
    files = {"index.graphql": index, "operations/m.graphql": operation}
    asked = {"documentId": id_of(operation), "variables": {"n": 1}}
    with served(tmp_path, files=files) as (function, bodies):
        answers = [function.graphql({**asked, **more}) for more in ({}, {"extensions": {"confirm": "yes"}})]
        by_get = function.get({"documentId": id_of(operation)})

        for answered in answers:
            assert refused(answered, 403) == (
                "Nothing was done yet, because M asks for consent. Tell your user what this call would do. "
                'If they agree, repeat it with "extensions": {"confirm": true}.'
            )
        assert by_get.status == (403 if name == "a query" else 405)
        assert (bodies, function.lines[0]["reason"]) == ([], "ConsentRequired")
        assert function.graphql({**asked, **AGREED}).status == 200
    assert [body["variables"] for body in bodies] == [{"n": 1}]


def test_operation_of_a_tool_that_asks_for_nothing_is_run_at_once(tmp_path: Path) -> None:
    operation = 'mutation M($n: Int) @mcpTool(name: "free") { set(n: $n) }'
    with served(tmp_path, files={"operations/m.graphql": operation}) as (function, bodies):
        assert function.graphql({"documentId": id_of(operation)}).status == 200
    assert len(bodies) == 1


def test_mode_off_keeps_no_documents(tmp_path: Path) -> None:
    assert compiled(tmp_path, {**FILES, "config.yaml": "graphql: off"}).bundle.graphql.documents == ()


def test_operation_that_asks_for_the_schema_is_not_kept(tmp_path: Path) -> None:
    files = {
        **FILES,
        "config.yaml": ACCESS,
        "unnamed.graphql": "{ ...F } fragment F on Query { __schema { types { name } } }",
    }
    endpoint = compiled(tmp_path / "1", files)

    assert documents_of(endpoint)[id_of(files["unnamed.graphql"])] == []
    assert "unnamed.graphql:1:1 unkept-document: __schema" in doubted(tmp_path / "2", files)
