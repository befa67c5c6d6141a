"""AWS's Lambda Runtime API on loopback, as much of it as a function's runtime client asks for.

Source: AWS Lambda developer guide, "Using the Lambda runtime API" (2018-06-01).
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from dataclasses import dataclass
from typing import BinaryIO

FUNCTION_ARN = "arn:aws:lambda:us-east-1:123456789012:function:measured"
DEADLINE_S = 30

_ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
_RESTORED = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a function made of an event. ``answered_at`` and ``sent_at`` are of ``time.perf_counter``."""

    succeeded: bool
    body: bytes
    sent_at: float
    answered_at: float

    @property
    def took_s(self) -> float:
        """From the event's first byte to the answer's last."""
        return self.answered_at - self.sent_at


class RuntimeApi:
    """Hands one event after another to the one function that asks, and keeps what it answers."""

    def __init__(self, *, deadline_s: float = DEADLINE_S) -> None:
        self._deadline_s = deadline_s
        self.ready_at: float | None = None  # when the function first asked for an event: its init was over
        self._events: queue.SimpleQueue[tuple[bytes, str] | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._sent_at = 0.0
        self._asked_to_restore, self._restored = threading.Event(), threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []

    @property
    def address(self) -> str:
        """What ``AWS_LAMBDA_RUNTIME_API`` has to say."""
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> RuntimeApi:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._events.put(None)
        self._restored.set()
        for sock in (self._listener, *self._connections):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def send(self, event: bytes, *, trace: str = "") -> None:
        """Have an event ready for when the function asks, with a trace of X-Ray if one is given."""
        self._events.put((event, trace))

    def wait_for_snapshot(self, timeout_s: float = 60) -> None:
        """Wait until the function could be put into a snapshot, if SnapStart is on.

        Raises:
            TimeoutError: it is not so far.
        """
        if not self._asked_to_restore.wait(timeout_s):
            raise TimeoutError(f"the function was not ready for a snapshot within {timeout_s:g} s")

    def restore(self) -> float:
        """Let the function go on, as in a copy of the snapshot. Returns the time of ``time.perf_counter``."""
        at = time.perf_counter()
        self._restored.set()
        return at

    def outcome(self, timeout_s: float = 60) -> Outcome:
        """What became of an event.

        Raises:
            TimeoutError: nothing yet.
        """
        try:
            return self._outcomes.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError(f"the function gave no answer within {timeout_s:g} s") from None

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), sock.makefile("rb") as reader:
            while request := _read_head(reader):
                method, path, headers = request
                if headers.get("expect", "").lower() == "100-continue":
                    sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = _read_body(reader, headers)
                if path.endswith("/restore/next"):
                    self._asked_to_restore.set()
                    self._restored.wait()
                    sock.sendall(_RESTORED)
                elif method == "GET":
                    self._hand_over(sock)
                else:
                    succeeded = path.endswith("/response")
                    at = time.perf_counter()
                    self._outcomes.put(Outcome(succeeded=succeeded, body=body, sent_at=self._sent_at, answered_at=at))
                    sock.sendall(_ACCEPTED)

    def _hand_over(self, sock: socket.socket) -> None:
        if self.ready_at is None:
            self.ready_at = time.perf_counter()
        asked = self._events.get()
        if asked is None:
            return
        event, trace = asked
        deadline_ms = int((time.time() + self._deadline_s) * 1000)
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            "Lambda-Runtime-Aws-Request-Id: 8476a536-e9f4-11e8-9739-2dfe598c3fcd\r\n"
            f"Lambda-Runtime-Deadline-Ms: {deadline_ms}\r\nLambda-Runtime-Invoked-Function-Arn: {FUNCTION_ARN}\r\n"
            f"{f'Lambda-Runtime-Trace-Id: {trace}' if trace else 'X-No-Trace: 1'}\r\n"
            f"Content-Length: {len(event)}\r\n\r\n"
        )
        self._sent_at = time.perf_counter()
        sock.sendall(head.encode() + event)


def _read_head(reader: BinaryIO) -> tuple[str, str, dict[str, str]] | None:
    start = reader.readline()
    if not start:
        return None
    method, path, _ = start.decode("latin-1").split(" ", 2)
    headers = {}
    while line := reader.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return method, path, headers


def _read_body(reader: BinaryIO, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return reader.read(int(headers.get("content-length", 0)))
    chunks = []
    while size := int(reader.readline().partition(b";")[0], 16):
        chunks.append(reader.read(size))
        reader.readline()
    reader.readline()
    return b"".join(chunks)
