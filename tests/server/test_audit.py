"""The line of each call: who asked for what, what was decided, and what came of it. Nothing of what was said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from handler.server.auth.principal import Principal, Pseudonyms
from tests.support.endpoints import compiled
from tests.support.function import META, MODERN, Function, running_function
from tests.support.identities import HOLDER, KEY, identified
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream

LOG_KEY = SESSION.keep("a key of the log", "uV2m9Xq4Zc7Lr1Tb6Wn8Kd3Hf5Jp0Gsy")
PREFIX = "io.modelcontextprotocol/"
SUBJECT = "4711-subject"
CLAIMS = {"iss": "https://idp.example", "sub": SUBJECT, "scope": "orders:read"}
EMAIL = "elif.nunez@example.com"
DOCUMENT = f'{{ customer(email: "{EMAIL}") {{ name }} }}'
BAD = {"x-api-key": "stile_wrong_credential"}

SDL = """
type Query { customer(email: String!): Customer secret: Int }
type Mutation { placeOrder(customerId: ID!): Customer }
type Customer { id: ID! name: String! }
"""
EVERYTHING = '[{expose: true, types: "Query|Mutation", fields: ".*"}]'
INDEX = f"""
extend schema
  @tool(name: "g", graphql: {EVERYTHING})
  @tool(name: "scoped", graphql: {EVERYTHING}, scopes: ["orders:write"])
  @tool(name: "careful", graphql: {EVERYTHING}, confirm: advisory)
{SDL}
"""
CONFIG = """
graphql: on
upstream: {{url: '{url}'}}
access:
  anonymous: {anonymous}
  policies:
    - {{type: Query, rules: [{{condition: false, fields: [secret]}}], policyDefault: {{condition: true}}}}
    - {{type: Mutation, policyDefault: {{condition: true}}}}
