"""Codes of errors of JSON-RPC, of items of a batch, and of denials."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.errors.calls import StateUnavailable
from handler.server.auth.sealed_state import RequestStates
from tests.server.error_codes.asking import (
    STATE_KEY,
    Ask,
    ask,
    asked_of,
    call,
    endpoint,
    expect,
    posted,
    rows,
    running,
)
from tests.support.function import META, Context, Function
from tests.support.identities import HOLDER, KEY, identified

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
