"""A proxy between a publisher and moto: requests pass one at a time, and a rule decides about each."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import urlsplit

DROPPED = frozenset({"connection", "transfer-encoding", "content-length"})


class Passing(NamedTuple):
    """A request on its way."""

    number: int  # from 1
    method: str
    path: str


class Reply(NamedTuple):
    """An answer of S3, or one in its place; status 0 for a connection that breaks."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


Forward = Callable[[], Reply]
Rule = Callable[[Passing, Forward], Reply]
"""Answers a request, by forwarding it or otherwise."""

BROKEN = Reply(0, (), b"")


class Between:
    """The proxy, and the requests that passed."""

    def __init__(self, upstream: str) -> None:
        self.passed: list[Passing] = []
        self.rule: Rule = lambda _, forward: forward()
        self.url = ""
        self._target = urlsplit(upstream).netloc
        self._one_at_a_time = threading.Lock()

    def begin(self, rule: Rule | None = None) -> None:
        """Forget the requests, and set the rule of those to come."""
        self.passed = []
        self.rule = rule or (lambda _, forward: forward())

    def answer(self, method: str, path: str, *, headers: dict[str, str], body: bytes) -> Reply:
        with self._one_at_a_time:
            passing = Passing(len(self.passed) + 1, method, path)
            self.passed.append(passing)
        return self.rule(passing, lambda: self._forward(method, path, headers=headers, body=body))

    def _forward(self, method: str, path: str, *, headers: dict[str, str], body: bytes) -> Reply:
        with self._one_at_a_time:  # moto judges the condition of a write before the write
            connection = http.client.HTTPConnection(self._target, timeout=60)
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            reply = Reply(answer.status, tuple(answer.getheaders()), answer.read())
            connection.close()
            return reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    between: Between

    def answer(self) -> None:
        body = self._read_body()
        headers = {name: value for name, value in self.headers.items() if name.lower() not in {"expect", *DROPPED}}
        reply = self.between.answer(self.command, self.path, headers=headers, body=body)
        if reply.status == 0:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            return
        self.send_response_only(reply.status)
        length = str(len(reply.body))
        for name, value in reply.headers:
            if self.command == "HEAD" and name.lower() == "content-length":
                length = value
            if name.lower() not in DROPPED:
                self.send_header(name, value)
        self.send_header("content-length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_DELETE = do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815 - the library's

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # a publisher may be killed at any byte
            super().handle()

    def handle_expect_100(self) -> bool:
        self.send_response_only(100)
        self.end_headers()
        return True

    def _read_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running_between(upstream: str) -> Iterator[Between]:
    """A proxy on loopback, while this lasts."""
    between = Between(upstream)
    handler = type("Handler", (_Handler,), {"between": between})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        between.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield between
        finally:
            server.shutdown()
            thread.join()
