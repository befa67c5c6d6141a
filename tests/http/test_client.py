from __future__ import annotations

import asyncio
import functools
import gzip
import logging
import os
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from handler.errors.infrastructure import HttpError, HttpTimeout, HttpTooLarge, HttpUnreachable
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from tests.support.artefacts import hash_certificates
from tests.support.authority import Authority
from tests.support.local import LOCAL
from tests.support.raw_http import Peer, RawServer, answer, answering, running_server

CLOSED_EARLY = "connection closed before the answer was complete"


@pytest.fixture
def client() -> Iterator[HttpClient]:
    client = HttpClient(LOCAL)
    yield client
    client.close()


def get(
    url: str, *, timeout_s: float = 5, max_bytes: int = 100_000, repeatable: bool = False, **headers: str
) -> HttpRequest:
    return HttpRequest(
        method="GET",
        url=url,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        timeout_s=timeout_s,
        max_bytes=max_bytes,
        repeatable=repeatable,
    )


def post(url: str, body: bytes, *, repeatable: bool = False) -> HttpRequest:
    return HttpRequest(method="POST", url=url, body=body, timeout_s=5, max_bytes=100_000, repeatable=repeatable)


def fails_in_time(client: HttpClient, request: HttpRequest) -> HttpTimeout:
    """Both ways of sending raise ``HttpTimeout`` well before a server that drips would be done."""
    errors: list[HttpTimeout] = []
    sends: tuple[Callable[[], HttpResponse], ...] = (
        lambda: client.send(request),
        lambda: asyncio.run(client.send_async(request)),
    )
    for send in sends:
        started = time.monotonic()
        with pytest.raises(HttpTimeout) as caught:
            send()
        assert time.monotonic() - started < 20  # it would be done after 30 s at the least
        errors.append(caught.value)
    return errors[-1]


