from __future__ import annotations

import contextlib
import http.client
import math
import socket
import ssl
import threading
import time
from collections.abc import Hashable, Sequence
from typing import Any

from handler.http.addresses import AddressRules
from handler.http.response import Answer
from handler.lru import Lru

MAX_HOSTS = 32
MAX_KEPT = 16
"""Idle connections kept for one host."""


class ForbiddenAddress(OSError):
    """An address that a request may not go to; the text says what kind it is of, and not which it is."""


class _Timed:
    """A socket that has until a deadline. Its own timeout starts again at each byte: a server could drip for ever."""

    deadline = math.inf  # on the clock of time.monotonic

    def recv_into(self, *into: Any) -> int:
        self.take_time()
        return super().recv_into(*into)  # type: ignore[misc,no-any-return] # a socket is beside it

    def send(self, *data: Any) -> int:
        self.take_time()
        return super().send(*data)  # type: ignore[misc,no-any-return]

    def take_time(self) -> None:
        """Block for as long as there is time.

        Raises:
            TimeoutError: there is none.
        """
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.settimeout(left_s)  # type: ignore[attr-defined]


class TimedSocket(_Timed, socket.socket):
    """Of plain HTTP."""


class TimedTls(_Timed, ssl.SSLSocket):
    """Of HTTPS: what a context makes whose ``sslsocket_class`` it is."""


class Exchange:
    """One request under way, and the socket it blocks on, so that another thread can give it up."""

    def __init__(self, *, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.deadline = time.monotonic() + timeout_s
        self.aborted = False
        self.sent = False  # the request, or a part of it
        self.answer_began = False
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    def put_off(self, waited_s: float) -> None:
        """Count the time from now on: what this process waits for is not the other end's."""
        self.deadline += waited_s

    def is_over(self, *, margin_s: float = 0) -> bool:
        """Whether there are no more than ``margin_s`` left."""
        return time.monotonic() > self.deadline - margin_s

    def abort(self) -> None:
        """Wake the thread that blocks on the socket. Nothing it may have read counts any more."""
        with self._lock:
            self.aborted = True
            if self._socket is not None:
                # The base class's shutdown: the one of SSLSocket takes TLS away from under the reader.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def take(self, sock: TimedSocket | TimedTls) -> None:
        """Block on ``sock`` from now on, for as long as there is time."""
        with self._lock:
            if self.aborted:
                raise TimeoutError
            self._socket = sock
        sock.deadline = self.deadline
        sock.take_time()

    def let_go(self) -> bool:
        """Leave the socket alone from now on. True if nobody touched it."""
        with self._lock:
            self._socket = None
            return not self.aborted


class Connection(http.client.HTTPConnection):
    """A connection to one host, over TLS if there is a context for it. Without ``rules`` it may go to any address."""

    response_class = Answer  # type: ignore[assignment] # all of it that is used

    def __init__(self, host: str, port: int, *, tls: ssl.SSLContext | None, rules: AddressRules | None) -> None:
        self.default_port = 443 if tls else 80  # which the host header leaves out
        super().__init__(host.rstrip("."), port)
        self.idle_since = 0.0
        self._resolved = host
        self._tls = tls
        self._rules = rules

    @property
    def is_dead(self) -> bool:
        """Whether the other end has closed it, or has sent what nobody asked for."""
        self.sock.settimeout(0)
        try:
            self.sock.recv(1)  # over TLS there may be tickets to read, which are neither
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        except OSError:
            return True
        return True

    def open(self, exchange: Exchange) -> None:
        """Connect, the handshake of TLS included, or go on with the socket that there is."""
        if self.sock is not None:
            exchange.take(self.sock)  # type: ignore[arg-type] # it is one of ours
            return
        sock = self._connected(exchange)
        try:
            self.sock = self._encrypted(sock, self._tls, exchange) if self._tls else sock
        except BaseException:
            sock.close()
            raise

    def send_request(self, method: str, path: str, *, body: bytes | None, headers: dict[str, str]) -> Answer:
        """Send a request and read the answer's head."""
        # A server may answer and close before it has read everything; its answer is what counts.
        with contextlib.suppress(BrokenPipeError):
            self.request(method, path, body=body, headers=headers)
        return self.getresponse()  # type: ignore[return-value] # of response_class

    def _connected(self, exchange: Exchange) -> TimedSocket:
        """Connect to the first address that answers; all of them share the one deadline.

        The resolver cannot be interrupted: while it hangs so does the thread, until the resolver's own limit.
        """
        failure = OSError("the name has no address")
        # What is judged is what is connected to: the name is not resolved a second time.
        found = socket.getaddrinfo(self._resolved, self.port, type=socket.SOCK_STREAM)
        self._require_allowed([str(address[0]) for *_, address in found])
        for family, kind, protocol, _, address in found:
            sock = TimedSocket(family, kind, protocol)
            try:
                exchange.take(sock)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.connect(address)
            except OSError as exc:
                sock.close()
                failure = exc
            else:
                return sock
        raise failure

    def _require_allowed(self, addresses: Sequence[str]) -> None:
        """Refuse a name with an address that requests may not go to, whatever else it resolves to."""
        rules = self._rules
        if rules is not None:
            for fault in filter(None, (rules.address_fault(address, self.port) for address in addresses)):
                raise ForbiddenAddress(fault)

    def _encrypted(self, sock: TimedSocket, tls: ssl.SSLContext, exchange: Exchange) -> TimedTls:
        # The handshake comes after, because wrapping takes the descriptor away from the plain socket.
        encrypted: Any = tls.wrap_socket(sock, server_hostname=self.host, do_handshake_on_connect=False)
        try:
            exchange.take(encrypted)
            encrypted.do_handshake()
        except BaseException:
            encrypted.close()
            raise
        return encrypted  # type: ignore[no-any-return] # a TimedTls, as the context makes them


class KeptConnections:
    """Idle connections by host, the newest first. Hosts unused for longest lose theirs."""

    def __init__(self, *, max_idle_s: float) -> None:
        self._max_idle_s = max_idle_s
        self._by_host: Lru[Hashable, list[Connection]] = Lru(most=MAX_HOSTS)
        self._lock = threading.Lock()

    def take(self, host: Hashable) -> Connection | None:
        """A connection that can be used, as far as that can be told.

        How long it was idle is told by the wall clock: the monotonic one may stand still while Lambda has the process
        frozen.
        """
        while True:
            with self._lock:
                kept = self._by_host.peek(host)
                if not kept:
                    return None
                connection = kept.pop()
            if time.time() - connection.idle_since <= self._max_idle_s and not connection.is_dead:
                return connection
            connection.close()

    def give_back(self, host: Hashable, connection: Connection) -> None:
        """Keep a connection whose last answer was read to its end."""
        connection.idle_since = time.time()
        with self._lock:
            kept = self._by_host.use(host) or []
            kept.append(connection)
            dropped = [kept.pop(0)] if len(kept) > MAX_KEPT else []
            for of_another_host in self._by_host.put(host, kept):
                dropped += of_another_host
        for each in dropped:
            each.close()

    def clear(self) -> None:
        """Close all of them."""
        with self._lock:
            dropped = [connection for kept in self._by_host.values() for connection in kept]
            self._by_host.clear()
        for connection in dropped:
            connection.close()
