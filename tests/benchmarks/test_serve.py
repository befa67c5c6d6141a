"""The load that ``make bench-serve`` makes, and the servers that it starts."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.pressing import Wrong, press, request_of
from benchmarks.serve import API, REQUEST, STILE, Pressed, measured, running_servers, table
from benchmarks.upstream import answering_upstream
from tests.support.raw_http import Peer, RawServer, answer, answering, running_server

RIGHT = b'{"result":{"content":[{"text":"octocat"}]}}'


@pytest.fixture
def asked() -> Iterator[RawServer]:
    with running_server(answering(answer(RIGHT))) as server:
        yield server


def made(url: str) -> bytes:
    return request_of(url, {"content-type": "application/json"}, '{"id":1}')


def test_as_many_calls_are_made_as_asked_for_over_as_many_connections(asked: RawServer) -> None:
    taken = press(asked.url, made(asked.url), expects=b"octocat", calls=50, at_once=4)

    assert (len(taken), len(asked.requests), asked.accepted) == (50, 50, 4)
    assert all(ms > 0 for ms in taken)
    assert asked.requests[0].endswith(b'content-type: application/json\r\n\r\n{"id":1}')


def test_each_connection_has_one_request_under_way() -> None:
    under_way: list[int] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            under_way.append(request.count(b"POST "))
            peer.send(answer(RIGHT)[:20])
            peer.send(answer(RIGHT)[20:])

    with running_server(script) as server:
        press(server.url, made(server.url), expects=b"octocat", calls=20, at_once=3)

    assert under_way == [1] * 20


@pytest.mark.parametrize(
    "wrong",
    [
        answer(RIGHT, status="503 Service Unavailable"),
        answer(b'{"result":{}}'),
        answer(b'{"result":{"content":[{"text":"octocat"}],"isError":true}}'),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"",
    ],
    ids=["status", "body", "tool error", "length", "closed"],
)
def test_answer_that_is_not_right_ends_the_run(wrong: bytes) -> None:
    with (
        running_server(lambda peer: peer.send(wrong) if peer.read_request() else None) as server,
        pytest.raises((Wrong, ConnectionResetError)),
    ):
        press(server.url, made(server.url), expects=b"octocat", calls=2, at_once=1)


def test_table_has_the_medians_of_the_rounds() -> None:
    found = Pressed()
    for ms in (1.0, 9.0, 2.0):
        found.add([ms] * 10, took_s=ms / 100, cpu_ms=ms * 10)

    assert table({(STILE, 8): found}).splitlines()[2:] == [f"| {STILE} | 8 | 2.0 | 2.0 | 500 | 2.00 |"]


def test_stile_serve_answers_the_calls_of_the_benchmark(tmp_path: Path) -> None:
    with answering_upstream() as upstream, running_servers(upstream, tmp_path, peers=None) as servers:
        found = measured(servers, {2: 4}, rounds=1)

    assert set(servers) == {API, STILE}
    assert statistics.median(found[STILE, 2].p50_ms) > 0
    assert json.loads(REQUEST["body"])["method"] == "tools/call"
