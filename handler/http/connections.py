"""Connections with a deadline and address rules, the heads of requests, and the pool of idle connections.

The writer of heads writes the same as http.client, and refuses more. Importing http.client loads the parser of emails,
which no request needs: 5 % of the processor time of a cold start. ``tests/http/test_request_head.py`` holds the writer
against http.client and h11.

Source: RFC 9110, sections 5.5, 5.6.2 and 7.2; RFC 9112, sections 3 and 5.
"""

from __future__ import annotations

import contextlib
import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Hashable, Mapping
from typing import Any

from handler.http.addresses import AddressRules
from handler.http.response import ResponseReader
from handler.lru import Lru

MAX_HOSTS = 32
MAX_KEPT = 16
"""Idle connections kept for one host."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET = re.compile(r"[!-~]+")
_NEVER_IN_A_VALUE = re.compile(r"[\0\r\n]")
_WITH_BODY = ("PATCH", "POST", "PUT")
"""Methods whose requests state a length, even without a body."""


class ForbiddenAddress(OSError):
    """An address that a request may not go to; the message has its kind, not the address."""


class _Timed:
    """A socket with a deadline. A socket's timeout starts again at each byte, so a server could drip for ever."""

    deadline = math.inf  # on the clock of time.monotonic

    def recv_into(self, *into: Any) -> int:
        self.take_time()
        return super().recv_into(*into)  # type: ignore[misc,no-any-return] # a socket is beside it

    def send(self, *data: Any) -> int:
        self.take_time()
        return super().send(*data)  # type: ignore[misc,no-any-return]

    def take_time(self) -> None:
        """Set the socket's timeout to the time left.

        Raises:
            TimeoutError: no time is left.
        """
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.settimeout(left_s)  # type: ignore[attr-defined]


class TimedSocket(_Timed, socket.socket):
    """The socket of plain HTTP."""


class TimedTls(_Timed, ssl.SSLSocket):
    """The socket of HTTPS, made by a context with this ``sslsocket_class``."""


