"""The stable code and the status of errors at each door, from real requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.upstream import BearerAuth, PassthroughAuth, UpstreamAuth
from handler.compiler.compile import Compiled
from handler.errors.calls import StateUnavailable
from handler.server.auth.sealed_state import RequestStates
from tests.docs.reference import codes, page, tables
from tests.support.endpoints import compiled
from tests.support.function import META, Answer, Context, Function, running_function
from tests.support.identities import HOLDER, KEY, identified
from tests.support.kits import MODULES, TOOLS, changed_tool, with_kit
from tests.support.raw_http import Peer, answer, answering, running_server
from tests.support.secrecy import SESSION

Ask = Callable[[Function], Answer]
Situation = tuple[Ask, int, str]

STATE_KEY = SESSION.keep("a key of states", "kP4v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsE")
JSON = {"content_type": "application/json"}
DOWN = "http://127.0.0.1:1/graphql"
ROUTE = "/graphql"

MINE = "query Mine($n: Int!) { mine(n: $n) }"
SET = "mutation Set($n: Int!) @mcpTool(name: {name}, confirm: {confirm}) {{ set(n: $n) }}"
FILES = {
    "index.graphql": """
extend schema @tool(name: "g", graphql: {expose: true, types: "Query|Mutation", fields: ".*"})
type Query { a: Int, number(n: Int!): Int, mine(n: Int!): Int, secret: Int }
type Mutation { set(n: Int!): Int }
""",
    "operations/a.graphql": 'query A @mcpTool(name: "a") { a }',
    "operations/number.graphql": 'query Number($n: Int!) @mcpTool(name: "number") { number(n: $n) }',
    "operations/scoped.graphql": 'query Scoped @mcpTool(name: "scoped", scopes: ["things:read"]) { a }',
    "operations/of_tenant.graphql": (
        'query OfTenant($n: Int! @mcpBind(claim: "tenant")) @mcpTool(name: "of_tenant") { number(n: $n) }'
    ),
    "operations/secret.graphql": 'query Secret @mcpTool(name: "secret") { secret }',
    "operations/mine.graphql": MINE.replace("($n", "($n").replace(") {", ') @mcpTool(name: "mine") {', 1),
    "operations/advisory.graphql": SET.format(name='"advisory"', confirm="advisory"),
    "operations/required.graphql": SET.format(name='"required"', confirm="required").replace("Set", "SetAlways"),
    "prompts/p.md": "---\narguments: [{name: topic, required: true}]\n---\nWrite about {{topic}}.",
}
CONFIG = """
upstream: {{url: '{url}', timeout_s: 1{upstream}}}
graphql: {mode}
access:
  anonymous: {anonymous}
  policies:
    - type: Query
      rules:
        - {{condition: false, fields: [secret]}}
        - {{condition: "$variables.n:Int == 1", fields: [mine]}}
      policyDefault: {{condition: true}}
    - {{type: Mutation, policyDefault: {{condition: true}}}}