"""
T = 'query T($email: String!) @mcpTool(name: "t") { customer(email: $email) { name } }'


@contextmanager
def serving(folder: Path, url: str, *, anonymous: str = "allow", **services: Any) -> Iterator[Function]:
    config = CONFIG.format(url=url, anonymous=anonymous)
    endpoint = compiled(folder, {"index.graphql": INDEX, "operations/t.graphql": T, "config.yaml": config})
    with running_function(identified(endpoint, CLAIMS), **services) as function:
        yield function


@pytest.fixture
def function(tmp_path: Path, upstream: Upstream) -> Iterator[Function]:
    with serving(tmp_path, upstream.url, pseudonyms=Pseudonyms(key=LOG_KEY)) as running:
        yield running


def facts(function: Function, *names: str) -> tuple[Any, ...]:
    """These facts of the newest line, which is the only one since the last time."""
    (line,) = function.lines
    function.lines.clear()
    assert line["duration_ms"] > 0
    return tuple(line.get(name) for name in names)


WHAT = ("who", "tool", "decision", "outcome", "reason")


def test_line_of_a_tool_call_says_who_what_and_what_came_of_it(function: Function) -> None:
    named = Pseudonyms(key=LOG_KEY).of(Principal(kind="api_key", name="ops", claims=CLAIMS))
    holder = asyncio.get_event_loop().run_until_complete(named)

    function.call("t", {"email": EMAIL}, headers=HOLDER)
    assert facts(function, *WHAT) == (holder, "t", "allowed", "ok", None)
    function.call("t", {"email": EMAIL})
    assert facts(function, *WHAT) == ("anonymous", "t", "allowed", "ok", None)


CALLS: dict[str, tuple[str, dict[str, Any], tuple[str, str, str]]] = {
    "arguments that do not fit": ("t", {"email": 5}, ("refused", "tool_error", "InvalidArguments")),
    "a document outside the view": ("g", {"query": "{ secret }"}, ("refused", "tool_error", "DocumentRefused")),
    "no consent": (
        "careful",
        {"query": 'mutation { placeOrder(customerId: "1") { name } }'},
        ("refused", "tool_error", "ConsentRequired"),
    ),
    "an unknown tool": ("nothing", {}, ("denied", "rejected", "ToolNotFound")),
    "a scope that lacks": (
        "scoped",
        {"query": DOCUMENT},
        ("denied", "denied", "insufficient_scope"),
    ),
    "arguments that are no object": ("t", [], ("refused", "rejected", "InvalidParams")),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("name", CALLS)
def test_line_of_a_call_that_is_not_made_says_why(function: Function, name: str) -> None:
    tool, arguments, expected = CALLS[name]

    function.call(tool, arguments, headers=HOLDER)

    who, noted, decision, outcome, reason = facts(function, *WHAT)
    assert who.startswith("hmac:")
    assert (noted, decision, outcome, reason) == (tool, *expected)


OPERATIONS: dict[str, tuple[str, dict[str, Any], tuple[str | None, str, str, str | None]]] = {
    "a document": ("/graphql", {"query": DOCUMENT}, (None, "allowed", "ok", None)),
    "a document for a tool": ("/tools/g/graphql", {"query": DOCUMENT}, ("g", "allowed", "ok", None)),
    "a document outside the view": (
        "/graphql",
        {"query": "{ secret }"},
        (None, "refused", "refused", "DocumentRefused"),
    ),
    "an unknown id": ("/graphql", {"documentId": "sha256:0"}, (None, "denied", "rejected", "DocumentNotFound")),
    "an unknown tool": ("/tools/no/graphql", {"query": DOCUMENT}, ("no", "denied", "rejected", "ToolNotFound")),
    "a prescribed tool": ("/tools/t/graphql", {"query": DOCUMENT}, ("t", "denied", "rejected", "ToolNotFound")),
    "a scope that lacks": (
        "/tools/scoped/graphql",
        {"query": DOCUMENT},
        ("scoped", "denied", "denied", "insufficient_scope"),
    ),
    "no operation at all": ("/graphql", {}, (None, "refused", "rejected", "malformed")),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_line_of_a_graphql_operation_says_what_was_decided(function: Function, name: str) -> None:
    path, parameters, expected = OPERATIONS[name]

    function.graphql(parameters, path, headers=HOLDER)

    who, *noted = facts(function, *WHAT)
    assert who.startswith("hmac:")
    assert tuple(noted) == expected


def test_failure_of_the_api_is_no_refusal(tmp_path: Path) -> None:
    reason = "UpstreamUnreachable: connection refused"
    with serving(tmp_path, "http://127.0.0.1:9/graphql") as function:
        assert function.call("t", {"email": EMAIL}).result["isError"] is True
        assert facts(function, *WHAT) == ("anonymous", "t", "allowed", "tool_error", reason)
        assert function.graphql({"query": DOCUMENT}).status == 502
        assert facts(function, *WHAT) == ("anonymous", None, "allowed", "errors", reason)


@pytest.mark.parametrize("path", ["/mcp", "/graphql", "/tools/g/graphql"])
def test_line_of_a_challenge_says_that_nobody_was_known(tmp_path: Path, upstream: Upstream, path: str) -> None:
    with serving(tmp_path, upstream.url, anonymous="challenge") as function:
        function.post({"query": DOCUMENT}, path=f"/api/things{path}")
        assert facts(function, "who", "principal", "decision", "status") == ("anonymous", "anonymous", "denied", 401)
        function.post({"query": DOCUMENT}, path=f"/api/things{path}", headers=BAD)
        assert facts(function, "who", "principal", "decision", "status") == (None, None, "denied", 401)


def test_anonymous_call_of_an_unknown_tool_is_denied(function: Function) -> None:
    function.call("nothing", {})

    assert facts(function, *WHAT) == ("anonymous", "nothing", "denied", "denied", "no_credential")


MESSAGES: dict[str, tuple[bytes | dict[str, Any], dict[str, str], str]] = {
    "a method that there is not": ({"id": 1, "method": "secret/method"}, {}, "MethodNotFound"),
    "a version that there is not": (
        {"id": 1, "method": "ping", "params": {"_meta": {**META, f"{PREFIX}protocolVersion": "secret"}}},
        {"mcp-protocol-version": "secret", "mcp-method": "ping"},
        "UnsupportedVersion",
    ),
    "a header that differs": (
        {"id": 1, "method": "ping", "params": {"_meta": META}},
        {"mcp-protocol-version": MODERN, "mcp-method": "secret"},
        "HeaderMismatch",
    ),
    "no JSON": (b"secret", {}, "ParseError"),
    "no message": (b"[]", {}, "InvalidRequest"),
    "a cursor": ({"id": 1, "method": "tools/list", "params": {"cursor": "secret"}}, {}, "InvalidParams"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_line_of_a_message_that_is_rejected_has_a_word_for_it_and_none_of_its_own(
    function: Function, name: str
) -> None:
    message, headers, reason = MESSAGES[name]

    function.post(message if isinstance(message, bytes) else {"jsonrpc": "2.0", **message}, headers=headers)

    (line,) = function.lines
    assert (line["outcome"], line["reason"]) == ("rejected", reason)
    assert "secret" not in str({fact: value for fact, value in line.items() if fact != "method"})


def test_other_requests_have_a_line_without_a_decision(function: Function) -> None:
    function.request("tools/list", headers=HOLDER)
    assert facts(function, "decision", "outcome") == (None, "ok")
    function.send("GET", "/nowhere")
    assert facts(function, "decision", "outcome", "reason", "status") == (None, "rejected", "Not Found", 404)


def test_no_line_holds_anything_that_was_said(function: Function) -> None:
    headers = {**HOLDER, "x-tenant": "secret-tenant", "cookie": "secret-cookie"}
    for tool, arguments, _ in CALLS.values():
        function.call(tool, arguments, headers=headers)
    function.call("t", {"email": EMAIL}, headers=headers)
    for path, parameters, _ in OPERATIONS.values():
        function.graphql(parameters, path, headers=headers)
        function.graphql(parameters, path, headers=BAD)

    assert len(function.lines) == len(CALLS) + 1 + 2 * len(OPERATIONS)
    lines = str(function.lines)
    for word in (KEY, BAD["x-api-key"], EMAIL, "Elif", SUBJECT, "idp.example", "secret", "customer", "placeOrder"):
        assert word not in lines


def test_plain_subjects_are_in_the_line_where_the_owner_wants_them(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream.url, pseudonyms=Pseudonyms(plain=True)) as function:
        function.call("t", {"email": EMAIL}, headers=HOLDER)

        assert facts(function, "who") == (f"https://idp.example {SUBJECT}",)


def test_key_without_claims_is_named_as_its_owner_named_it(tmp_path: Path, upstream: Upstream) -> None:
    config = CONFIG.format(url=upstream.url, anonymous="allow")
    endpoint = compiled(tmp_path, {"index.graphql": INDEX, "operations/t.graphql": T, "config.yaml": config})
    with running_function(identified(endpoint, None, key="nightly")) as function:
        function.call("t", {"email": EMAIL}, headers=HOLDER)

        assert facts(function, "who", "principal") == ("nightly", "api_key")