class TestAnswers:
    def test_status_headers_and_body_come_back(self, client: HttpClient) -> None:
        with running_server(answering(answer(b'{"a":1}', status="201 Created", X_Thing="yes"))) as server:
            response = client.send(get(server.url))

        assert response == HttpResponse(status=201, headers={"content-length": "7", "x-thing": "yes"}, body=b'{"a":1}')

    def test_repeated_headers_are_joined(self, client: HttpClient) -> None:
        raw = b"HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\ncontent-length: 0\r\n\r\n"
        with running_server(answering(raw)) as server:
            assert client.send(get(server.url)).headers["a"] == "1, 2"

    def test_a_post_sends_its_body_and_headers(self, client: HttpClient) -> None:
        with running_server(answering(answer())) as server:
            client.send(post(server.url + "graphql?x=%C3%BC/../y", b"{}"))

        head, _, body = server.requests[0].partition(b"\r\n\r\n")
        assert head.startswith(b"POST /graphql?x=%C3%BC/../y HTTP/1.1\r\n")
        assert b"\r\ncontent-length: 2" in head.lower()
        assert b"\r\naccept-encoding: gzip" in head.lower()
        assert b"\r\nuser-agent: stile" in head.lower()
        assert body == b"{}"

    def test_the_path_goes_out_as_it_stands(self, client: HttpClient) -> None:
        with running_server(answering(answer())) as server:
            client.send(get(server.url + "a//b/./c/../d%2Fe"))

        assert server.requests[0].startswith(b"GET /a//b/./c/../d%2Fe HTTP/1.1\r\n")

    def test_the_callers_headers_replace_ours(self, client: HttpClient) -> None:
        with running_server(answering(answer())) as server:
            client.send(get(server.url, ACCEPT_ENCODING="identity"))

        assert server.requests[0].lower().count(b"accept-encoding: identity") == 1
        assert b"gzip" not in server.requests[0]

    @pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
    def test_a_redirect_is_returned_and_not_followed(self, client: HttpClient, status: str) -> None:
        with running_server(answering(answer(b"there", status=status, Location="/elsewhere"))) as server:
            response = client.send(get(server.url))

        assert response.status == int(status[:3])
        assert response.headers["location"] == "/elsewhere"
        assert response.body == b"there"
        assert len(server.requests) == 1

    @pytest.mark.parametrize("status", ["429 Too Many", "503 Unavailable"])
    def test_an_answer_that_asks_to_come_back_is_returned(self, client: HttpClient, status: str) -> None:
        with running_server(answering(answer(status=status, Retry_After="0"))) as server:
            assert client.send(get(server.url, repeatable=True)).status == int(status[:3])

        assert len(server.requests) == 1

    def test_the_proxies_of_the_environment_are_ignored(
        self, client: HttpClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:1/")
        with running_server(answering(answer(b"direct"))) as server:
            assert client.send(get(server.url)).body == b"direct"

    def test_an_empty_encoding_is_none(self, client: HttpClient) -> None:
        with running_server(answering(answer(b"plain", content_encoding=""))) as server:
            assert client.send(get(server.url)).body == b"plain"

    @pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
    def test_an_answer_without_a_body_keeps_the_connection(self, client: HttpClient, status: str) -> None:
        raw = f"HTTP/1.1 {status}\r\ncontent-encoding: gzip\r\n\r\n".encode()
        with running_server(answering(raw)) as server:
            assert client.send(get(server.url)).body == b""
            assert client.send(get(server.url)).body == b""

            assert server.accepted == 1

    def test_a_head_answer_has_no_body_however_long_it_says(self, client: HttpClient) -> None:
        raw = b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n"
        with running_server(answering(raw)) as server:
            request = HttpRequest(method="HEAD", url=server.url, timeout_s=5, max_bytes=10)

            assert client.send(request).body == b""

    def test_a_chunked_body_is_put_together(self, client: HttpClient) -> None:
        raw = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=1\r\ndefg\r\n0\r\nt: 1\r\n\r\n"
        with running_server(answering(raw)) as server:
            assert client.send(get(server.url)).body == b"abcdefg"
            assert client.send(get(server.url)).body == b"abcdefg"

            assert server.accepted == 1

    def test_a_body_that_ends_with_its_connection_is_whole(self, client: HttpClient) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(b"HTTP/1.1 200 OK\r\n\r\nall of it")

        with running_server(script) as server:
            assert client.send(get(server.url)).body == b"all of it"

    @pytest.mark.parametrize("members", [1, 3])
    def test_gzip_is_decoded(self, client: HttpClient, members: int) -> None:
        body = b"".join(gzip.compress(b"x" * 200_000) for _ in range(members))
        with running_server(answering(answer(body, Content_Encoding="gzip"))) as server:
            response = client.send(get(server.url, max_bytes=1_000_000))

        assert response.body == b"x" * 200_000 * members


class TestConnections:
    def test_a_connection_is_kept(self, client: HttpClient) -> None:
        with running_server(answering(answer(b"1"))) as server:
            for _ in range(5):
                client.send(get(server.url))
                asyncio.run(client.send_async(get(server.url)))

            assert server.accepted == 1
            assert len(server.requests) == 10

    def test_close_drops_kept_connections_and_leaves_the_client_usable(self, client: HttpClient) -> None:
        with running_server(answering(answer(b"1"))) as server:
            client.send(get(server.url))
            client.close()
            client.send(get(server.url))

            assert server.accepted == 2

    def test_a_connection_idle_for_too_long_is_not_used_again(self) -> None:
        client = HttpClient(LOCAL, max_idle_s=0)
        with running_server(answering(answer(b"1"))) as server:
            client.send(get(server.url))
            client.send(post(server.url, b"{}"))

            assert server.accepted == 2
        client.close()

    def test_eight_requests_run_side_by_side(self, client: HttpClient) -> None:
        together = threading.Barrier(4)  # the default executor of a machine with one core has five threads

        def script(peer: Peer) -> None:
            while request := peer.read_request():
                together.wait(timeout=60)
                peer.send(answer(request.split()[1]))

        async def send_all(url: str) -> list[HttpResponse]:
            return await asyncio.gather(*(client.send_async(get(f"{url}{n}")) for n in range(8)))

        with running_server(script) as server:
            responses = asyncio.run(send_all(server.url))

        assert [response.body for response in responses] == [f"/{n}".encode() for n in range(8)]

    def test_a_repeatable_request_goes_out_again_when_a_kept_connection_closed(self, client: HttpClient) -> None:
        with running_server(closing_on_the_second_request()) as server:
            client.send(get(server.url))

            assert client.send(get(server.url + "second", repeatable=True)).body == b"1"
            assert [request.split()[1] for request in server.requests] == [b"/", b"/second", b"/second"]
            assert server.accepted == 2

    def test_a_repeatable_request_goes_out_again_when_a_kept_connection_was_reset(self, client: HttpClient) -> None:
        with running_server(closing_on_the_second_request(Peer.reset)) as server:
            client.send(get(server.url))

            assert client.send(get(server.url, repeatable=True)).body == b"1"
            assert len(server.requests) == 3

    def test_any_other_request_goes_out_once(self, client: HttpClient) -> None:
        with running_server(closing_on_the_second_request()) as server:
            client.send(post(server.url, b"1"))
            with pytest.raises(HttpUnreachable) as caught:
                client.send(post(server.url, b"2"))

            assert caught.value.reason == CLOSED_EARLY
            assert len(server.requests) == 2

    def test_a_repeatable_request_goes_out_twice_at_most(self, client: HttpClient) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            if len(server.requests) == 1:
                peer.send(answer(b"1"))
                peer.read_request()

        with running_server(script) as server:
            client.send(get(server.url))
            with pytest.raises(HttpUnreachable, match=CLOSED_EARLY):
                client.send(get(server.url, repeatable=True))

            assert len(server.requests) == 3

    def test_the_second_try_takes_no_other_kept_connection(self, client: HttpClient) -> None:
        both_open = threading.Barrier(2)

        def script(peer: Peer) -> None:
            if server.accepted <= 2:
                peer.read_request()
                both_open.wait(timeout=60)
                peer.send(answer(b"1"))
                peer.read_request()  # and close: both kept connections are stale
            else:
                answering(answer(b"new"))(peer)

        async def open_two(url: str) -> None:
            await asyncio.gather(client.send_async(get(url)), client.send_async(get(url)))

        with running_server(script) as server:
            asyncio.run(open_two(server.url))

            assert client.send(get(server.url, repeatable=True)).body == b"new"

    def test_a_new_connection_that_closes_is_not_tried_again(self, client: HttpClient) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()

        with running_server(script) as server:
            with pytest.raises(HttpUnreachable, match=CLOSED_EARLY):
                client.send(get(server.url, repeatable=True))

            assert len(server.requests) == 1

    def test_an_answer_that_breaks_off_is_not_asked_for_again(self, client: HttpClient) -> None:
        short = answer(b"1", content_length="5")

        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(answer(b"1"))
            peer.read_request()
            peer.send(short)

        with running_server(script) as server:
            client.send(get(server.url))
            with pytest.raises(HttpUnreachable, match=CLOSED_EARLY):
                client.send(get(server.url, repeatable=True))

            assert len(server.requests) == 2

    def test_what_comes_behind_an_answer_ends_the_connection(self, client: HttpClient) -> None:
        with running_server(answering(answer(b"1") + b"x")) as server:
            for _ in range(2):
                assert client.send(get(server.url)).body == b"1"

            assert server.accepted == 2


def closing_on_the_second_request(close: Callable[[Peer], None] = Peer.close) -> Callable[[Peer], None]:
    """Each connection answers one request, and closes when the next one has come."""

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(answer(b"1"))
        if peer.read_request():
            close(peer)

    return script


class TestDeadline:
    def test_a_server_that_never_answers(self, client: HttpClient) -> None:
        with running_server(Peer.wait) as server:
            error = fails_in_time(client, get(server.url + "secret?token=1", timeout_s=0.4))

        assert (error.host, error.timeout_s) == ("127.0.0.1", 0.4)
        assert str(error) == "127.0.0.1: no complete answer within 0.4 s"

    def test_a_server_that_never_accepts(self, client: HttpClient) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
            port = listener.getsockname()[1]
            fillers = [connecting(port) for _ in range(4)]  # a full queue: further connections wait for good

            fails_in_time(client, get(f"http://127.0.0.1:{port}/", timeout_s=0.4))
            for filler in fillers:
                filler.close()

    @pytest.mark.parametrize(
        "raw",
        [
            b"HTTP/1.1 200 OK\r\n" + b"a: 1\r\n" * 100,
            answer(b"x" * 1_000),
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 1_000,
            b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000,
            b"HTTP/1.1 100 Continue\r\n\r\n" * 100,
        ],
        ids=["headers", "body", "chunks", "body without a length", "interim answers"],
    )
    def test_a_server_that_drips(self, client: HttpClient, raw: bytes) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            started, _, rest = raw.partition(b"\r\n\r\n")
            if b"200" in started and rest:
                peer.send(started + b"\r\n\r\n")
                peer.drip(rest, every_s=0.05)
            else:
                peer.drip(raw, every_s=0.05)

        with running_server(script) as server:
            fails_in_time(client, get(server.url, timeout_s=0.4))

            assert server.accepted == 2  # what was given up is not kept

    def test_a_server_that_does_not_read(self, client: HttpClient) -> None:
        with running_server(lambda peer: time.sleep(1.5)) as server:
            body = b"x" * 30_000_000
            request = HttpRequest(method="POST", url=server.url, body=body, timeout_s=0.4, max_bytes=10)

            fails_in_time(client, request)

    def test_a_tls_handshake_that_hangs(self, client: HttpClient) -> None:
        with running_server(Peer.wait) as server:
            fails_in_time(client, get(server.url.replace("http:", "https:"), timeout_s=0.4))

    def test_a_tls_handshake_that_drips(self, client: HttpClient) -> None:
        record = b"\x16\x03\x03\x40\x00"  # a handshake record of 16 KiB

        with running_server(lambda peer: peer.drip(record + b"x" * 100, every_s=0.05)) as server:
            fails_in_time(client, get(server.url.replace("http:", "https:"), timeout_s=0.4))

    def test_no_time_at_all(self, client: HttpClient) -> None:
        with running_server(answering(answer())) as server:
            fails_in_time(client, get(server.url, timeout_s=0.000_001))

    def test_a_deadline_that_passes_later_leaves_the_kept_connection_alone(self, client: HttpClient) -> None:
        with running_server(answering(answer(b"1"))) as server:

            async def twice() -> None:
                await client.send_async(get(server.url, timeout_s=0.2))
                await asyncio.sleep(0.3)
                await client.send_async(get(server.url, timeout_s=0.2))

            asyncio.run(twice())

            assert server.accepted == 1

    def test_a_server_that_drips_over_a_kept_connection(self, client: HttpClient) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(answer(b"1"))
            peer.read_request()
            peer.drip(answer(b"x" * 1_000), every_s=0.05)

        async def twice(url: str) -> None:
            await client.send_async(get(url))
            started = time.monotonic()
            with pytest.raises(HttpTimeout):
                await client.send_async(get(url, timeout_s=0.4))
            assert time.monotonic() - started < 20

        with running_server(script) as server:
            asyncio.run(twice(server.url))

    def test_tasks_with_kept_connections_do_not_wait_for_each_other(self, client: HttpClient) -> None:
        both = threading.Barrier(2, timeout=60)

        def script(peer: Peer) -> None:
            peer.read_request()
            both.wait()  # the second one, too, has come
            peer.send(answer(b"1"))
            peer.read_request()
            both.wait()
            peer.send(answer(b"2"))

        async def together(url: str) -> list[bytes]:
            first = await asyncio.gather(*(client.send_async(get(url)) for _ in range(2)))
            second = await asyncio.gather(*(client.send_async(get(url)) for _ in range(2)))
            return [each.body for each in (*first, *second)]

        with running_server(script) as server:
            assert asyncio.run(together(server.url)) == [b"1", b"1", b"2", b"2"]
            assert server.accepted == 2

    @pytest.mark.parametrize("closed_before", [True, False])
    def test_a_resolver_that_hangs_holds_up_no_task(
        self, client: HttpClient, monkeypatch: pytest.MonkeyPatch, closed_before: bool
    ) -> None:
        closed, answered = threading.Event(), threading.Event()

        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(answer(b"1"))
            if not closed_before:
                peer.read_request()
            peer.close()
            closed.set()

        def resolve(*_: object, **__: object) -> list[object]:
            answered.wait(timeout=60)
            raise socket.gaierror

        async def twice(url: str) -> None:
            await client.send_async(get(url))
            assert not closed_before or closed.wait(timeout=60)
            monkeypatch.setattr(socket, "getaddrinfo", resolve)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await client.send_async(get(url, repeatable=True))
            answered.set()

        with running_server(script) as server:
            asyncio.run(twice(server.url))

    def test_time_of_a_request_begins_when_there_is_a_thread_to_send_it(self, client: HttpClient) -> None:
        timeout_s = 0.3

        async def late(url: str) -> bytes:
            free = threading.Event()
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
            busy = asyncio.create_task(asyncio.to_thread(free.wait, 10))
            sent = asyncio.create_task(client.send_async(get(url, timeout_s=timeout_s)))
            await asyncio.sleep(2 * timeout_s)  # all of the time that the request has, and no thread yet
            free.set()
            await busy
            return (await sent).body

        with running_server(answering(answer(b"1"))) as server:
            assert asyncio.run(late(server.url)) == b"1"

    def test_a_cancelled_task_gives_its_exchange_up(self, client: HttpClient) -> None:
        gone = threading.Event()

        def script(peer: Peer) -> None:
            peer.read_request()
            peer.wait()
            gone.set()

        async def cancel(url: str) -> None:
            task = asyncio.create_task(client.send_async(get(url, timeout_s=60)))
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        with running_server(script) as server:
            started = time.monotonic()
            asyncio.run(cancel(server.url))

            assert gone.wait(timeout=50)
            assert time.monotonic() - started < 50  # and not 60, after which the request's time is over


def connecting(port: int) -> socket.socket:
    sock = socket.socket()
    sock.setblocking(False)
    sock.connect_ex(("127.0.0.1", port))
    return sock


class TestSize:
    def test_a_body_of_just_the_cap_is_returned(self, client: HttpClient) -> None:
        with running_server(answering(answer(b"x" * 1000))) as server:
            assert len(client.send(get(server.url, max_bytes=1000)).body) == 1000

    def test_a_length_above_the_cap_is_refused_before_reading(self, client: HttpClient) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(answer(content_length="1001"))
            peer.wait()

        with running_server(script) as server, pytest.raises(HttpTooLarge) as caught:
            client.send(get(server.url + "secret", max_bytes=1000))

        assert (caught.value.host, caught.value.max_bytes) == ("127.0.0.1", 1000)
        assert str(caught.value) == "127.0.0.1: the answer is larger than 1000 bytes"

    @pytest.mark.parametrize("head", ["", "transfer-encoding: chunked\r\n"])
    def test_a_body_without_a_length_stops_at_the_cap(self, client: HttpClient, head: str) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode())
            while True:  # until the client hangs up
                peer.send(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")

        with running_server(script) as server, pytest.raises(HttpTooLarge):
            client.send(get(server.url))

    @pytest.mark.parametrize("size", [b"-1", b"", b"0x5", b" 5", b"5" * 20, b"5" * 70_000])
    def test_a_chunk_whose_size_is_no_number_is_refused_before_its_bytes(self, client: HttpClient, size: bytes) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + size + b"\r\n")
            while True:
                peer.send(b"x" * 65_536)

        with running_server(script) as server:
            assert unreachable(client, get(server.url)).reason in (
                "the answer is not HTTP",
                "the answer has a line too long",
                CLOSED_EARLY,
            )

    def test_a_chunk_that_is_longer_than_it_says_is_refused(self, client: HttpClient) -> None:
        raw = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n"
        with running_server(answering(raw)) as server:
            assert unreachable(client, get(server.url)).reason == "the answer is not HTTP"

    def test_chunks_with_extensions_and_trailers_are_read_and_the_connection_is_kept(self, client: HttpClient) -> None:
        raw = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nab\r\n0\r\nx: 1\r\n\r\n"
        with running_server(answering(raw)) as server:
            bodies = [client.send(get(server.url)).body for _ in range(2)]

        assert (bodies, server.accepted) == ([b"ab", b"ab"], 1)

    def test_a_large_body_comes_whole(self, client: HttpClient) -> None:
        body = b"0123456789abcdef" * (50 * 1024 * 1024 // 16)
        with running_server(answering(answer(body))) as server:
            assert client.send(get(server.url, max_bytes=len(body))).body == body

    @pytest.mark.parametrize("layers", [1, 2])
    def test_a_gzip_bomb_does_not_inflate(self, client: HttpClient, layers: int) -> None:
        bomb = gzip_of_zeros(1024 * 1024 * 1024)
        coding = ", ".join(["gzip"] * layers)
        refusal = HttpTooLarge if layers == 1 else HttpUnreachable
        with running_server(answering(answer(bomb, Content_Encoding=coding))) as server:
            tracemalloc.start()
            with pytest.raises(refusal):
                client.send(get(server.url, max_bytes=1_000_000))
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()

        assert peak < 8_000_000

    def test_a_refused_connection_is_not_kept(self, client: HttpClient) -> None:
        with running_server(answering(answer(b"x" * 2000), answer(b"1"))) as server:
            with pytest.raises(HttpTooLarge):
                client.send(get(server.url, max_bytes=1000))
            with pytest.raises(HttpTooLarge):
                client.send(get(server.url, max_bytes=1000))

            assert server.accepted == 2


@functools.cache
def gzip_of_zeros(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1024 * 1024)
    return b"".join(packer.compress(block) for _ in range(size // len(block))) + packer.flush()


class TestHeads:
    @pytest.mark.parametrize(
        ("raw", "status", "headers", "body"),
        [
            (b"HTTP/1.1 200\r\ncontent-length: 1\r\n\r\na", 200, {"content-length": "1"}, b"a"),
            (b"HTTP/1.1 200 \nA:b \ncontent-length:1\n\na", 200, {"a": "b", "content-length": "1"}, b"a"),
            (b"HTTP/1.0 404 \xff\r\nA: \xe4\r\na: c\r\n\r\nall", 404, {"a": "\xe4, c"}, b"all"),
            (
                b"HTTP/1.1 200 OK\r\na: b\r\n\t c \r\ncontent-length: 0\r\n\r\n",
                200,
                {"a": "b c", "content-length": "0"},
                b"",
            ),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 1, 1\r\n\r\na", 200, {"content-length": "1, 1"}, b"a"),
            (b"HTTP/1.1 103 Early\r\na: b\r\n\r\nHTTP/1.1 204 No\r\n\r\nx", 204, {}, b""),
            (b"HTTP/1.1 304 Same\r\ncontent-length: 5\r\n\r\n", 304, {"content-length": "5"}, b""),
            (b"HTTP/1.1 101 Other\r\n\r\nx", 101, {}, b""),
            (
                b"HTTP/1.1 204 No\r\na:  b" + b" \t" * 30_000 + b"c \t\r\n\r\n",  # within the request's time
                204,
                {"a": "b" + " \t" * 30_000 + "c"},
                b"",
            ),
        ],
    )
    def test_a_head_is_read_as_rfc_9112_has_it(
        self, client: HttpClient, raw: bytes, status: int, headers: dict[str, str], body: bytes
    ) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(raw)

        with running_server(script) as server:
            answered = client.send(get(server.url))

        assert (answered.status, answered.headers, answered.body) == (status, headers, body)

    @pytest.mark.parametrize(
        ("head", "kept"),
        [
            (b"HTTP/1.1 200 OK\r\ncontent-length: 1", True),
            (b"HTTP/1.1 200 OK\r\nconnection: Keep-Alive, Close\r\ncontent-length: 1", False),
            (b"HTTP/1.0 200 OK\r\ncontent-length: 1", False),
            (b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1", True),
            (b"HTTP/1.1 101 Other\r\ncontent-length: 1", False),
            (b"HTTP/1.1 204 No\r\ncontent-length: 1", False),  # and a body follows
        ],
    )
    def test_a_connection_is_kept_where_the_answer_lets_it(self, client: HttpClient, head: bytes, kept: bool) -> None:
        with running_server(answering(head + b"\r\n\r\na")) as server:
            client.send(get(server.url))
            client.send(get(server.url))

            assert server.accepted == (1 if kept else 2)

    @pytest.mark.parametrize("line", [b"no colon", b": b", b"a : b", b" a: b", b"a: b\rc: d", b"a: \0"])
    def test_a_line_that_is_no_header(self, client: HttpClient, line: bytes) -> None:
        with running_server(answering(b"HTTP/1.1 204 No\r\n" + line + b"\r\n\r\n")) as server:
            assert unreachable(client, get(server.url)).reason == "the answer is not HTTP"

    def test_interim_answers_without_end(self, client: HttpClient) -> None:
        with running_server(answering(b"HTTP/1.1 100 Continue\r\n\r\n" * 101 + answer(b"1"))) as server:
            assert unreachable(client, get(server.url)).reason == "the answer has too many headers"

    def test_an_interim_answer_is_no_reason_to_ask_again(self, client: HttpClient) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(answer(b"1"))
            peer.read_request()
            peer.send(b"HTTP/1.1 102 Processing\r\n\r\n")

        with running_server(script) as server:
            client.send(get(server.url))
            with pytest.raises(HttpUnreachable, match=CLOSED_EARLY):
                client.send(get(server.url, repeatable=True))

            assert len(server.requests) == 2

    def test_a_length_beside_chunks_ends_the_connection(self, client: HttpClient) -> None:
        raw = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
        with running_server(answering(raw)) as server:
            assert [client.send(get(server.url)).body for _ in range(2)] == [b"a", b"a"]
            assert server.accepted == 2

    def test_a_coding_of_the_transfer_that_was_not_asked_for(self, client: HttpClient) -> None:
        with running_server(answering(b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n")) as server:
            error = unreachable(client, get(server.url))

        assert error.reason == "the body has an encoding that was not asked for"


class TestRefusals:
    def test_a_port_nobody_listens_on(self, client: HttpClient) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]

        error = unreachable(client, get(f"http://127.0.0.1:{port}/secret?token=1"))

        assert str(error) == "127.0.0.1: connection refused"
        assert isinstance(error.__cause__, Exception)

    def test_a_name_that_does_not_resolve(self, client: HttpClient) -> None:
        error = unreachable(client, get("http://nobody.invalid/secret?token=1"))

        assert str(error) == "nobody.invalid: name not resolved"

    @pytest.mark.parametrize(
        ("url", "host"),
        [
            ("", "(no host)"),
            ("nonsense", "(no host)"),
            ("/path/secret", "(no host)"),
            ("http://", "(no host)"),
            ("http:///secret", "(no host)"),
            ("http://[::1/secret", "(no host)"),
            ("http://h.invalid:99999/secret", "(no host)"),
            ("http://h.invalid:port/secret", "(no host)"),
            ("ftp://h.invalid/secret", "h.invalid"),
            ("file:///etc/passwd", "(no host)"),
            ("http://h.invalid/secret space", "h.invalid"),
            ("http://h.invalid/secret\r\nx: 1", "h.invalid"),
            ("http://user:secret@h.invalid\\@other/", "other"),
            (f"http://{'a' * 70}.invalid/secret", f"{'a' * 70}.invalid"),
            ("http://a..invalid/secret", "a..invalid"),
        ],
    )
    def test_a_malformed_url(self, client: HttpClient, url: str, host: str) -> None:
        error = unreachable(client, get(url))

        assert error.host == host
        assert error.reason in ("malformed URL", "name not resolved", "the request cannot be sent")
        assert "secret" not in str(error)

    def test_credentials_of_a_url_stay_out_of_the_message(self, client: HttpClient) -> None:
        error = unreachable(client, get("http://user:secret@nobody.invalid/"))

        assert str(error) == "nobody.invalid: malformed URL"

    @pytest.mark.parametrize("value", ["secret\r\nx: 1", "secret\n", "secret\N{SNOWMAN}"])
    def test_a_header_that_cannot_be_sent_is_not_shown(self, client: HttpClient, value: str) -> None:
        with running_server(answering(answer())) as server:
            error = unreachable(client, get(server.url, Authorization=value))

        assert str(error) == "127.0.0.1: the request cannot be sent"
        assert error.__cause__ is None
        assert error.__suppress_context__
        assert not server.requests

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"HTT",
            b"HTTP/1.1 200 OK\r\ncontent-le",
            answer(b"half", content_length="8"),
            answer(b"", content_length="8"),
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\nhalf",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n",
        ],
        ids=["nothing", "status", "headers", "body", "no body", "chunk", "no last chunk", "no chunk"],
    )
    def test_an_answer_cut_short(self, client: HttpClient, raw: bytes) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(raw)

        with running_server(script) as server:
            error = unreachable(client, get(server.url))

        assert error.reason in (CLOSED_EARLY, "the answer is not HTTP")

    @pytest.mark.parametrize(
        "raw",
        [
            b"SSH-2.0-OpenSSH_9.2\r\n",
            b"HTTP/1.1 abc OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\ncontent-length: 9999999999999999\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\ncontent-length : 1\r\n\r\na",
            b"HTTP/1.1 200 OK\r\n folded: 1\r\n\r\na",
            b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
            b"HTTP/2 200\r\n\r\n",
            b"HTTP/1.1 099 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding:\r\ncontent-length: 1\r\n\r\na",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a\nb\r\n0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nHTTP/1.1 200 OK\r\n\r\n",
        ],
        ids=[
            "another protocol",
            "status",
            "two lengths",
            "two lengths in one",
            "a negative length",
            "a length with a sign",
            "a length too long",
            "a space after a name",
            "a value that goes on from nothing",
            "no header",
            "another version",
            "a status too small",
            "an empty length",
            "an empty coding",
            "a bare LF behind a chunk's extension",
            "an answer as a trailer",
        ],
    )
    def test_an_answer_that_is_not_http(self, client: HttpClient, raw: bytes) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(raw)

        with running_server(script) as server:
            error = unreachable(client, get(server.url))

        assert error.reason == "the answer is not HTTP"

    @pytest.mark.parametrize(
        ("head", "reason"),
        [
            (b"a: 1\r\n" * 200, "the answer has too many headers"),
            (b"a: " + b"x" * 100_000 + b"\r\n", "the answer has a line too long"),
        ],
    )
    def test_a_head_that_is_too_large(self, client: HttpClient, head: bytes, reason: str) -> None:
        with running_server(answering(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n")) as server:
            error = unreachable(client, get(server.url))

        assert (type(error).__name__, error.reason) == ("HttpHeadTooLarge", reason)

    @pytest.mark.parametrize("body", [b"no gzip at all", gzip.compress(b"x" * 5000, mtime=0)[:-9], b"\x1f\x8b"])
    def test_a_body_that_is_not_its_gzip(self, client: HttpClient, body: bytes) -> None:
        with running_server(answering(answer(body, Content_Encoding="gzip"))) as server:
            error = unreachable(client, get(server.url))

        assert error.reason == "the body is not the gzip it claims to be"

    @pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "gzip, br", "nonsense"])
    def test_an_encoding_not_asked_for(self, client: HttpClient, coding: str) -> None:
        with running_server(answering(answer(b"x", Content_Encoding=coding))) as server:
            error = unreachable(client, get(server.url))

        assert error.reason == "the body has an encoding that was not asked for"

    def test_nothing_logs_an_address(self, client: HttpClient, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)

        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(b"HTTP/1.1 200 OK\r\n: no name\r\nbroken line\r\n\r\n")

        with running_server(script) as server:
            error = unreachable(client, get(server.url + "secret?token=1"))

        assert "secret" not in f"{error} {caplog.text}"


def unreachable(client: HttpClient, request: HttpRequest) -> HttpError:
    with pytest.raises(HttpUnreachable) as caught:
        client.send(request)
    return caught.value


class TestTls:
    def test_a_trusted_server_answers_and_its_connection_is_kept(
        self, client: HttpClient, authority: Authority, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        with running_server(answering(answer(b"1")), tls=authority.server_context) as server:
            assert client.send(get(server.url)).body == b"1"
            assert asyncio.run(client.send_async(get(server.url))).body == b"1"

            assert server.accepted == 1

    def test_a_connection_that_was_opened_before_is_used(
        self, client: HttpClient, authority: Authority, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        accepted = threading.Event()

        def script(peer: Peer) -> None:
            accepted.set()  # and the tickets of TLS 1.3 are sent
            answering(answer(b"1"))(peer)

        with running_server(script, tls=authority.server_context) as server:
            client.open(server.url, timeout_s=5)
            assert accepted.wait(timeout=60)
            assert client.send(replace(get(server.url), guarded=False)).body == b"1"

            assert server.accepted == 1

    @pytest.mark.parametrize("before", [0, 1, 8_192, 16_000])
    def test_what_comes_behind_an_answer_is_never_the_next_one(
        self, client: HttpClient, authority: Authority, monkeypatch: pytest.MonkeyPatch, before: int
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        first = answer(b"1")
        behind = b"x" * max(0, before - len(first)) + answer(b"another's")
        with running_server(answering(first + behind), tls=authority.server_context) as server:
            for _ in range(2):
                assert client.send(get(server.url)).body == b"1"

            assert server.accepted == 2

    def test_a_server_that_drips_over_tls(
        self, client: HttpClient, authority: Authority, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))

        def script(peer: Peer) -> None:
            peer.read_request()
            peer.drip(answer(b"x" * 1_000), every_s=0.05)

        with running_server(script, tls=authority.server_context) as server:
            fails_in_time(client, get(server.url, timeout_s=0.4))

    def test_a_repeatable_request_goes_out_again_over_tls(
        self, client: HttpClient, authority: Authority, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        with running_server(closing_on_the_second_request(), tls=authority.server_context) as server:
            client.send(get(server.url))

            assert client.send(get(server.url, repeatable=True)).body == b"1"
            assert server.accepted == 2

    def test_a_server_nobody_vouches_for(self, client: HttpClient, authority: Authority) -> None:
        with running_server(answering(answer()), tls=authority.server_context) as server:
            error = unreachable(client, get(server.url))

        assert str(error) == "127.0.0.1: TLS verification failed"

    def test_a_server_of_another_name(
        self, client: HttpClient, authority: Authority, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        with running_server(answering(answer()), tls=authority.server_context) as server:
            error = unreachable(client, get(server.url.replace("127.0.0.1", "localhost")))

        assert str(error) == "localhost: TLS verification failed"

    def test_a_server_that_speaks_no_tls(self, client: HttpClient) -> None:
        with running_server(lambda peer: peer.send(answer())) as server:
            error = unreachable(client, get(server.url.replace("http:", "https:")))

        assert error.reason in ("TLS failed", CLOSED_EARLY)

    def test_folder_of_the_function_has_the_authority(
        self, authority: Authority, certificates: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _without_variables(monkeypatch)
        with function_client(certificates) as client, serving(authority) as server:
            assert client.send(get(server.url)).body == b"1"

    def test_folder_of_the_function_lacks_the_authority(
        self, certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _without_variables(monkeypatch)
        other = Authority(tmp_path)  # of the same name, and with another key
        with function_client(certificates) as client, serving(other) as server:
            assert unreachable(client, get(server.url)).reason == "TLS verification failed"

    def test_authority_in_the_folder_has_expired(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _without_variables(monkeypatch)
        expired = Authority(tmp_path, ends_in=timedelta(days=-1))
        folder = hashed(expired, tmp_path / "certificates")
        with function_client(folder) as client, serving(expired) as server:
            assert unreachable(client, get(server.url)).reason == "TLS verification failed"

    @pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
    def test_authority_of_a_company_wins_over_the_folder(
        self, authority: Authority, certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
    ) -> None:
        _without_variables(monkeypatch)
        company = Authority(tmp_path)
        place = company.certificate if variable == "SSL_CERT_FILE" else hashed(company, tmp_path / "company")
        monkeypatch.setenv(variable, str(place))
        with function_client(certificates) as client, serving(company) as theirs, serving(authority) as ours:
            assert client.send(get(theirs.url)).body == b"1"
            assert unreachable(client, get(ours.url)).reason == "TLS verification failed"

    def test_time_of_a_request_begins_after_the_authorities_are_read(
        self, client: HttpClient, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        slow = tmp_path / "authorities"
        os.mkfifo(slow)
        monkeypatch.setenv("SSL_CERT_FILE", str(slow))
        writing = threading.Timer(0.6, slow.write_bytes, [authority.certificate.read_bytes()])
        with running_server(answering(answer(b"1")), tls=authority.server_context) as server:
            writing.start()

            assert client.send(get(server.url, timeout_s=0.5)).body == b"1"

    def test_the_authorities_are_read_at_the_first_https_address(self) -> None:
        code = (
            "import ssl; from handler.http.client import HttpClient, HttpRequest\n"
            "ssl.create_default_context = lambda **_: print('read') or exit()\n"
            "client = HttpClient(); print('made')\n"
            "client.send(HttpRequest(method='GET', url='https://h.invalid/', timeout_s=1, max_bytes=1))"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

        assert ran.stdout.split() == ["made", "read"]


def _without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)


def function_client(certificates: Path) -> closing[HttpClient]:
    return closing(HttpClient(LOCAL, certificates=str(certificates)))


def serving(authority: Authority) -> AbstractContextManager[RawServer]:
    return running_server(answering(answer(b"1")), tls=authority.server_context)


def hashed(authority: Authority, folder: Path) -> Path:
    """Return the folder that the build makes of a file of authorities."""
    assert hash_certificates(authority.certificate.read_text("ascii"), folder) == 1
    return folder


@pytest.fixture(scope="module")
def certificates(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hashed(authority, tmp_path_factory.mktemp("function") / "certificates")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))
