"""A call is answered before Lambda or API Gateway give up on it, whatever the API or the storage do."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mangum import Mangum
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from handler.bundle.model import MAX_ANSWER_S
from handler.compiler.compile import Compiled
from handler.server.asgi.deadlines import Deadlines, deadline_of
from handler.storage.local import MemoryStorage
from handler.storage.storage import StoredObject
from tests.support.codes import graphql_errors
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Context, Function, event_for, event_loop, running_function
from tests.support.raw_http import Peer, answer, running_server

SDL = "type Query { user(id: ID!): User } type User { id: ID! name: String }"
OPERATIONS = 'query U($id: ID!) @mcpTool(name: "user") { user(id: $id) { name } }'
LOOK_UP = 'extend schema @tool(name: "look-up", graphql: [{expose: true, types: "Query", fields: ".*"}])'
SHORT = Context(remaining_ms=800)
LATE = Context(remaining_ms=0)
GIVEN_UP = "The call took too long and was cancelled. Ask for less, or try later."


def _says_nothing(peer: Peer) -> None:
    peer.read_request()
    peer.wait()


def _answers(peer: Peer) -> None:
    while peer.read_request():
        peer.send(answer(b'{"data": {"user": {"name": "Ada"}}}', content_type="application/json"))


@contextmanager
def _serving(tmp_path: Path, url: str, context: Context, **options: Any) -> Iterator[Function]:
    made = compiled(
        tmp_path,
        {
            "index.graphql": f"{SDL}\n{LOOK_UP}",
            "operations/o.graphql": OPERATIONS,
            "config.yaml": f"upstream: {{url: '{url}', timeout_s: 25}}\ngraphql: on\n{READABLE}",
        },
    )
    with running_function(made, **options) as function:
        yield dataclasses.replace(function, context=context)


CALLS = {
    "prescribed": ("user", {"id": "1"}),
    "graphql": ("look-up", {"query": "{ user(id: 1) { name } }"}),
}


@pytest.mark.parametrize("kind", CALLS)
def test_an_api_that_says_nothing_is_given_up_while_there_is_time_to_say_so(tmp_path: Path, kind: str) -> None:
    with running_server(_says_nothing) as server, _serving(tmp_path, server.url, SHORT) as function:
        called = function.call(*CALLS[kind])

    assert called.status == 200
    assert called.result["isError"] is True
    assert called.text.startswith("The API did not answer within 0.") or called.text == GIVEN_UP
    assert function.lines[0]["decision"] == "allowed"


def test_the_graphql_routes_have_the_same_deadline(tmp_path: Path) -> None:
    with running_server(_says_nothing) as server, _serving(tmp_path, server.url, SHORT) as function:
        plain = function.graphql({"query": "{ user(id: 1) { name } }"})
        tool = function.graphql({"query": "{ user(id: 1) { name } }"}, "/tools/look-up/graphql")

    assert {plain.status, tool.status} <= {502, 504}
    for response in (plain, tool):
        (error,) = response.json["errors"]
        assert error["message"].startswith("The API did not answer within 0.") or error["message"] == GIVEN_UP


def test_an_api_that_answers_in_time_is_not_given_up(tmp_path: Path) -> None:
    with running_server(_answers) as server, _serving(tmp_path, server.url, Context()) as function:
        assert json.loads(function.call("user", {"id": "1"}).text) == {"data": {"user": {"name": "Ada"}}}


def test_nothing_is_sent_when_there_is_no_time_left(tmp_path: Path) -> None:
    with running_server(_answers) as server, _serving(tmp_path, server.url, LATE) as function:
        called = function.call("user", {"id": "1"})
        routed = function.graphql({"query": "{ user(id: 1) { name } }"})

    assert (called.result["isError"], called.text) == (True, GIVEN_UP)
    assert (routed.status, routed.json) == (504, graphql_errors(GIVEN_UP, "deadline-passed"))
    assert not server.requests


class StuckStorage(MemoryStorage):
    """One whose schema indexes do not come before the test is over."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()

    def read(self, key: str, **more: Any) -> StoredObject | None:
        if ".index" in key:
            self.over.wait(20)
        return super().read(key, **more)


def test_storage_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    storage = StuckStorage()
    with _serving(tmp_path, "http://127.0.0.1:9/", SHORT, storage=storage) as function:
        called = function.call(*CALLS["graphql"])
        storage.over.set()

    assert (called.result["isError"], called.text) == (True, GIVEN_UP)


async def _tell_deadline(scope: Scope, receive: Receive, send: Send) -> None:
    from time import monotonic

    await PlainTextResponse(f"{deadline_of(scope) - monotonic():.6f}")(scope, receive, send)


def _allowed_s(context: object) -> float:
    with event_loop():
        handler = Mangum(Deadlines(_tell_deadline), lifespan="off")
        event = event_for("GET", "/health", body="", headers={})
        return float(handler(event, context)["body"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("remaining_ms", "least", "most"), [(900_000, 27.0, MAX_ANSWER_S), (10_000, 8.0, 9.0), (2_000, 0.5, 1.5)]
)
def test_some_of_the_functions_time_is_kept_for_the_answer(remaining_ms: int, least: float, most: float) -> None:
    assert least < _allowed_s(Context(remaining_ms=remaining_ms)) <= most


def test_without_a_function_there_is_what_api_gateway_would_wait() -> None:
    assert 27.0 < _allowed_s(object()) <= MAX_ANSWER_S


def test_an_error_of_the_api_is_no_passed_deadline(served_demo: Compiled) -> None:
    with running_server(lambda peer: peer.close()) as server:
        upstream = dataclasses.replace(served_demo.bundle.upstream, url=server.url)
        bundle = dataclasses.replace(served_demo.bundle, upstream=upstream)
        with running_function(dataclasses.replace(served_demo, bundle=bundle)) as function:
            called = function.call("customer-by-email", {"variables": {"email": "x@example.com"}})

    assert called.text == "The API's answer broke off, or could not be read. Try later."