"""


def endpoint(
    folder: Path, *, url: str = DOWN, mode: str = "on", anonymous: str = "allow", upstream: str = ""
) -> Compiled:
    config = CONFIG.format(url=url, mode=mode, anonymous=anonymous, upstream=upstream)
    return compiled(folder, {**FILES, "config.yaml": config})


@contextmanager
def running(made: Compiled, **services: Any) -> Iterator[Function]:
    with running_function(made, **services) as function:
        yield replace(function, path="/api/things/mcp")


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """An endpoint whose API is down, and whose callers need no credential."""
    return endpoint(tmp_path_factory.mktemp("silent"))


@contextmanager
def serving(folder: Path, *, url: str = DOWN, upstream: str = "", **services: Any) -> Iterator[Function]:
    with running(endpoint(folder, url=url, upstream=upstream), **services) as started:
        yield started


@pytest.fixture
def function(silent: Compiled) -> Iterator[Function]:
    with running(silent) as started:
        yield started


def expect(function: Function, ask: Ask, status: int, code: str) -> Answer:
    """Ask, and require the status, the code in the answer, and the same code in the log."""
    answered = ask(function)
    noted = function.lines[-1]

    assert (answered.status, answered.code, noted.get("code")) == (status, code, code), answered.body
    assert noted.get("failure") is None
    return answered


def call(tool: str, arguments: Any = None, *, headers: dict[str, str] | None = None) -> Ask:
    params = {"name": tool, "arguments": {} if arguments is None else arguments}
    return lambda function: function.request("tools/call", params, modern=True, headers=headers)


def ask(method: str, **params: Any) -> Ask:
    return lambda function: function.request(method, params, modern=True)


def asked_of(query: str, path: str = ROUTE, **more: Any) -> Ask:
    headers = more.pop("headers", None)
    return lambda function: function.graphql({"query": query, **more}, path, headers=headers)


def sent(method: str, path: str, *, body: str = "{}", **headers: str) -> Ask:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda function: function.send(method, path, body=body, headers=named)


def posted(message: Any, **headers: str) -> Ask:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda function: function.post(message, headers=named)


# Results of tools


@pytest.mark.parametrize(
    ("asking", "code"),
    [
        (call("number", {"n": "x"}), "invalid-arguments"),
        (call("number", {}), "invalid-arguments"),
        (call("g", {"query": "{ nothing }"}), "document-refused"),
        (call("g", {"query": "{ secret }"}), "document-refused"),
        (call("mine", {"n": 2}), "values-refused"),
        (call("of_tenant"), "binding-missing"),
        (call("advisory", {"n": 1}), "consent-required"),
        (call("required", {"n": 1}), "consent-impossible"),
        (call("a"), "upstream-unreachable"),
    ],
)
def test_result_of_a_tool_has_the_code_of_its_failure(function: Function, asking: Ask, code: str) -> None:
    answered = expect(function, asking, 200, code)

    assert answered.result["isError"]
    assert code not in answered.text


def stalls(peer: Peer) -> None:
    peer.read_request()
    peer.wait()


def hangs_up(peer: Peer) -> None:
    peer.read_request()
    peer.close()


def answers(body: bytes = b"", *, status: str = "200 OK", **headers: str) -> Callable[[Peer], None]:
    return answering(answer(body, status=status, **headers))


FAILURES: dict[str, Callable[[Peer], None]] = {
    "upstream-timeout": stalls,
    "upstream-broken": hangs_up,
    "upstream-redirect": answers(status="302 Found", location="http://127.0.0.1:1/"),
    "upstream-html": answers(b"<html>", content_type="text/html"),
    "upstream-bad-json": answers(b"{", **JSON),
    "upstream-not-graphql": answers(b'{"ok": 1}', **JSON),
    "upstream-media-type": answers(b"--a", content_type="multipart/mixed; boundary=a"),
    "upstream-encoding": answers(b"abc", content_encoding="zstd", **JSON),
    "upstream-too-large": answers(b'"' + b"x" * 2_000_000 + b'"', **JSON),
    "upstream-status": answers(b"down", status="502 Bad Gateway"),
    "upstream-limit": answers(b"slow down", status="429 Too Many Requests"),
    "upstream-refused": answers(b"no", status="401 Unauthorized"),
}


@pytest.mark.parametrize("code", FAILURES)
def test_failure_of_the_api_has_one_code_at_both_doors(tmp_path: Path, code: str) -> None:
    limit = ", max_bytes: 1000000, auth: {bearer: x}"
    with running_server(FAILURES[code]) as server, serving(tmp_path, url=server.url, upstream=limit) as function:
        expect(function, call("a"), 200, code)
        answered = expect(function, asked_of("{ a }"), 502, code)
        old = asked_of("{ a }", headers={"accept": "application/json"})(function)

    assert (old.status, old.json) == (200, answered.json)


def test_errors_of_the_api_keep_its_own_codes(tmp_path: Path) -> None:
    body = b'{"data": null, "errors": [{"message": "no", "extensions": {"code": "NOT_TODAY"}}, {"message": "no"}]}'
    with running_server(answers(body, **JSON)) as server, serving(tmp_path, url=server.url) as function:
        answered = expect(function, call("a"), 200, "api-errors")
        routed = asked_of("{ a }")(function)

    errors = [{"message": "no", "extensions": {"code": "NOT_TODAY"}}, {"message": "no"}]
    assert answered.result["structuredContent"]["errors"] == errors
    assert routed.json["errors"] == errors
    assert "code" not in function.lines[-1]


def test_errors_beside_data_are_no_failure_and_have_no_code(tmp_path: Path) -> None:
    body = b'{"data": {"a": 1, "b": null}, "errors": [{"message": "no"}]}'
    with running_server(answers(body, **JSON)) as server, serving(tmp_path, url=server.url) as function:
        answered = call("a")(function)

    assert "stile/code" not in answered.result["_meta"]
    assert "code" not in function.lines[-1]


def test_answer_that_violates_the_schema_has_a_code(tmp_path: Path) -> None:
    script = answers(b'{"data": {"a": "x"}}', **JSON)
    with running_server(script) as server, serving(tmp_path, url=server.url) as function:
        expect(function, call("a"), 200, "answer-misfit")


def test_api_that_did_not_answer_several_times_is_left_alone_with_a_code(function: Function) -> None:
    seen = [call("a")(function).code for _ in range(6)]

    assert set(seen) == {"upstream-unreachable", "circuit-open"}
    assert seen[-1] == "circuit-open"


def with_auth(made: Compiled, auth: UpstreamAuth) -> Compiled:
    return replace(made, bundle=replace(made.bundle, upstream=replace(made.bundle.upstream, auth=auth)))


def test_call_without_the_token_that_the_api_needs_has_a_code(silent: Compiled) -> None:
    with running(with_auth(silent, PassthroughAuth(audience="things"))) as function:
        expect(function, call("a"), 200, "caller-token-required")
        expect(function, asked_of("{ a }"), 403, "caller-token-required")


def test_credential_that_cannot_be_read_has_a_code(silent: Compiled) -> None:
    with running(with_auth(silent, BearerAuth(token="env:NOWHERE"))) as function:
        expect(function, call("a"), 200, "credential-unavailable")
        expect(function, asked_of("{ a }"), 502, "credential-unavailable")


# Tools, prompts and resources in Python


@pytest.fixture
def in_python(silent: Compiled) -> Iterator[Function]:
    kit = changed_tool(with_kit(silent, TOOLS), "surroundings", digest="0" * 64)
    with running(identified(kit, {"scope": ""}), code_modules=MODULES) as started:
        yield started


@pytest.mark.parametrize(
    ("asking", "status", "code"),
    [
        (call("refuse", headers=HOLDER), 200, "tool-error"),
        (call("boom", headers=HOLDER), 200, "code-failed"),
        (call("quit_it", headers=HOLDER), 200, "code-failed"),
        (call("echo", {"text": 1}, headers=HOLDER), 200, "invalid-arguments"),
        (call("surroundings", headers=HOLDER), 200, "code-changed"),
        (call("customer_name", {"email": "a@b.example"}, headers=HOLDER), 200, "tool-error"),
        (call("ask_graphql", {"query": "{ a }"}, headers=HOLDER), 200, "upstream-unreachable"),
        (call("book", {"room": "7"}, headers=HOLDER), 400, "missing-capability"),
        (lambda each: each.call("book", {"room": "7"}, headers=HOLDER), 200, "client-cannot-ask"),
        (call("error", {"code": 1001}, headers=HOLDER), 200, "own-error"),
        (call("error", {"code": -32602}, headers=HOLDER), 400, "invalid-params"),
        (call("needs_token"), 400, "authentication-required"),
        (call("scoped", headers=HOLDER), 403, "insufficient-scope"),
        (lambda each: each.request("prompts/get", {"name": "broken"}, modern=True), 200, "code-failed"),
        (lambda each: each.request("prompts/get", {"name": "greeting"}, modern=True), 400, "invalid-params"),
        (lambda each: each.request("resources/read", {"uri": "acme://pages/none"}, modern=True), 200, "code-failed"),
    ],
)
def test_what_python_answers_has_a_code(in_python: Function, asking: Ask, status: int, code: str) -> None:
    expect(in_python, asking, status, code)


def test_data_of_an_author_stays_and_gets_the_code_beside_it(in_python: Function) -> None:
    answered = call("error", {"code": 1001}, headers=HOLDER)(in_python)

    assert answered.json["error"]["data"] == {"code": "own-error", "x": 1}


def test_tool_in_python_that_takes_too_long_has_the_code_of_a_deadline(in_python: Function) -> None:
    expect(replace(in_python, context=Context(remaining_ms=800)), call("slow", headers=HOLDER), 200, "deadline-passed")


# JSON-RPC


def modern(method: str, *, version: str = "2026-07-28", **params: Any) -> dict[str, Any]:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": version}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


SPOKEN = {"mcp_protocol_version": "2026-07-28"}


@pytest.mark.parametrize(
    ("asking", "status", "code"),
    [
        (posted("{"), 400, "parse-error"),
        (posted([1], mcp_protocol_version="2025-11-25"), 400, "invalid-request"),
        (posted({"jsonrpc": "2.0", "id": None, "method": "ping"}), 400, "invalid-request"),
        (posted({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}, **SPOKEN), 400, "invalid-params"),
        (ask("tools/explode"), 404, "method-not-found"),
        (posted(modern("tools/list"), **SPOKEN, mcp_method="tools/call"), 400, "header-mismatch"),
        (posted(modern("tools/list"), **SPOKEN), 400, "header-mismatch"),
        (
            posted(modern("a", version="2027-01-01"), mcp_protocol_version="2027-01-01", mcp_method="a"),
            400,
            "unsupported-version",
        ),
        (ask("tools/call", name="a", arguments=[]), 400, "invalid-params"),
        (ask("tools/call", name="nothing"), 400, "tool-not-found"),
        (ask("tools/call", name="secret"), 400, "tool-not-found"),
        (ask("prompts/get", name="nothing"), 400, "prompt-not-found"),
        (ask("prompts/get", name="p"), 400, "invalid-params"),
        (ask("resources/read", uri="stile://nothing"), 400, "resource-not-found"),
        (ask("tools/list", cursor="nothing"), 400, "invalid-params"),
    ],
)
def test_error_of_json_rpc_has_a_code_in_its_data(function: Function, asking: Ask, status: int, code: str) -> None:
    answered = expect(function, asking, status, code)

    row = rows()[code]
    assert (str(answered.json["error"]["code"]), str(answered.status)) == (row[1], row[2])


def test_refused_state_has_one_code_for_every_cause(silent: Compiled) -> None:
    states = RequestStates([STATE_KEY])
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    with running(silent, states=states) as function:
        for state in ("", "e30=", 7, {"a": 1}):
            params = {"name": "required", "arguments": {"n": 1}, "_meta": meta, "requestState": state}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            asking = posted(message, **SPOKEN, mcp_method="tools/call", mcp_name="required")
            answered = expect(function, asking, 400, "state-refused")
            assert answered.json["error"]["data"] == {"code": "state-refused"}


def test_question_without_a_key_for_its_state_has_a_code(function: Function) -> None:
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    message = modern("tools/call", name="required", arguments={"n": 1})
    message["params"]["_meta"] = meta
    asking = posted(message, **SPOKEN, mcp_method="tools/call", mcp_name="required")
    expect(function, asking, 200, StateUnavailable.stile_code)


def test_unforeseen_failure_has_the_code_of_an_internal_error_at_both_doors(silent: Compiled) -> None:
    def broken_clock() -> float:
        raise ZeroDivisionError

    with running(identified(silent, {}), clock=broken_clock) as function:
        answered = call("a", headers=HOLDER)(function)
        routed = asked_of("{ a }", headers=HOLDER)(function)

    assert (answered.status, answered.code) == (200, "internal-error")
    assert (routed.status, routed.code) == (500, "internal-error")
    assert [line["code"] for line in function.lines] == ["internal-error"] * 2


def test_items_of_a_batch_have_codes_of_their_own(silent: Compiled) -> None:
    calls = [("scoped", {}), ("nothing", {}), ("number", {"n": "x"})]
    messages: list[Any] = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    with running(identified(silent, {"scope": ""})) as function:
        items = function.post([*messages, 7], headers=HOLDER).json

    assert [item.get("error", {}).get("data", {}).get("code") for item in items] == [
        "insufficient-scope",
        "tool-not-found",
        None,
        "invalid-request",
    ]
    assert items[2]["result"]["_meta"] == {"stile/code": "invalid-arguments"}
    noted = ["insufficient-scope", "tool-not-found", "invalid-arguments", "invalid-request"]
    assert [each["code"] for each in function.lines[-1]["calls"]] == noted


def test_items_after_the_time_of_a_batch_have_a_code(function: Function) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {}}}
    late = replace(function, context=Context(remaining_ms=0))
    items = late.post([message, message]).json

    assert [item["error"]["data"]["code"] for item in items] == ["batch-exceeded"] * 2
    assert [each["code"] for each in function.lines[-1]["calls"]] == ["batch-exceeded"] * 2


# Credentials

UNREADABLE = {"authorization": "Bearer"}
UNKNOWN = {"x-api-key": f"{KEY}x"}


@pytest.mark.parametrize(
    ("tool", "headers", "status", "code"),
    [
        ("a", {}, 401, "credential-required"),
        ("nothing", {}, 401, "credential-required"),
        ("a", UNREADABLE, 400, "credential-malformed"),
        ("a", UNKNOWN, 401, "credential-refused"),
        ("scoped", HOLDER, 403, "insufficient-scope"),
    ],
)
def test_denial_has_a_code(tmp_path: Path, tool: str, headers: dict[str, str], status: int, code: str) -> None:
    with running(identified(endpoint(tmp_path, anonymous="challenge"), {"scope": ""})) as function:
        expect(function, call(tool, headers=headers), status, code)
        if tool == "a":
            expect(function, asked_of("{ a }", headers=headers), status, code)


# GraphQL routes


def id_of(name: str) -> str:
    return f"sha256:{sha256(FILES[f'operations/{name}.graphql'].encode()).hexdigest()}"


def persisted(name: str, **variables: Any) -> Ask:
    return lambda function: function.graphql({"documentId": id_of(name), "variables": variables})


@pytest.mark.parametrize(
    ("asking", "status", "code"),
    [
        (asked_of("{ nothing }"), 400, "document-refused"),
        (asked_of("{"), 400, "document-refused"),
        (asked_of("query ($n: Int!) { mine(n: $n) }", variables={"n": 2}), 400, "document-refused"),
        (persisted("number", n="x"), 400, "invalid-arguments"),
        (persisted("mine", n=2), 403, "values-refused"),
        (persisted("of_tenant"), 400, "binding-missing"),
        (persisted("advisory", n=1), 403, "consent-required"),
        (persisted("required", n=1), 403, "consent-impossible"),
        (lambda each: each.graphql({"documentId": "sha256:0"}), 400, "document-not-found"),
        (persisted("secret"), 400, "document-not-found"),
        (lambda each: each.graphql([]), 400, "malformed-request"),
        (lambda each: each.get({}), 400, "malformed-request"),
        (asked_of("{ a }", "/tools/nothing/graphql"), 404, "tool-not-found"),
        (asked_of("{ a }", "/tools/secret/graphql"), 404, "tool-not-found"),
        (lambda each: each.get({"query": "mutation { set(n: 1) }"}), 405, "mutation-by-get"),
        (asked_of("{ a }", headers={"accept": "text/html"}), 406, "not-acceptable"),
        (asked_of("{ a }", headers={"content-type": "text/plain"}), 415, "unsupported-media-type"),
        (lambda each: each.send("PUT", "/api/things/graphql", body="{}"), 405, "method-not-allowed"),
        (asked_of("{ a }", "/graphql//"), 404, "not-found"),
    ],
)
def test_every_error_of_a_graphql_route_has_a_code(function: Function, asking: Ask, status: int, code: str) -> None:
    answered = expect(function, asking, status, code)

    assert {each["extensions"]["code"] for each in answered.json["errors"]} == {code}
    assert code not in " ".join(each["message"] for each in answered.json["errors"])


@pytest.mark.parametrize(
    ("mode", "status", "code"), [("off", 404, "graphql-off"), ("persisted", 403, "persisted-documents-only")]
)
def test_route_that_does_not_take_documents_says_so_by_a_code(
    tmp_path: Path, mode: str, status: int, code: str
) -> None:
    with running(endpoint(tmp_path, mode=mode)) as function:
        expect(function, asked_of("{ a }"), status, code)


# HTTP

MCP = "/api/things/mcp"
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})


@pytest.mark.parametrize(
    ("asking", "status", "code"),
    [
        (sent("GET", MCP), 405, "method-not-allowed"),
        (sent("GET", "/nowhere"), 404, "not-found"),
        (sent("GET", "/api%2Fthings/mcp"), 404, "not-found"),
        (sent("POST", "/api/nobody/mcp", content_type="application/json"), 404, "endpoint-not-found"),
        (sent("POST", "/0/nobody/mcp", content_type="application/json"), 404, "endpoint-not-found"),
        (sent("POST", MCP, content_type="text/plain"), 415, "unsupported-media-type"),
        (sent("POST", MCP, content_type="application/json", accept="text/html"), 406, "not-acceptable"),
        (sent("POST", MCP, body=" " * 1_048_577, content_type="application/json"), 413, "body-too-large"),
        (sent("POST", MCP, body=LIST, origin="https://a.example"), 403, "foreign-origin"),
        (sent("GET", "/.well-known/oauth-protected-resource/api/things/mcp"), 404, "not-found"),
        (sent("GET", "/api/things/oauth/authorize"), 404, "not-found"),
    ],
)  # fmt: skip
def test_refusal_by_http_has_a_code(function: Function, asking: Ask, status: int, code: str) -> None:
    answered = expect(function, asking, status, code)

    assert rows()[code][1] == str(answered.status)
    assert set(answered.json) == {"error", "code"}


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 421, "foreign-host"),
        ({"host": "127.0.0.1:8000", "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}, 403, "foreign-page"),
    ],
)
def test_own_machine_refuses_with_a_code(silent: Compiled, headers: dict[str, str], status: int, code: str) -> None:
    with running(silent, own_hosts=frozenset({"127.0.0.1:8000"})) as function:
        for path in (MCP, "/api/things/graphql"):
            expect(function, lambda each, path=path: each.send("GET", path, headers=headers), status, code)  # type: ignore[misc]


# Nothing is told by a code


def test_hidden_and_missing_things_have_equal_answers_but_for_their_names(function: Function) -> None:
    pairs = [
        (call("secret"), call("nobody")),
        (asked_of("{ a }", "/tools/secret/graphql"), asked_of("{ a }", "/tools/nobody/graphql")),
        (persisted("secret"), lambda each: each.graphql({"documentId": f"sha256:{'0' * 64}"})),
        (call("g", {"query": "{ secret }"}), call("g", {"query": "{ nobody }"})),
    ]
    for hidden, missing in pairs:
        one, other = hidden(function), missing(function)
        assert (one.status, one.body.replace(b"secret", b"nobody")) == (other.status, other.body)


def test_text_that_a_model_reads_never_has_a_code(function: Function, in_python: Function) -> None:
    for running, asking in [(function, call("number", {})), (in_python, call("boom", headers=HOLDER))]:
        answered = asking(running)
        assert answered.code
        assert answered.code not in json.dumps(answered.result["content"])


def rows() -> dict[str, list[str]]:
    """The rows of the page of codes, by code."""
    found = tables(page("reference/request-errors").text)
    return {codes(row[0])[0]: row for rows in found for row in rows[1:] if codes(row[0])}
