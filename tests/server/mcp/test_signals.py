"""Progress, log messages and repeated arguments, through the function as Lambda calls it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.server.mcp.jsonrpc import MAX_NOTIFICATIONS
from handler.server.mcp.revisions import LEGACY
from tests.support.codes import rpc_error
from tests.support.function import META, MODERN, Answer, Context, Function, event_for, running_function
from tests.support.kits import with_kit

SIGNALS = "tests.support.acme_signals:kit"
BOTH = "application/json, text/event-stream"
PROGRESS = {"progressToken": "p1"}
LEVEL = {"io.modelcontextprotocol/logLevel": "info"}


@pytest.fixture
def function(served_demo: Compiled) -> Iterator[Function]:
    with running_function(with_kit(served_demo, SIGNALS), code_modules=("tests.support",)) as running:
        yield running


def message(tool: str, arguments: Any, meta: Any, *, identifier: Any = 9) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}


def counted(
    function: Function, meta: dict[str, Any], *, accept: str = BOTH, modern: bool = True, to: int = 3, **more: Any
) -> Answer:
    headers = {"accept": accept}
    if modern:
        headers |= {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "count"}
        meta = {**META, **meta}
    return function.post(message("count", {"to": to, **more}, meta), headers=headers)


def events_of(answer: Answer) -> list[Any]:
    assert answer.headers["content-type"].partition(";")[0] == "text/event-stream"
    return [json.loads(line.removeprefix("data: ")) for line in answer.body.decode().splitlines() if "data: " in line]


@pytest.mark.parametrize("modern", [True, False])
def test_progress_comes_before_the_answer_in_one_event_stream(function: Function, modern: bool) -> None:
    answer = counted(function, PROGRESS, modern=modern)

    *told, last = events_of(answer)
    assert answer.status == 200
    assert [each["params"] for each in told] == [
        {"progressToken": "p1", "progress": number, "total": 3} for number in (1, 2, 3)
    ]
    assert {each["method"] for each in told} == {"notifications/progress"}
    assert (last["id"], last["result"]["content"][0]["text"]) == (9, "counted to 3")


@pytest.mark.lambda_alone
def test_the_stream_leaves_lambda_as_text(function: Function) -> None:
    headers = {"accept": BOTH, "content-type": "application/json"}
    event = event_for("POST", function.path, body=json.dumps(message("count", {"to": 1}, PROGRESS)), headers=headers)

    response = function.handler(event, Context())

    assert response["isBase64Encoded"] is False
    assert response["body"].startswith("event: message\ndata: {")


def test_messages_are_sent_to_who_asks_for_their_level(function: Function) -> None:
    *told, _ = events_of(counted(function, LEVEL))

    assert [each["params"] for each in told] == [{"level": "info", "data": f"counted {n}"} for n in (1, 2, 3)]


def test_who_can_ask_for_messages_is_told_that_there_are_some(function: Function) -> None:
    """Source: MCP 2026-07-28, server/utilities/logging ("Capabilities")."""
    assert function.request("server/discover", modern=True).result["capabilities"]["logging"] == {}
    for revision in LEGACY:
        begun = function.request("initialize", {"protocolVersion": revision}).result
        assert (begun["protocolVersion"], "logging" in begun["capabilities"]) == (revision, False)


@pytest.mark.parametrize("meta", [{}, {"io.modelcontextprotocol/logLevel": "error"}, {"progressToken": True}])
def test_who_asks_for_nothing_gets_json(function: Function, meta: dict[str, Any]) -> None:
    answer = counted(function, meta)

    assert answer.headers["content-type"] == "application/json"
    assert answer.text == "counted to 3"


def test_messages_are_not_sent_in_the_legacy_era(function: Function) -> None:
    assert counted(function, LEVEL, modern=False).headers["content-type"] == "application/json"


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/json, text/event-stream;q=0"])
def test_who_does_not_take_event_streams_gets_json(function: Function, accept: str) -> None:
    answer = counted(function, PROGRESS, accept=accept)

    assert answer.headers["content-type"] == "application/json"
    assert answer.text == "counted to 3"


def test_a_call_that_fails_told_its_progress_all_the_same(function: Function) -> None:
    *told, last = events_of(counted(function, PROGRESS, stumble=True))

    assert (len(told), last["result"]["isError"]) == (3, True)
    assert "stumbled" not in json.dumps(last)


def test_an_error_is_json(function: Function) -> None:
    headers = {"accept": BOTH, "mcp-protocol-version": "2025-11-25"}

    answer = function.post(message("nothing", {}, PROGRESS), headers=headers)

    assert answer.headers["content-type"] == "application/json"
    assert answer.json["error"]["code"] == -32602


def test_batches_are_json(function: Function) -> None:
    calls = [message("count", {"to": 2}, PROGRESS, identifier=n) for n in (1, 2)]

    answer = function.post(calls, headers={"accept": BOTH})

    assert answer.headers["content-type"] == "application/json"
    assert [each["result"]["content"][0]["text"] for each in answer.json] == ["counted to 2"] * 2


def test_no_more_is_kept_than_is_sent(function: Function) -> None:
    *told, _ = events_of(counted(function, PROGRESS, to=MAX_NOTIFICATIONS + 5))

    assert len(told) == MAX_NOTIFICATIONS
    assert told[-1]["params"]["progress"] == MAX_NOTIFICATIONS + 5


def looked(function: Function, arguments: Any, **headers: str) -> Answer:
    routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "look"}
    named = {f"mcp-param-{name}": value for name, value in headers.items()}
    return function.post(message("look", arguments, META), headers={**routing, **named})


def test_arguments_that_headers_repeat_are_taken(function: Function) -> None:
    arguments = {"region": "größe", "limit": 5}

    answer = looked(function, arguments, region="=?base64?Z3LDtsOfZQ==?=", limit="5")

    assert answer.result["structuredContent"] == {"looked": arguments}


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({}, "mcp-param-region is missing"),
        ({"region": "us"}, "mcp-param-region differs from the body"),
        ({"region": "eu, eu"}, "mcp-param-region differs from the body"),
        ({"region": "eu", "limit": "1"}, "mcp-param-limit has no argument that it repeats"),
    ],
)
def test_headers_that_say_something_else_are_refused(function: Function, headers: dict[str, str], why: str) -> None:
    answer = looked(function, {"region": "eu"}, **headers)

    assert (answer.status, answer.json["id"]) == (400, 9)
    assert answer.json["error"] == rpc_error(-32020, f"Header mismatch: {why}", "header-mismatch")
    assert (function.lines[0]["outcome"], function.lines[0]["reason"]) == ("rejected", "HeaderMismatch")
    assert function.lines[0]["decision"] == "refused"


def test_arguments_are_not_repeated_in_the_legacy_era(function: Function) -> None:
    assert not function.call("look", {"region": "eu"}).result.get("isError")


def test_tools_of_other_kinds_have_no_such_headers(function: Function) -> None:
    email = {"variables": {"email": "x@example.com"}}
    answer = function.request(
        "tools/call",
        {"name": "customer-by-email", "arguments": email},
        modern=True,
        headers={"mcp-param-email": "y@example.com"},
    )

    assert not answer.result.get("isError")


@pytest.mark.lambda_alone
def test_a_tool_that_does_not_answer_is_given_up(function: Function) -> None:
    short = dataclasses.replace(function, context=Context(remaining_ms=800))

    answer = short.call("wait", {})

    assert answer.result["isError"] is True
    assert answer.text.startswith("Tool timed out after 0.")
