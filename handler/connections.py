from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from contextvars import ContextVar
from typing import IO, Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from handler.addresses import AddressRules


class ForbiddenAddress(OSError):
    """An address that a request may not go to; the text says what kind it is of, and not which it is."""


class Exchange:
    """One request under way, and the socket it blocks on, so that another thread can give it up.

    urllib3's own timeouts start again at each byte, so a server that drips could hold a thread for ever.
    """

    def __init__(self, *, timeout_s: float, max_idle_s: float, rules: AddressRules | None) -> None:
        self.timeout_s = timeout_s
        self.deadline = time.monotonic() + timeout_s
        self.aborted = False
        self.on_kept_connection = False
        self.only_new_connection = False
        self._max_idle_s = max_idle_s
        self._rules = rules
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    def abort(self) -> None:
        """Wake the thread that blocks on the socket. Nothing it may have read counts any more."""
        with self._lock:
            self.aborted = True
            if self._socket is not None:
                # The base class's shutdown: the one of SSLSocket takes TLS away from under the reader.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def take(self, sock: socket.socket) -> None:
        """Block on ``sock`` from now on."""
        with self._lock:
            if self.aborted:
                raise TimeoutError
            self._socket = sock

    def holds(self, sock: socket.socket) -> bool:
        """Whether this exchange opened ``sock`` itself, or has taken it before."""
        return self._socket is sock

    def require_allowed(self, addresses: Iterable[tuple[str, int]]) -> None:
        """Refuse a name with an address that the request may not go to, whatever else it resolves to."""
        rules = self._rules
        if rules is not None:
            for fault in filter(None, (rules.address_fault(address, port) for address, port in addresses)):
                raise ForbiddenAddress(fault)

    def let_go(self) -> bool:
        """Leave the socket alone from now on. True if nobody touched it."""
        with self._lock:
            self._socket = None
            return not self.aborted

    def refuses(self, idle_since: float) -> bool:
        """Whether a connection kept since then is too old.

        By the wall clock, because the monotonic one may stand still while Lambda has the process frozen.
        """
        return self.only_new_connection or time.time() - idle_since > self._max_idle_s


class Response(http.client.HTTPResponse):
    """An answer whose headers have an end: http.client takes a closed connection for one."""

    def begin(self) -> None:
        """Read the status and the headers."""
        stream, self.fp = self.fp, _Head(self.fp)  # type: ignore[assignment] # a reader is all it has to be
        try:
            super().begin()
        finally:
            if self.fp is not None:
                self.fp = stream


class _Head:
    """As much of a stream as ``Response.begin`` uses."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._begun = False
        self.close = stream.close

    def readline(self, limit: int) -> bytes:
        line = self._stream.readline(limit)
        if self._begun and not line:
            raise http.client.IncompleteRead(b"")
        self._begun = True
        return line


class Connection(HTTPConnection):
    """A connection that tells the exchange under way which socket it blocks on."""

    response_class = Response
    idle_since = 0.0

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send a request, on a new socket if the kept one cannot be trusted."""
        exchange = UNDER_WAY.get()
        if self.sock is not None and not exchange.holds(self.sock):  # it was kept from an earlier exchange
            if exchange.refuses(self.idle_since):
                self.close()  # http.client opens it again
            else:
                exchange.take(self.sock)
                exchange.on_kept_connection = True
        super().request(*args, **kwargs)

    def connect(self) -> None:
        """Connect, TLS included. The failure gets a name: in ``request`` urllib3 passes over broken pipes."""
        try:
            super().connect()
        except OSError as exc:
            raise NewConnectionError(self, "no connection") from exc

    def _new_conn(self) -> socket.socket:
        """Connect to the first address that answers; all of them share the one deadline.

        The resolver cannot be interrupted: while it hangs so does the thread, until the resolver's own limit.
        """
        exchange = UNDER_WAY.get()
        failure = OSError("the name has no address")
        # What is judged is what is connected to: the name is not resolved a second time.
        found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        exchange.require_allowed((str(address[0]), int(address[1])) for *_, address in found)
        for family, kind, protocol, _, address in found:
            sock = socket.socket(family, kind, protocol)
            try:
                exchange.take(sock)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.settimeout(max(exchange.deadline - time.monotonic(), 0.001))
                sock.connect(address)
            except OSError as exc:
                sock.close()
                failure = exc
            else:
                return sock
        raise failure


class TlsConnection(Connection, HTTPSConnection):
    """The same over TLS."""


class TlsSocket(ssl.SSLSocket):
    """A TLS socket that reports itself: wrapping takes the descriptor away from the plain socket."""

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002 (the base class's signature)
        """Shake hands under the watchdog's eye."""
        UNDER_WAY.get().take(self)
        super().do_handshake(block)


class Pool(HTTPConnectionPool):
    """Kept connections to one host."""

    ConnectionCls = Connection

    def _put_conn(self, conn: Any) -> None:
        # The watchdog must lose the connection before anybody else can have it; if it bit, nobody may.
        untouched = UNDER_WAY.get().let_go()
        if conn is not None:
            conn.idle_since = time.time()
            if not untouched:
                conn.close()
        super()._put_conn(conn)


class TlsPool(Pool, HTTPSConnectionPool):
    """The same over TLS."""

    ConnectionCls = TlsConnection


UNDER_WAY: ContextVar[Exchange] = ContextVar("UNDER_WAY")  # to_thread copies it, urllib3 has no place for it
