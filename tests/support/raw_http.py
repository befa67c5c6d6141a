from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator

from tests.support.secrecy import SESSION, Output


class Peer:
    """The server's end of one accepted connection."""

    def __init__(self, sock: socket.socket, server: RawServer) -> None:
        self._socket = sock
        self._server = server
        self._reader = sock.makefile("rb")

    def read_request(self) -> bytes:
        """One whole request as it came, or nothing if the client went away."""
        lines: list[bytes] = []
        while not lines or lines[-1] not in (b"\r\n", b""):
            lines.append(self._reader.readline())
        head = b"".join(lines)
        length = next((int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0)
        request = head + self._reader.read(length)
        if request:
            self._server.requests.append(request)
            if not self._server.takes_secrets:
                SESSION.note(Output.PEER, request)
        return request

    @property
    def requests(self) -> list[bytes]:
        """All requests that the server has kept."""
        return self._server.requests

    def send(self, answer: bytes) -> None:
        self._socket.sendall(answer)

    def drip(self, answer: bytes, *, every_s: float) -> None:
        """One byte at a time, for as long as the client listens."""
        for byte in answer:
            self.send(bytes([byte]))
            if self._server.stopping.wait(every_s):
                return

    def wait(self) -> None:
        """Say nothing until the client goes away."""
        while self._reader.read(65_536):
            pass

    def close(self) -> None:
        self._reader.close()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def reset(self) -> None:
        """Close so that the client's kernel gets a reset and no ordinary end."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        self._reader.close()
        self._socket.close()


class RawServer:
    """Hands each accepted connection to ``script``, in a thread of its own."""

    def __init__(self, script: Callable[[Peer], None], tls: ssl.SSLContext | None, *, takes_secrets: bool) -> None:
        self.accepted = 0
        self.requests: list[bytes] = []
        self.stopping = threading.Event()
        self.takes_secrets = takes_secrets
        self._script = script
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._peers: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}/"

    def stop(self) -> None:
        self.stopping.set()
        for sock in (self._listener, *self._peers):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=5)
        for sock in (self._listener, *self._peers):
            sock.close()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._peers.append(sock)
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the client may go away at any byte; that is often the test
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_side=True)
                self._peers.append(sock)
            peer = Peer(sock, self)
            try:
                self._script(peer)
            finally:
                peer.close()


@contextlib.contextmanager
def running_server(
    script: Callable[[Peer], None], *, tls: ssl.SSLContext | None = None, takes_secrets: bool = False
) -> Iterator[RawServer]:
    """A server on loopback that speaks bytes, not HTTP: each test writes down what its connections do.

    A script that returns closes the connection, and a client that keeps it may send a request before it sees that. So
    a script of an API that several requests may reach reads until ``read_request`` gives nothing.

    ``takes_secrets``: it is whom secrets are for, so no test fails because one reached it.
    """
    server = RawServer(script, tls, takes_secrets=takes_secrets)
    try:
        yield server
    finally:
        server.stop()


def answer(body: bytes = b"", *, status: str = "200 OK", **headers: str) -> bytes:
    """A whole HTTP/1.1 answer. ``content_length=...`` overrides the true length."""
    named = {"content-length": str(len(body))} | {name.replace("_", "-"): v for name, v in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def answering(*answers: bytes) -> Callable[[Peer], None]:
    """A script: the same answers on each connection, one a request, the last one for all further ones."""

    def script(peer: Peer) -> None:
        left = list(answers)
        while peer.read_request():
            peer.send(left.pop(0) if len(left) > 1 else left[0])

    return script