class Exchange:
    """One request under way, and the socket it blocks on, so that another thread can abort it."""

    def __init__(self, *, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.deadline = time.monotonic() + timeout_s
        self.aborted = False
        self.sent = False  # the request, in whole or in part
        self.answer_began = False
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    def put_off(self, waited_s: float) -> None:
        """Put the deadline off by a wait inside this process, which is not the other end's."""
        self.deadline += waited_s

    def is_over(self, *, margin_s: float = 0) -> bool:
        """Return whether less than ``margin_s`` is left."""
        return time.monotonic() > self.deadline - margin_s

    def abort(self) -> None:
        """Wake the thread that blocks on the socket. Anything that it has read is dropped."""
        with self._lock:
            self.aborted = True
            if self._socket is not None:
                # The base class's shutdown: the one of SSLSocket takes TLS away from under the reader.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def take(self, sock: TimedSocket | TimedTls) -> None:
        """Use ``sock`` from now on, for as long as there is time."""
        with self._lock:
            if self.aborted:
                raise TimeoutError
            self._socket = sock
        sock.deadline = self.deadline
        sock.take_time()

    def let_go(self) -> bool:
        """Stop using the socket. Return ``True`` if the exchange was not aborted."""
        with self._lock:
            self._socket = None
            return not self.aborted


class Connection:
    """A connection to one host, over TLS if ``tls`` is given. Without ``rules`` it may go to any address."""

    def __init__(self, host: str, port: int, *, tls: ssl.SSLContext | None, rules: AddressRules | None) -> None:
        self.idle_since = 0.0
        self._socket: TimedSocket | TimedTls | None = None
        self._host = host
        self._port = port
        self._tls = tls
        self._rules = rules

    @property
    def is_dead(self) -> bool:
        """True if the other end has closed the connection, or has sent unrequested data."""
        sock = self._opened()
        sock.settimeout(0)
        try:
            sock.recv(1)  # over TLS there may be session tickets to read, which are neither
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        except OSError:
            return True
        return True

    def open(self, exchange: Exchange) -> None:
        """Connect, including the TLS handshake, or continue with the open socket."""
        if self._socket is not None:
            exchange.take(self._socket)
            return
        sock: Any = self._connected(exchange)
        try:
            if self._tls:
                # The handshake is separate, because wrapping takes the descriptor away from the plain socket.
                name = encoded_name(self._host.rstrip("."))
                sock = self._tls.wrap_socket(sock, server_hostname=name, do_handshake_on_connect=False)
                exchange.take(sock)
                sock.do_handshake()
        except BaseException:
            sock.close()
            raise
        self._socket = sock

    def send_request(self, method: str, path: str, *, body: bytes | None, headers: Mapping[str, str]) -> ResponseReader:
        """Send a request and read the head of the response.

        Raises:
            ValueError: a request that cannot be sent.
        """
        sock = self._opened()
        host = host_field(self._host.rstrip("."), self._port, default_port=443 if self._tls else 80)
        head = request_head(method, path, host=host, headers=headers, body=body)
        # A server may respond and close before it has read everything; its response counts all the same.
        with contextlib.suppress(BrokenPipeError):
            sock.sendall(head + body if body else head)
        response = ResponseReader(sock, method=method)
        try:
            response.begin()
        except BaseException:
            response.close()
            raise
        return response

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()

    def _opened(self) -> TimedSocket | TimedTls:
        if self._socket is None:
            raise OSError("the connection is not open")
        return self._socket

    def _connected(self, exchange: Exchange) -> TimedSocket:
        """Connect to the first address that answers; all addresses share the one deadline.

        The resolver cannot be interrupted: if it hangs, the thread hangs until the resolver's own limit.
        """
        failure = OSError("the name has no address")
        # The checked addresses are the ones to connect to: the name is not resolved a second time.
        infos = socket.getaddrinfo(encoded_name(self._host), self._port, type=socket.SOCK_STREAM)
        for *_, address in infos:  # one forbidden address forbids the name
            if self._rules and (fault := self._rules.address_fault(str(address[0]), self._port, host=self._host)):
                raise ForbiddenAddress(fault)
        for family, kind, protocol, _, address in infos:
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


def request_head(method: str, path: str, *, host: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """Return the first line and the fields of a request. ``host`` is the field's value, if ``headers`` has none.

    Raises:
        ValueError: a member that cannot be sent. The message does not quote it.
    """
    if not _TOKEN.fullmatch(method) or not _TARGET.fullmatch(path):
        raise ValueError("a method or path that is not valid")
    names = {name.lower() for name in headers}
    fields = {} if "host" in names else {"Host": host}
    if "accept-encoding" not in names:
        fields["Accept-Encoding"] = "identity"
    if not names & {"content-length", "transfer-encoding"} and (body is not None or method.upper() in _WITH_BODY):
        fields["Content-Length"] = str(len(body or b""))
    fields |= headers
    if not all(map(_TOKEN.fullmatch, fields)) or _NEVER_IN_A_VALUE.search("".join(fields.values())):
        raise ValueError("a header that is not valid")
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def host_field(host: str, port: int, *, default_port: int) -> str:
    """Return the value of the field ``host``: without a default port, an IPv6 address in brackets without its zone.

    Raises:
        UnicodeError: a name that is not valid.
    """
    name = host if host.isascii() else host.encode("idna").decode("ascii")
    if ":" in name:
        name = f"[{name.partition('%')[0]}]"
    return name if port == default_port else f"{name}:{port}"


def encoded_name(host: str) -> str | bytes:
    """Return a name as bytes, if the codec of international names would leave it as it is.

    Python loads the codec for every text that it resolves or verifies a certificate for: 2 % of a cold start. The codec
    leaves ASCII as it is, and refuses empty labels and those of more than 63 characters.
    """
    labels = host.removesuffix(".").split(".")
    return host.encode("ascii") if host.isascii() and all(0 < len(label) < 64 for label in labels) else host


class KeptConnections:
    """Idle connections by host, newest first. The least recently used hosts lose theirs."""

    def __init__(self, *, max_idle_s: float) -> None:
        self._max_idle_s = max_idle_s
        self._by_host: Lru[Hashable, list[Connection]] = Lru(most=MAX_HOSTS)
        self._lock = threading.Lock()

    def take(self, host: Hashable) -> Connection | None:
        """Take a connection that seems usable; ``None`` if there is none.

        The wall clock measures the idle time: the monotonic one may stand still while Lambda has the process frozen.
        """
        while True:
            with self._lock:
                idle = self._by_host.peek(host)
                if not idle:
                    return None
                connection = idle.pop()
            if time.time() - connection.idle_since <= self._max_idle_s and not connection.is_dead:
                return connection
            connection.close()

    def give_back(self, host: Hashable, connection: Connection) -> None:
        """Keep a connection whose last response was read to its end."""
        connection.idle_since = time.time()
        with self._lock:
            idle = self._by_host.use(host) or []
            idle.append(connection)
            dropped = [idle.pop(0)] if len(idle) > MAX_KEPT else []
            for of_another_host in self._by_host.put(host, idle):
                dropped += of_another_host
        for each in dropped:
            each.close()

    def clear(self) -> None:
        """Close all connections."""
        with self._lock:
            dropped = [connection for idle in self._by_host.values() for connection in idle]
            self._by_host.clear()
        for connection in dropped:
            connection.close()
