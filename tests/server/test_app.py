"""The application: its routes load with their first requests, and its log has the failures of every part."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from starlette.types import Message

from handler.server.app import create_app, routes


async def _settle() -> None:
    return None


SERVICES: Any = SimpleNamespace(
    endpoints=SimpleNamespace(settle=_settle),
    hosts=frozenset(),
    is_frozen=True,
    page="",
    own_routes=(),
    signpost=lambda _: "",
    public_url="https://tools.example",
    catalog=(),
    allowed_origins=frozenset({"https://app.example"}),
)


def test_every_route_that_loads_late_is_there() -> None:
    targets = {route.endpoint.target for route in routes(SERVICES) if hasattr(route.endpoint, "target")}

    assert targets
    for target in targets:
        module, _, name = target.partition(":")
        assert callable(getattr(import_module(module), name)), target


def test_failure_of_a_route_is_logged_with_its_status_and_told_to_browsers() -> None:
    lines: list[dict[str, Any]] = []
    sent: list[Message] = []
    app = create_app(SERVICES, write_line=lambda facts, *, failure: lines.append(dict(facts)))
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/health",  # which asks endpoints that are none here
        "query_string": b"",
        "headers": [(b"origin", b"https://app.example")],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    with suppress(AttributeError):
        asyncio.run(app(scope, receive, send))

    headers = dict(sent[0]["headers"])
    assert (sent[0]["status"], headers[b"access-control-allow-origin"]) == (500, b"https://app.example")
    assert [(line["status"], line["request_id"].encode()) for line in lines] == [(500, headers[b"x-request-id"])]
