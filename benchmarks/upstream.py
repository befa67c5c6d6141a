"""An API that answers anything at once, in a process of its own: what is measured shares no interpreter with it.

python -m benchmarks.upstream DELAY_MS
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.runner import ROOT

BODY = (
    b'{"data":{"viewer":{"login":"octocat"},"repository":null,"thing":null,"employees":[],"rows3":[],'
    b'"customer":{"id":"1","name":"octocat","email":"octocat@example.com","address":null},'
    b'"customers":{"edges":[{"node":{"name":"octocat","email":"octocat@example.com"}}]}}}'
)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)

LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


@contextmanager
def answering_upstream(*, delay_ms: int = 0) -> Iterator[str]:
    """The URL of such an API on loopback, while this lasts; with ``delay_ms`` its answers take that long."""
    command = [sys.executable, "-m", "benchmarks.upstream", str(delay_ms)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/graphql"
        finally:
            process.stdin.close()  # which ends it, as the end of whoever started it would


def main() -> None:
    """Say the port, and answer until there is nobody to answer for."""
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=_accept, args=(listener, int(sys.argv[1]) / 1e3), daemon=True).start()
    sys.stdin.read()


def _accept(listener: socket.socket, delay_s: float) -> None:
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_answer, args=(sock, delay_s), daemon=True).start()


def _answer(sock: socket.socket, delay_s: float) -> None:
    with sock, contextlib.suppress(OSError):
        received = b""
        while chunk := sock.recv(65_536):
            received += chunk
            head, end, body = received.partition(b"\r\n\r\n")
            length = LENGTH.search(head)
            if end and len(body) >= int(length[1] if length else 0):
                received = b""
                time.sleep(delay_s)
                sock.sendall(ANSWER)


if __name__ == "__main__":
    main()
