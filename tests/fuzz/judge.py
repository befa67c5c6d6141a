"""What may be answered to a request, whatever is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.fuzz.mutations import Case

STATUSES = frozenset({200, 202, 400, 401, 403, 404, 405, 406, 413, 415})
"""That the documentation names for this route."""

INTERNALS = re.compile(
    rb'Traceback|File \\?"|\.py\b|site-packages|handler[./]|object at 0x|\b[A-Z]\w+(?:Error|Exception)\b'
)

CODES = frozenset({-32700, -32600, -32601, -32602, -32020, -32021, -32022, -32001, -32002})


class Wrong(Exception):
    """An answer that may not be."""


def judge(case: Case, response: Mapping[str, Any]) -> str:
    """Say of what kind the answer is: its status, or the code of its error.

    Raises:
        Wrong: it is none that may be.
    """
    status, body = response["statusCode"], (response.get("body") or "").encode()
    headers = {name.lower(): value for name, value in response.get("headers", {}).items()}
    _require(status in STATUSES, f"status {status}")
    _require(not response.get("isBase64Encoded"), "the body is in base64")
    _require(not INTERNALS.search(body), "internals in the body")
    _require("x-request-id" in headers and headers.get("cache-control") == "no-store", "headers that all answers have")
    _require("mcp-session-id" not in headers, "a session")
    _require(status != 405 or "POST" in headers.get("allow", ""), "405 without Allow")
    _require(status != 401 or "www-authenticate" in headers, "401 without a challenge")
    if status == 202 or not body:
        _require(not body, "202 with a body")
        _require(status == 202 or case.verb in ("HEAD", "OPTIONS"), f"{status} without a body")
        return str(status)
    return _judge_body(case, status, _parsed(headers.get("content-type", ""), body))


def _judge_body(case: Case, status: int, answer: Any) -> str:
    if isinstance(answer, list):
        _require(status == 200 and bool(answer), f"a batch with status {status}")
        requests = [each for each in _loaded(case.body) if not _is_notification(each)]
        _require(len(answer) == len(requests), "not an answer for each request")
        for each, request in zip(answer, requests, strict=True):
            _judge_message(each, request)
        return "batch"
    if "jsonrpc" not in answer:
        _require(status not in (200, 202), f"status {status} without JSON-RPC")
        _require(isinstance(answer.get("error"), str), "no sentence of an error")
        return str(status)
    kind = _judge_message(answer, _loaded(case.body))
    _require(status in (200, 400, 401, 404), f"JSON-RPC with status {status}")
    _require("result" not in answer or status == 200, f"a result with status {status}")
    return kind


def _judge_message(answer: Any, request: Any) -> str:
    _require(isinstance(answer, dict) and answer.get("jsonrpc") == "2.0", "no JSON-RPC")
    _require(("result" in answer) != ("error" in answer), "neither a result nor an error, or both")
    expected = _id_of(request)
    given = answer.get("id")
    _require(type(given) is type(expected) and given == expected, f"id {given!r:.50} for {expected!r:.50}")
    if "result" in answer:
        _require(isinstance(answer["result"], dict), "a result that is no object")
        return "error of a tool" if answer["result"].get("isError") else "result"
    error = answer["error"]
    _require(error.get("code") in CODES, f"code {error.get('code')}")
    _require(isinstance(error.get("message"), str) and bool(error["message"]), "an error without a message")
    return str(error["code"])


def _id_of(request: Any) -> Any:
    """The id that an answer has to have; ``None``: none, or null."""
    if not isinstance(request, dict) or _is_response(request):
        return None
    identifier = request.get("id")
    return identifier if isinstance(identifier, str | int) and not isinstance(identifier, bool) else None


def _is_response(message: Any) -> bool:
    return isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)


def _is_notification(message: Any) -> bool:
    if _is_response(message):
        return True
    is_message = (
        isinstance(message, dict) and message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    )
    return is_message and "id" not in message


def _loaded(body: bytes) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        return json.loads(body.decode(), parse_constant=refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _parsed(content_type: str, body: bytes) -> Any:
    if content_type.startswith("text/event-stream"):
        events = [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")]
        _require(all("id" not in event for event in events[:-1]), "an answer before the end of the stream")
        return events[-1]
    _require(content_type == "application/json", f"content type {content_type}")
    return json.loads(body)


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Wrong(otherwise)
