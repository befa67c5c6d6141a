"""Valid requests of every method and revision, and what can be wrong with each."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handler.server.mcp.revisions import LEGACY, MODERN
from tests.support.every_method import CALLS, LEGACY_CALLS, MODERN_CALLS, headers_of, message_of

ODD_NUMBERS = (0, -1, 1.5, -0.0, 2**53, 2**63, 2**200, 1e308, 1e-308, 10**4_000)
ODD_TEXTS = (
    *(
        "",
        " ",
        "0",
        "null",
        "\x00",
        "\x1b[31m",
        "\r\nx-a: b",
        "\ufeff",
        "\u202e",
        "\ud800",
        "\udfff\ud800",
        "\U0001f600",
    ),
    *(
        "é" * 300,
        "x" * 10_000,
        "../../etc/passwd",
        "{{number}}",
        "${jndi}",
        "' OR 1=1 --",
        "%00",
        "2026-07-28",
        "__proto__",
    ),
    *("ping", "tools/list", "tools/call", "notifications/initialized", "logging/setLevel", "subscriptions/listen"),
)
ODD_HEADERS = (
    *(
        "",
        " ",
        "\t",
        "a, a",
        "x" * 9_000,
        "é",
        "\u2028",
        "\x01",
        "=?base64??=",
        "=?base64?YQ==?=",
        "=?base64?!?=",
        "*/*",
    ),
    *("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2026-07-28, 2026-07-28", "2099-01-01", "null", "-1"),
    *("application/json", "text/event-stream", "application/json;q=0", "text/html, */*;q=0.1", "https://evil.example"),
    *("Bearer x", "Bearer", "Basic eDp5", "Apikey k", "Bearer a.b.c", "00-" + "a" * 32 + "-" + "b" * 16 + "-01"),
)
# No Host: API Gateway has checked it, and Mangum reads a port from it.
HEADER_NAMES = (
    *("accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id"),
    *(
        "authorization",
        "x-api-key",
        "origin",
        "cookie",
        "traceparent",
        "tracestate",
        "baggage",
        "x-forwarded-host",
    ),
    *("mcp-param-limit", "mcp-param-region", "content-length", "transfer-encoding", "content-encoding", "x-"),
)
VERBS = ("GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "post", "")
KEYS = (
    "id",
    "jsonrpc",
    "method",
    "params",
    "_meta",
    "name",
    "arguments",
    "cursor",
    "uri",
    "ref",
    "requestState",
    "result",
)
LARGE_BYTES = 1_100_000
LARGE_SHARE = 0.002


@dataclass
class Case:
    """One HTTP request. ``body`` is sent as it is; where it is JSON still, that is ``message``."""

    verb: str = "POST"
    path: str = "/api/things/mcp"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def seeds() -> list[tuple[Any, dict[str, str]]]:
    """Messages that are right, and their headers: of all revisions, and batches where there are any."""
    made: list[tuple[Any, dict[str, str]]] = []
    for revision in (*LEGACY, *MODERN):
        calls: Mapping[str, Any] = {**CALLS, **(MODERN_CALLS if revision in MODERN else LEGACY_CALLS)}
        for method, params in calls.values():
            made.append((message_of(revision, method, params), headers_of(revision, method, params)))
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        made.append((done, {"mcp-protocol-version": revision}))
    batch = [message_of("2025-03-26", *CALLS[name], identifier=name) for name in ("tools", "prescribed", "code")]
    made += [(batch, {"mcp-protocol-version": "2025-03-26"}), (batch, {})]
    told = message_of("2025-11-25", "tools/call", {**CALLS["code"][1], "_meta": {"progressToken": "p"}})
    made.append((told, headers_of("2025-11-25", "tools/call", {"name": "count"})))
    return made


def make_case(chance: random.Random, valid: list[tuple[Any, dict[str, str]]]) -> Case:
    """A valid request with one to four things changed; one in fifty stays as it is."""
    message, headers = chance.choice(valid)
    case = Case(headers={"content-type": "application/json", **headers})
    changes = 0 if chance.random() < 0.02 else chance.randint(1, 4)
    kinds = [chance.choice((*[_change_json] * 4, *[_change_headers] * 3, _change_bytes)) for _ in range(changes)]
    for _ in range(kinds.count(_change_json)):
        message = _change_json(chance, message)
    case.body = json.dumps(message, ensure_ascii=chance.random() < 0.5).encode(errors="surrogatepass")
    for _ in range(kinds.count(_change_headers)):
        _change_headers(chance, case.headers)
    for _ in range(kinds.count(_change_bytes)):
        case.body = _change_bytes(chance, case.body)
    if chance.random() < 0.01:
        case.verb = chance.choice(VERBS)
    if chance.random() < 0.01:
        case.path = chance.choice(
            (case.path + "/", "/api/things", "/api//mcp", "/api/%2e%2e/mcp", "/é/ü/mcp", "/a/b/mcp", "")
        )
    return case


def _change_json(chance: random.Random, message: Any) -> Any:
    places = list(_places(message, ()))
    place = chance.choice(places)
    changes: tuple[Callable[[random.Random, Any], Any], ...] = (_odd, _odd, _wrapped, _deep, _other_type)
    if chance.random() < 0.25:
        return _without(message, place)
    if chance.random() < 0.15:
        return _with_key(chance, message, place)
    if chance.random() < 0.15:
        return _set(message, place, _get(message, chance.choice(places)))
    return _set(message, place, chance.choice(changes)(chance, _get(message, place)))


def _places(value: Any, path: tuple[Any, ...]) -> Any:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


def _get(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _set(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    changed = copy.copy(value)
    changed[path[0]] = _set(value[path[0]], path[1:], new)
    return changed


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    if not path:
        return value
    parent = copy.copy(_get(value, path[:-1]))
    del parent[path[-1]]
    return _set(value, path[:-1], parent)


def _with_key(chance: random.Random, value: Any, path: tuple[Any, ...]) -> Any:
    """Another member beside those of an object, or an item more of a list."""
    here = copy.copy(_get(value, path))
    if isinstance(here, dict):
        here[chance.choice((*KEYS, *ODD_TEXTS[:14]))] = _odd(chance, None)
    elif isinstance(here, list):
        here += here[:1] * chance.choice((1, 2, 30))
    return _set(value, path, here)


def _odd(chance: random.Random, _: Any) -> Any:
    return chance.choice(
        (None, True, False, [], {}, [[]], {"": {}}, chance.choice(ODD_NUMBERS), chance.choice(ODD_TEXTS))
    )


def _wrapped(chance: random.Random, value: Any) -> Any:
    return chance.choice(([value], {"a": value}, [value] * 3, dict.fromkeys(KEYS, value)))


def _deep(chance: random.Random, value: Any) -> Any:
    for _ in range(chance.choice((20, 63, 64, 65, 120))):
        value = chance.choice(([value], {"a": value}))
    return value


def _other_type(chance: random.Random, value: Any) -> Any:
    match value:
        case str():
            return chance.choice(
                (value.upper(), value + " ", value * 3, [value], value.encode(errors="replace").hex(), value[:-1])
            )
        case bool() | None:
            return chance.choice((0, 1, "true", "null"))
        case int() | float():
            return chance.choice((str(value), -value, [value], value * 10**20)) if abs(value) < 2**53 else str(value)
        case _:
            return chance.choice((json.dumps(value), list(value), len(value)))


def _change_headers(chance: random.Random, headers: dict[str, str]) -> None:
    name = chance.choice((*headers, *HEADER_NAMES))
    value = headers.get(name, "")
    if chance.random() < 0.2:
        headers.pop(name, None)
    elif chance.random() < 0.3 and value:
        changed = (
            f"{value}, {value}",
            f" {value}\t",
            value.upper(),
            value + "x",
            value[:-1],
            f"=?base64?{value}?=",
            f'"{value}"',
        )
        headers[name] = chance.choice(changed)
    elif chance.random() < 0.1:
        headers[name.title()] = value or chance.choice(ODD_HEADERS)
    else:
        headers[name] = chance.choice(ODD_HEADERS)


def _change_bytes(chance: random.Random, body: bytes) -> bytes:
    start = chance.randrange(len(body) + 1)
    end = min(len(body), start + chance.randint(1, 20))
    if chance.random() < LARGE_SHARE:
        return body[:-1] + b" " * LARGE_BYTES + body[-1:]
    text = body.decode(errors="replace")
    return chance.choice(
        (
            body[:start] + bytes([chance.randrange(256)]) + body[start + 1 :],
            body[:start] + body[end:],
            body[:end] + body[start:end] + body[end:],
            body[:start],
            body[:start] + chance.randbytes(5) + body[start:],
            b"\xef\xbb\xbf" + body,
            text.encode(chance.choice(("utf-16", "utf-32", "utf-7")), errors="replace"),
            body.replace(b":", chance.choice((b"::", b"=", b": 1e999, ", b": NaN,")), 1),
            # The same member twice.
            body.replace(b"{", b'{"id": 77, "method": "tools/list", ', 1),
            body + chance.choice((b"\n", b"\x00", b"{}", b",", b"]" * 50, b" " * 5_000)),
            b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + chance.choice((b"[", b'{"a":')) * 50_000,
        )
    )
