"""Notifications of a call reach a client that asks for them, in one body with the answer."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from itertools import repeat
from typing import Any

import pytest

from handler.server.asgi.response_size import LAMBDA, MAX_PAYLOAD_BYTES
from handler.server.mcp.code_tools import MAX_MESSAGES_BYTES, LastMessages
from handler.server.mcp.event_stream import event_stream
from handler.server.mcp.jsonrpc import Request
from handler.server.mcp.revisions import LEGACY, MODERN

ANSWER = {"jsonrpc": "2.0", "id": 7, "result": {"content": []}}
LEVEL = "io.modelcontextprotocol/logLevel"


def progress(value: Any, token: Any = "t", **more: Any) -> dict[str, Any]:
    return {"method": "notifications/progress", "params": {"progressToken": token, "progress": value, **more}}


def message(level: str, data: Any = "x") -> dict[str, Any]:
    return {"method": "notifications/message", "params": {"level": level, "data": data}}


def events(meta: Any, *notifications: dict[str, Any], revision: str = MODERN[0]) -> list[Any]:
    """What a stream holds, read as clients do; nothing where there is no stream."""
    request = Request(id=7, method="tools/call", params={"_meta": meta}, revision=revision)
    body = event_stream(request, notifications, ANSWER, room=LAMBDA)
    if body is None:
        return []
    read = []
    for event in body.decode().split("\n\n")[:-1]:
        name, content = event.splitlines()
        assert name == "event: message"
        read.append(json.loads(content.removeprefix("data: ")))
    return read


@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
@pytest.mark.parametrize("token", ["t", 0, 5])
def test_progress_comes_in_its_order_before_the_answer(revision: str, token: Any) -> None:
    sent = [progress(1, token), progress(2.5, token, total=4, message="half")]

    first, second, answer = events({"progressToken": token}, *sent, revision=revision)

    assert first == {"jsonrpc": "2.0", **sent[0]}
    # MCP 2025-03-26, "Key Changes": "Added message field to ProgressNotification".
    words = {} if revision == "2024-11-05" else {"message": "half"}
    assert second == {"jsonrpc": "2.0", **progress(2.5, token, total=4, **words)}
    assert answer == ANSWER


@pytest.mark.parametrize("meta", [None, [], {}, {"progressToken": "other"}, {"progressToken": None}, {LEVEL: "loud"}])
def test_nothing_that_was_not_asked_for_is_sent(meta: Any) -> None:
    assert events(meta, progress(1), progress(1, None), message("emergency")) == []


@pytest.mark.parametrize(("asked", "sent"), [(1, True), (True, 1), ("1", 1), (1, 1.0)])
def test_a_progress_token_is_echoed_with_its_type(asked: Any, sent: Any) -> None:
    assert events({"progressToken": asked}, progress(1, sent)) == []


def test_progress_only_increases() -> None:
    sent = [progress(value) for value in (1, 1, 0.5, 2, float("nan"), "3", float("inf"), 2, 3)]

    *told, _ = events({"progressToken": "t"}, *sent)

    assert [each["params"]["progress"] for each in told] == [1, 2, 3]


def test_messages_come_from_the_level_asked_for_upwards() -> None:
    sent = [message(level) for level in ("debug", "warning", "error", "loud")]

    *told, answer = events({LEVEL: "warning"}, *sent)

    assert [each["params"]["level"] for each in told] == ["warning", "error"]
    assert answer == ANSWER


@pytest.mark.parametrize("revision", LEGACY)
def test_messages_are_asked_for_by_requests_of_the_modern_era_only(revision: str) -> None:
    assert events({LEVEL: "debug"}, message("error"), revision=revision) == []


def test_other_notifications_are_not_sent() -> None:
    other = {"method": "notifications/tools/list_changed", "params": {}}

    assert events({"progressToken": "t", LEVEL: "debug"}, other, {"method": "x"}, {}) == []


def test_a_message_that_is_no_json_is_left_out() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    told = events({LEVEL: "debug"}, message("info", object()), message("info", deep), message("info", "fine"))

    assert [each.get("params") for each in told] == [{"level": "info", "data": "fine"}, None]


def test_no_text_ends_a_line_of_the_stream() -> None:
    text = "a\nb\r\nc\x85d\u2028e\u2029f\x0b\x0cg\x1c\x1d\x1eh"

    told, _ = events({LEVEL: "debug"}, message("info", text))

    assert told["params"]["data"] == text


def test_notifications_that_would_not_fit_beside_the_answer_are_left_out() -> None:
    assert events({LEVEL: "debug"}, message("info", "x" * MAX_PAYLOAD_BYTES)) == []


def test_notifications_are_not_written_beyond_the_room() -> None:
    request = Request(id=7, method="tools/call", params={"_meta": {LEVEL: "info"}}, revision=MODERN[0])
    messages = repeat(message("info", "x" * 100_000), 200)

    assert event_stream(request, messages, ANSWER, room=LAMBDA) is None
    assert len([*messages]) > 100


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: {"looking for": text}])
def test_messages_that_repeat_long_arguments_are_kept_within_a_size(wrap: Callable[[str], Any]) -> None:
    kept: deque[dict[str, Any]] = deque(maxlen=5)
    last = LastMessages(kept)
    for number in range(20):
        last.add(message("info", wrap(f"{number}" * (MAX_MESSAGES_BYTES // 7))))
    last.add(message("info", wrap("x" * (MAX_MESSAGES_BYTES + 1))))

    assert [each["params"]["data"] for each in kept] == [
        wrap(f"{number}" * (MAX_MESSAGES_BYTES // 7)) for number in (17, 18, 19)
    ]


def test_last_of_many_messages_that_can_be_sent_are_kept() -> None:
    kept: deque[dict[str, Any]] = deque(maxlen=5)
    last = LastMessages(kept)
    for number in range(20):
        last.add(message("info", {"number": number, "value": object() if number % 2 else None}))

    assert [each["params"]["data"]["number"] for each in kept] == [10, 12, 14, 16, 18]


def test_contexts_of_one_call_have_one_bound_on_their_messages() -> None:
    kept: deque[dict[str, Any]] = deque(maxlen=5)
    for text in ("x", "y" * (MAX_MESSAGES_BYTES // 2)):
        last = LastMessages(kept)
        for _ in range(20):
            last.add(message("info", text))

    assert [len(each["params"]["data"]) for each in kept] == [MAX_MESSAGES_BYTES // 2] * 2
