"""The HTTP client for the upstream, issuers' keys, tokens, and S3.

Its deadline and caps hold for any behaviour of a server. urllib3 would do, but its import takes half as long as an
empty function takes to start.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from handler.cold.artefact import CERTIFICATES
from handler.cold.records import record
from handler.errors.infrastructure import (
    AddressRefused,
    HttpEncoding,
    HttpError,
    HttpHeadTooLarge,
    HttpTimeout,
    HttpTooLarge,
    HttpUnreachable,
)
from handler.http.addresses import STRICT, AddressRules, is_unnameable
from handler.http.connections import Connection, Exchange, ForbiddenAddress, KeptConnections, TimedTls
from handler.http.response import BodyTooLarge, CutShort, HeadTooLarge, InvalidResponse, OtherEncoding

T = TypeVar("T")

MARGIN_S = 0.05
"""Largest difference at which the deadlines of an exchange and of the task that waits for it count as one."""


_OUR_HEADERS = {"accept-encoding": "gzip", "user-agent": "stile"}
_PORTS = {"http": 80, "https": 443}
_UNSENDABLE = "the request cannot be sent"
_NEVER_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")
_FAILURES = (InvalidResponse, OSError, OtherEncoding, zlib.error)
_CLOSED = (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
_REASONS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (socket.gaierror, "name not resolved"),
    (ConnectionRefusedError, "connection refused"),
    (ssl.SSLCertVerificationError, "TLS verification failed"),
    (zlib.error, "the body is not the gzip it claims to be"),
    ((*_CLOSED, CutShort), "connection closed before the answer was complete"),
    (ssl.SSLError, "TLS failed"),
    (OSError, "no connection"),
)


@record(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request. ``url`` is absolute and percent-encoded; its path goes out as it stands, dots included."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout_s: float  # for the whole exchange, from resolving the name to the last byte
    max_bytes: int  # for the decoded body of the response
    repeatable: bool = False  # may be sent again if a kept connection closed before the response began
    guarded: bool = True  # address rules apply; False: the address is the platform's, not an author's
    told_url: str = ""  # for traces, if the URL has a claim of the caller; empty: the URL


@record(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """One response of any status, including redirects."""

    status: int
    headers: Mapping[str, str]  # names in lower case; repeated values joined by ", "
    body: bytes = field(repr=False)


class HttpClient:
    """A client that keeps its connections, for many threads and event loops.

    Redirects and the environment's proxies are ignored. Connections idle for over ``max_idle_s`` are not reused: the
    other end may have closed them while Lambda was frozen. Guarded requests go only where ``rules`` allow, over
    connections that no unguarded request has made. Servers are verified by ``certificates``, a folder with a file for
    each authority, if it exists and ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` are not set, and by the system's otherwise.
    """

    def __init__(
        self, rules: AddressRules = STRICT, *, max_idle_s: float = 30.0, certificates: str = CERTIFICATES
    ) -> None:
        # Of all exchanges. Its context manager yields a list, which gets the response if there is one.
        self.observer: Callable[[HttpRequest], AbstractContextManager[list[HttpResponse]]] | None = None
        self._rules = rules
        self._kept = KeptConnections(max_idle_s=max_idle_s)
        self._tls_lock = threading.Lock()
        self._tls_context: ssl.SSLContext | None = None
        self._certificates = certificates

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send one request and return the complete response.

        Raises:
            HttpTimeout: no complete response within ``timeout_s``.
            AddressRefused: the address rules forbid the request.
            HttpUnreachable: no connection, a broken one, or a response that cannot be read.
            HttpTooLarge: a body of more than ``max_bytes``.
        """
        with (self.observer or _unobserved)(request) as answers:
            answers.append(self._send(request, Exchange(timeout_s=request.timeout_s), self._answer))
        return answers[0]

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Send one request without blocking other tasks. Cancelling the task aborts the exchange.

        The request's time begins when a thread is available to send it. A task cancelled after that time gets an
        ``HttpTimeout``: only this error says if the request was sent.
        """
        with (self.observer or _unobserved)(request) as answers:
            exchange, way = Exchange(timeout_s=request.timeout_s), self._answer
            # Lambda gives a process one request at a time, and a thread's round trip takes as long as many a response.
            if len(asyncio.all_tasks()) == 1:
                answer = self._send(request, exchange, self._answer_over_kept)
                if answer is not None:
                    answers.append(answer)
                    return answer
                way = self._answer_anew  # in a thread, because no deadline ends the resolver
            queued_at = time.monotonic()

            def send() -> HttpResponse:
                exchange.put_off(time.monotonic() - queued_at)
                return self._send(request, exchange, way)

            try:
                answers.append(await asyncio.to_thread(send))
            except asyncio.CancelledError as exc:
                exchange.abort()
                if exchange.is_over(margin_s=MARGIN_S):  # the canceller has the same deadline, a moment earlier
                    raise _error_of(TimeoutError(), _target_of(request.url).host, exchange) from exc
                raise
        return answers[0]

    def open(self, url: str, *, timeout_s: float, guarded: bool = False) -> None:
        """Open a connection for the next request to a URL.

        Raises:
            HttpError: as ``send``.
        """
        target, exchange = _target_of(url), Exchange(timeout_s=timeout_s)
        connection = self._new_connection(target, exchange, guarded=guarded)
        try:
            connection.open(exchange)
        except OSError as exc:
            connection.close()
            raise _error_of(exc, target.host, exchange) from exc
        exchange.let_go()
        self._kept.give_back((target.origin, guarded), connection)

    def close(self) -> None:
        """Drop the kept connections, as after a restored snapshot. The client stays usable."""
        self._kept.clear()

    def _send(self, request: HttpRequest, exchange: Exchange, way: Callable[[HttpRequest, _Target, Exchange], T]) -> T:
        target = _target_of(request.url)
        fault = self._rules.url_fault(target.scheme, target.host) if request.guarded else ""
        if fault:
            raise AddressRefused(target.host, fault)
        try:
            response = way(request, target, exchange)
            # Without a known length, the end of the body may be our own shutdown.
            if exchange.aborted or exchange.is_over():
                raise TimeoutError
        except BodyTooLarge as exc:
            raise HttpTooLarge(target.host, max_bytes=request.max_bytes) from exc
        except _FAILURES as exc:
            raise _error_of(exc, target.host, exchange) from exc
        except UnicodeError:
            reason = "malformed URL" if is_unnameable(target.host) else _UNSENDABLE
            raise HttpUnreachable(target.host, reason) from None
        except ValueError:
            # A method or header that cannot be sent. The message quotes it and a log would show it, hence no cause.
            raise HttpUnreachable(target.host, _UNSENDABLE) from None
        return response

    def _answer(self, request: HttpRequest, target: _Target, exchange: Exchange) -> HttpResponse:
        return self._answer_over_kept(request, target, exchange) or self._answer_anew(request, target, exchange)

    def _answer_over_kept(self, request: HttpRequest, target: _Target, exchange: Exchange) -> HttpResponse | None:
        """Return the response over a kept connection; ``None`` if there is none, or a closed one to be replaced."""
        connection = self._kept.take((target.origin, request.guarded))
        if connection is None:
            return None
        try:
            return self._exchange_over(connection, request, target, exchange)
        except _CLOSED:
            if exchange.answer_began or not request.repeatable:
                raise
            return None

    def _answer_anew(self, request: HttpRequest, target: _Target, exchange: Exchange) -> HttpResponse:
        """Return the response over a new connection: if a kept one is closed, the other kept ones may be, too."""
        connection = self._new_connection(target, exchange, guarded=request.guarded)
        return self._exchange_over(connection, request, target, exchange)

    def _exchange_over(
        self, connection: Connection, request: HttpRequest, target: _Target, exchange: Exchange
    ) -> HttpResponse:
        """Send the request over a connection, and keep the connection if the response came whole."""
        whole = exchange.sent = False
        try:
            connection.open(exchange)
            exchange.sent = True
            names = {name.lower() for name in request.headers}
            ours = {name: value for name, value in _OUR_HEADERS.items() if name not in names}
            headers = {**ours, **request.headers}
            answer = connection.send_request(request.method, target.path, body=request.body, headers=headers)
            exchange.answer_began = True
            with closing(answer):
                body = answer.read_body(max_bytes=request.max_bytes)
                whole = answer.leaves_a_clean_end()
            return HttpResponse(status=answer.status, headers=answer.headers, body=body)
        finally:
            # A thread that aborts the exchange must let go of the socket before another request can have it.
            if exchange.let_go() and whole:
                self._kept.give_back((target.origin, request.guarded), connection)
            else:
                connection.close()

    def _new_connection(self, target: _Target, exchange: Exchange, *, guarded: bool) -> Connection:
        tls = self._require_tls_context(exchange) if target.scheme == "https" else None
        return Connection(target.host, target.port, tls=tls, rules=self._rules if guarded else None)

    def _require_tls_context(self, exchange: Exchange) -> ssl.SSLContext:
        # Reading the certificates of all authorities takes milliseconds, so it waits for the first https request, whose
        # own time begins after it.
        began_at = time.monotonic()
        with self._tls_lock:
            if self._tls_context is None:
                # Source: OpenSSL, SSL_CTX_set_default_verify_paths, for the two variables.
                folder = "" if os.environ.keys() & {"SSL_CERT_FILE", "SSL_CERT_DIR"} else self._certificates
                has_own = os.path.isdir(folder)  # noqa: PTH112 - the cold path is without pathlib
                self._tls_context = ssl.create_default_context(capath=folder if has_own else None)
                self._tls_context.sslsocket_class = TimedTls
        exchange.put_off(time.monotonic() - began_at)
        return self._tls_context


def _unobserved(_: HttpRequest) -> AbstractContextManager[list[HttpResponse]]:
    return nullcontext([])


class _Target(NamedTuple):
    """The destination of a URL."""

    scheme: str
    host: str
    port: int
    path: str  # with the query string

    @property
    def origin(self) -> tuple[str, str, int]:
        """The key of kept connections."""
        return self.scheme, self.host, self.port


@lru_cache(maxsize=256)
def _target_of(url: str) -> _Target:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise HttpUnreachable("(no host)", "malformed URL") from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or _NEVER_IN_A_URL.search(url):
        raise HttpUnreachable(host or "(no host)", "malformed URL")
    path = parts.path or "/"
    port = port if port is not None else _PORTS[parts.scheme]
    return _Target(parts.scheme, host, port, f"{path}?{parts.query}" if parts.query else path)


def _error_of(failure: BaseException, host: str, exchange: Exchange) -> HttpError:
    if exchange.aborted or isinstance(failure, TimeoutError):
        return HttpTimeout(host, timeout_s=exchange.timeout_s, sent=exchange.sent)
    if isinstance(failure, ForbiddenAddress):
        return AddressRefused(host, str(failure))
    if isinstance(failure, OtherEncoding):
        return HttpEncoding(host, encoding=str(failure))
    if isinstance(failure, HeadTooLarge):
        return HttpHeadTooLarge(host, f"the answer has {failure}", sent=True)
    reasons = (reason for kinds, reason in _REASONS if isinstance(failure, kinds))
    return HttpUnreachable(host, next(reasons, "the answer is not HTTP"), sent=exchange.sent)
