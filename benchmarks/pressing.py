"""Ask one URL from many connections at once, each of which has one request under way, and print the times as JSON.

python -m benchmarks.pressing URL --calls 1000 --at-once 8 < REQUEST

REQUEST is JSON with ``headers``, ``body``, and ``expects``, which stands in every right answer. One thread does it all
with requests that are made once, so that a small machine is left to the server.
"""

from __future__ import annotations

import argparse
import json
import re
import selectors
import socket
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit

TIMEOUT_S = 30.0

TOOL_ERROR = b'"isError":true'

LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


class Wrong(Exception):
    """An answer that is not right, so its time means nothing."""


@dataclass(slots=True)
class Asking:
    """One connection, and the answer that it has received so far."""

    sock: socket.socket
    sent_at: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def ask(self, request: bytes) -> None:
        self.received.clear()
        self.sent_at = time.perf_counter()
        self.sock.sendall(request)

    def is_answered(self, expects: bytes) -> bool:
        """Read what is there, and tell if it is all."""
        chunk = self.sock.recv(65_536)
        self.received += chunk
        head, end, body = bytes(self.received).partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not chunk or (end and length is None):
            raise Wrong(f"no whole answer: {bytes(self.received)[:500]!r}")
        if not end or length is None or len(body) < int(length[1]):
            return False
        if b" 200 " not in head[:16] or expects not in body or TOOL_ERROR in body:
            raise Wrong(bytes(self.received)[:500].decode(errors="replace"))
        return True


def request_of(url: str, headers: dict[str, str], body: str) -> bytes:
    """Return the bytes of a request."""
    parts, content = urlsplit(url), body.encode()
    lines = [f"POST {parts.path} HTTP/1.1", f"host: {parts.netloc}", f"content-length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def press(url: str, request: bytes, *, expects: bytes, calls: int, at_once: int) -> list[float]:
    """Return the milliseconds of each call.

    Raises:
        Wrong: an answer is not right.
        TimeoutError: no answer within ``TIMEOUT_S``.
    """
    parts = urlsplit(url)
    taken: list[float] = []
    left = calls
    with selectors.DefaultSelector() as ready, ExitStack() as open_ones:
        for _ in range(min(at_once, calls)):
            place = (parts.hostname or "", parts.port or 80)
            sock = open_ones.enter_context(socket.create_connection(place, timeout=TIMEOUT_S))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asking = Asking(sock)
            ready.register(sock, selectors.EVENT_READ, asking)
            asking.ask(request)
            left -= 1
        while len(taken) < calls:
            found = ready.select(TIMEOUT_S)
            if not found:
                raise TimeoutError(f"no answer within {TIMEOUT_S:g} s")
            for key, _ in found:
                asking = key.data
                if not asking.is_answered(expects):
                    continue
                taken.append((time.perf_counter() - asking.sent_at) * 1e3)
                if left:
                    left -= 1
                    asking.ask(request)
                else:
                    ready.unregister(asking.sock)
    return taken


def main() -> int:
    """Ask, and print the times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pressing")
    parser.add_argument("url")
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--at-once", type=int, default=8)
    given = parser.parse_args()
    told = json.load(sys.stdin)
    request = request_of(given.url, told["headers"], told["body"])
    started = time.perf_counter()
    taken = press(given.url, request, expects=told["expects"].encode(), calls=given.calls, at_once=given.at_once)
    json.dump({"took_s": time.perf_counter() - started, "ms": taken}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
