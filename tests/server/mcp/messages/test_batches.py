"""Batches, which MCP 2025-03-26 has and no other revision: one answer, and each item's own result or error.

Source: MCP 2025-03-26, basic ("Batching") and basic/transports.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.server.mcp.jsonrpc import MAX_BATCH
from tests.support.codes import rpc_error, unknown_tool
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.upstream import Upstream

SDL = "type Query { customer(email: String!): Customer } type Customer { id: ID! name: String! ssn: String }"
OPERATIONS = """
query T($email: String!) @mcpTool(name: "t") { customer(email: $email) { name } }
query Scoped($email: String!) @mcpTool(name: "scoped", scopes: ["orders:read"]) { customer(email: $email) { name } }
query Hidden($email: String!) @mcpTool(name: "hidden") { customer(email: $email) { ssn } }
"""
ON_SSN = "{type: Customer, rules: [{condition: false, fields: [ssn]}], policyDefault: {condition: true}}"
ACCESS = READABLE.replace("}]}", f"}}, {ON_SSN}]}}")
EMAIL = {"email": "elif.nunez@example.com"}
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}
DONE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(tool: str, number: int, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": {**EMAIL, **arguments}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.fixture
def function(upstream: Upstream, tmp_path: Path) -> Iterator[Function]:
    files = {
        "index.graphql": SDL,
        "operations/o.graphql": OPERATIONS,
        "resources/notes.md": "# Notes",
        "config.yaml": f"upstream: {{url: '{upstream.url}'}}\n{ACCESS}",
    }
    upstream.clear()
    with running_function(identified(compiled(tmp_path, files), {"sub": "1", "scope": "other"})) as running:
        yield running


def post(function: Function, items: Any, headers: Mapping[str, str] = HOLDER) -> Answer:
    return function.post(json.dumps(items), headers=headers)


def test_each_request_is_answered_in_its_order_and_notifications_are_not(function: Function) -> None:
    answer = post(function, [call("t", 1), DONE, LIST, call("t", 2, email=7)])

    assert answer.status == 200
    first, listed, wrong = answer.json
    (text,) = first["result"]["content"]
    assert (first["id"], json.loads(text["text"])["data"]["customer"]["name"]) == (1, "Elif Núñez")
    assert (listed["id"], [tool["name"] for tool in listed["result"]["tools"]]) == ("list", ["t", "scoped"])
    assert (wrong["id"], wrong["result"]["isError"]) == (2, True)


def test_a_denied_item_is_an_error_of_its_own(function: Function, upstream: Upstream) -> None:
    answer = post(function, [call("scoped", 1), call("hidden", 2), call("nothing", 3), call("t", 4)])

    scoped, hidden, nothing, fine = answer.json
    assert answer.status == 200
    assert "www-authenticate" not in answer.headers
    assert scoped["error"] == rpc_error(
        -32001, "scoped needs a token with the scopes orders:read", "insufficient-scope"
    )
    assert hidden["error"] == unknown_tool("hidden")
    assert nothing["error"] == unknown_tool("nothing")
    assert "result" in fine
    assert len(upstream.requests()) == 1


def test_an_anonymous_item_that_needs_a_credential_is_an_error_of_its_own(function: Function) -> None:
    answer = post(function, [call("scoped", 1), call("t", 2)], headers={})

    scoped, fine = answer.json
    assert scoped["error"] == rpc_error(-32001, "a credential is required", "credential-required")
    assert "result" in fine


def test_a_refused_credential_refuses_the_whole_batch(function: Function) -> None:
    answer = post(function, [LIST], headers={"x-api-key": "stile_of_nobody_at_all"})

    assert answer.status == 401
    assert answer.json["error"] == "unauthorized"


def test_the_log_says_of_each_call_what_was_decided(function: Function) -> None:
    post(function, [call("t", 1), DONE, call("scoped", 2), call("hidden", 3), {"id": 4}])

    (line,) = function.lines
    assert (line["method"], line["outcome"]) == ("batch", "ok")
    assert line["calls"][0].pop("upstream_ms") > 0
    assert line["calls"][0].pop("upstream_status") == 200
    assert line["calls"][0].pop("answer_tokens") > 0
    assert line["calls"] == [
        {"method": "tools/call", "tool": "t", "kind": "prescribed", "decision": "allowed", "outcome": "ok"},
        {
            "method": "tools/call",
            "tool": "scoped",
            "kind": "prescribed",
            "decision": "denied",
            "outcome": "denied",
            "reason": "insufficient_scope",
            "code": "insufficient-scope",
        },
        {
            "method": "tools/call",
            "tool": "hidden",
            "decision": "denied",
            "outcome": "rejected",
            "reason": "ToolNotFound",
            "code": "tool-not-found",
        },
        {"outcome": "rejected", "reason": "InvalidRequest", "code": "invalid-request"},
    ]


def test_what_is_no_request_is_an_error_beside_the_others(function: Function) -> None:
    unknown = {"jsonrpc": "2.0", "id": "x", "method": "tools/explode"}
    initialize = {"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {}}
    answer = post(function, [1, [], {"id": True, "method": "ping"}, unknown, initialize, LIST])

    *wrong, listed = answer.json
    assert [(item["id"], item["error"]["code"]) for item in wrong] == [
        (None, -32600),
        (None, -32600),
        (None, -32600),
        ("x", -32601),
        (5, -32600),
    ]
    assert "result" in listed


def test_the_error_of_an_item_has_the_data_that_it_has_alone(function: Function) -> None:
    absent = {"jsonrpc": "2.0", "id": 6, "method": "resources/read", "params": {"uri": "stile://nowhere"}}

    (item,) = post(function, [absent]).json

    assert item == function.post(absent, headers=HOLDER).json
    assert item["error"] == {
        "code": -32002,
        "message": "Resource not found: stile://nowhere",
        "data": {"code": "resource-not-found", "uri": "stile://nowhere"},
    }


def test_notifications_alone_are_accepted_without_a_body(function: Function) -> None:
    answer = post(function, [DONE, DONE])

    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("items", [[], [LIST] * (MAX_BATCH + 1)])
def test_a_batch_has_a_bounded_number_of_messages(function: Function, items: list[Any]) -> None:
    answer = post(function, items)

    assert (answer.status, answer.code) == (400, "invalid-request")
    assert answer.json["error"]["message"] == "Invalid request: a batch has 1 to 20 messages"


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28", "2024-11-05"])
def test_other_revisions_have_no_batches(function: Function, revision: str) -> None:
    answer = post(function, [LIST], headers={**HOLDER, "mcp-protocol-version": revision})

    assert answer.status == 400
    assert answer.json["error"]["code"] == -32600
    assert post(function, [LIST], headers={**HOLDER, "mcp-protocol-version": "2025-03-26"}).status == 200
