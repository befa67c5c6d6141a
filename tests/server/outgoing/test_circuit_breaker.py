"""An API that does not answer is left alone for a while, and tried by one request at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from handler.errors.infrastructure import HttpError, HttpTimeout, HttpTooLarge, HttpUnreachable
from handler.errors.upstream import CircuitOpen
from handler.http.client import HttpClient, HttpRequest
from handler.server.outgoing.circuit_breaker import MAX_CALLERS, MAX_FAILURES, PAUSE_S, Circuits
from tests.server.outgoing.serving import Clock, Container, asking, endpoint
from tests.support.api import Asked, Reply, running_api
from tests.support.local import LOCAL
from tests.support.raw_http import Peer, RawServer, answer, running_server

OUTAGE = (
    "The API's answer broke off, or could not be read. The mutation was sent and may have been carried out: "
    "find out whether it was before anything is sent once more."
)
RESTING = str(CircuitOpen(pause_s=PAUSE_S))


class Server:
    """An API that hangs up, or answers."""

    def __init__(self) -> None:
        self.up = False

    def __call__(self, peer: Peer) -> None:
        while peer.read_request() and self.up:
            peer.send(answer(b'{"data": {"me": "you"}}', content_type="application/json"))


@pytest.fixture
def http() -> Iterator[HttpClient]:
    with closing(HttpClient(LOCAL)) as client:
        yield client


def request(server: RawServer, path: str = "") -> HttpRequest:
    return HttpRequest(method="POST", url=f"{server.url}{path}", timeout_s=5, max_bytes=1_000)


def send(
    circuits: Circuits, http: HttpClient, sent: HttpRequest, endpoint: str = "a/b", asked: Hashable = None
) -> type[Exception] | int:
    """The status, or what went wrong."""
    try:
        return asyncio.run(circuits.send(http, sent, endpoint=endpoint, asked=asked)).status
    except (HttpError, CircuitOpen) as exc:
        return type(exc)


def test_origin_that_fails_in_a_row_rests_and_is_tried_again(http: HttpClient) -> None:
    clock, script = Clock(), Server()
    circuits = Circuits(clock=clock)
    with running_server(script) as server:

        def outcome(path: str = "") -> type[Exception] | int:
            return send(circuits, http, request(server, path))

        assert [outcome(f"path/{number}") for number in range(MAX_FAILURES)] == [HttpUnreachable] * MAX_FAILURES
        assert [outcome() for _ in range(3)] == [CircuitOpen] * 3
        assert len(server.requests) == MAX_FAILURES
        clock.now += PAUSE_S - 0.1
        assert outcome() is CircuitOpen
        clock.now += 0.2
        assert outcome() is HttpUnreachable  # it was tried, once
        assert outcome() is CircuitOpen
        clock.now += PAUSE_S
        script.up = True
        assert [outcome() for _ in range(3)] == [200] * 3
        script.up = False
        assert outcome() is HttpUnreachable  # failures are counted from nought
        assert outcome() is HttpUnreachable


def test_answers_between_failures_keep_an_origin_awake(http: HttpClient) -> None:
    circuits, script = Circuits(clock=Clock()), Server()
    with running_server(script) as server:
        for number in range(4 * MAX_FAILURES):
            script.up = number % MAX_FAILURES == 0
            assert send(circuits, http, request(server)) in (200, HttpUnreachable)


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, {"errors": [{"message": "no"}]}), (401, {}), (429, {}), (500, {}), (503, "x"), (200, {"errors": [{}]}),
     (302, {}), (200, "x" * 5_000)],
)  # fmt: skip
def test_errors_that_are_answers_do_not_count(http: HttpClient, status: int, body: object) -> None:
    circuits = Circuits(clock=Clock())
    with running_api(lambda _: Reply(body, status=status)) as api:
        sent = HttpRequest(method="POST", url=api.url, timeout_s=5, max_bytes=1_000)
        for _ in range(2 * MAX_FAILURES):
            assert send(circuits, http, sent) in (status, HttpTooLarge)


def test_another_origin_is_not_left_alone(http: HttpClient) -> None:
    circuits, healthy = Circuits(clock=Clock()), Server()
    healthy.up = True
    with running_server(Server()) as down, running_server(healthy) as up:
        for _ in range(MAX_FAILURES + 1):
            send(circuits, http, request(down))

        assert send(circuits, http, request(down)) is CircuitOpen
        assert send(circuits, http, request(up)) == 200


def test_impatience_of_one_endpoint_does_not_have_an_origin_left_alone_for_another(http: HttpClient) -> None:
    circuits, server = Circuits(clock=Clock()), Server()
    with running_server(server) as down:
        for _ in range(MAX_FAILURES + 1):
            send(circuits, http, request(down), endpoint="their/own")
        server.up = True

        assert send(circuits, http, request(down), endpoint="their/own") is CircuitOpen
        assert send(circuits, http, request(down), endpoint="another/one") == 200


def test_timeouts_count(http: HttpClient) -> None:
    circuits, gone = Circuits(clock=Clock()), threading.Event()

    def silent(_: Asked) -> Reply:
        gone.wait(10)
        return Reply()

    with running_api(silent) as api:
        sent = HttpRequest(method="POST", url=api.url, timeout_s=0.05, max_bytes=1_000)
        for _ in range(MAX_FAILURES):
            assert send(circuits, http, sent) is HttpTimeout
        assert send(circuits, http, sent) is CircuitOpen
        gone.set()


def test_requests_that_wait_for_a_thread_of_ours_are_no_failures_of_the_api(http: HttpClient) -> None:
    circuits, timeout_s, script = Circuits(clock=Clock()), 0.3, Server()
    script.up = True

    async def crowd(sent: HttpRequest) -> list[int]:
        free = threading.Event()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        busy = asyncio.create_task(asyncio.to_thread(free.wait, 10))
        sending = [asyncio.create_task(circuits.send(http, sent, endpoint="a/b")) for _ in range(2 * MAX_FAILURES)]
        await asyncio.sleep(2 * timeout_s)
        free.set()
        await busy
        return [answered.status for answered in await asyncio.gather(*sending)]

    with running_server(script) as server:
        sent = HttpRequest(method="POST", url=server.url, timeout_s=timeout_s, max_bytes=1_000)
        assert asyncio.run(crowd(sent)) == [200] * 2 * MAX_FAILURES


def test_one_request_at_a_time_tries_and_one_that_is_given_up_lets_the_next(http: HttpClient) -> None:
    clock, script = Clock(), Server()
    circuits = Circuits(clock=clock)
    go = threading.Event()

    def waits(peer: Peer) -> None:
        if script.up:
            peer.read_request()
            go.wait(5)
            peer.send(answer(b"{}"))

    async def try_at_once(sent: HttpRequest, server: RawServer) -> list[object]:
        given_up = asyncio.create_task(circuits.send(http, sent, endpoint="a/b"))
        while len(server.requests) < 1:
            await asyncio.sleep(0.01)
        three = (circuits.send(http, sent, endpoint="a/b") for _ in range(3))
        others = await asyncio.gather(*three, return_exceptions=True)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        go.set()
        return [*map(type, others), (await circuits.send(http, sent, endpoint="a/b")).status]

    with running_server(waits) as server:
        for _ in range(MAX_FAILURES):
            send(circuits, http, request(server))
        clock.now += PAUSE_S
        script.up = True

        assert asyncio.run(try_at_once(request(server), server)) == [CircuitOpen] * 3 + [200]


def test_clock_that_is_set_back_ends_the_pause(http: HttpClient) -> None:
    clock = Clock()
    circuits = Circuits(clock=clock)
    with running_server(Server()) as server:
        for _ in range(MAX_FAILURES):
            send(circuits, http, request(server))
        clock.now -= 1_000

        assert send(circuits, http, request(server)) is HttpUnreachable


def test_only_so_many_callers_without_an_answer_are_known(http: HttpClient) -> None:
    circuits = Circuits(clock=Clock())
    with running_server(Server()) as server:
        for _ in range(MAX_FAILURES):
            send(circuits, http, request(server))
        for number in range(MAX_CALLERS):
            send(circuits, http, request(server), asked=number)

        assert send(circuits, http, request(server)) is HttpUnreachable


def test_call_says_that_the_api_rests_and_a_mutation_is_sent_once(tmp_path: Path) -> None:
    with running_server(Server()) as server:
        with asking(tmp_path, f"{{url: '{server.url}graphql'}}") as function:
            answers = [function.call("Pay", {}) for _ in range(MAX_FAILURES + 2)]

        assert len(server.requests) == MAX_FAILURES
    assert [each.text for each in answers] == [OUTAGE] * MAX_FAILURES + [RESTING] * 2
    assert {each.result["isError"] for each in answers} == {True}
    assert RESTING.startswith("The API did not answer several times in a row, so it is not asked for 10 s.")
    assert function.lines[-1]["reason"] == "CircuitOpen"


def test_token_endpoint_that_does_not_answer_rests_too(tmp_path: Path) -> None:
    with running_server(Server()) as login, running_api() as api:
        client = f"{{token_url: '{login.url}', client_id: c, client_secret: env:K}}"
        made = endpoint(tmp_path, f"{{url: '{api.url}', auth: {{client_credentials: {client}}}}}")
        container = Container(made, secrets={"K": "k"})
        for _ in range(MAX_FAILURES + 3):
            container.ask(container.caller())

        assert (len(login.requests), api.asked) == (MAX_FAILURES, [])
