from __future__ import annotations

import asyncio
import contextlib
import http.client
import logging
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

import urllib3
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, Retry
from urllib3.exceptions import DecodeError, HTTPError, LocationValueError

from handler.addresses import STRICT, AddressRules
from handler.connections import UNDER_WAY, Exchange, ForbiddenAddress, Pool, TlsPool, TlsSocket
from handler.errors import AddressRefused, HttpError, HttpTimeout, HttpTooLarge, HttpUnreachable

# Below this level urllib3 logs paths and query strings, which are nobody's business but the two ends'.
logging.getLogger("urllib3").setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request. ``url`` is absolute and percent-encoded; its path goes out as it stands, dots included."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout_s: float  # of the whole exchange, from resolving the name to the last byte
    max_bytes: int  # of the answer's body, decoded
    repeatable: bool = False  # may go out once more if a kept connection closed before the answer began
    guarded: bool = True  # the rules of addresses hold; False: the address is the platform's, and no author's


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """One answer, whatever its status: a redirect is an answer like any other."""

    status: int
    headers: Mapping[str, str]  # names in lower case; the values of a repeated one joined by ", "
    body: bytes = field(repr=False)


class HttpClient:
    """Sends requests over kept connections. One client serves many threads and event loops.

    Redirects, the environment's proxies and urllib3's retries play no part. A connection idle for longer
    than ``max_idle_s`` is not used again: its other end may have closed it while Lambda was frozen.
    Guarded requests go only where ``rules`` let them, over connections that no other request has made.
    """

    def __init__(self, rules: AddressRules = STRICT, *, max_idle_s: float = 30.0) -> None:
        self._rules = rules
        self._max_idle_s = max_idle_s
        self._pools = {guarded: _new_pools() for guarded in (True, False)}
        self._tls_lock = threading.Lock()
        self._tls_context: ssl.SSLContext | None = None

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send one request and return the whole answer.

        Raises:
            HttpTimeout: no complete answer within ``timeout_s``.
            AddressRefused: the rules do not let the request go there.
            HttpUnreachable: no connection, a broken one, or an answer that cannot be read.
            HttpTooLarge: a body of more than ``max_bytes``.

        """
        exchange = self._exchange(request)
        watchdog = threading.Timer(request.timeout_s, exchange.abort)
        watchdog.daemon = True
        watchdog.start()
        try:
            return self._send(request, exchange)
        finally:
            watchdog.cancel()

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """``send`` in a thread. Cancelling the task gives the exchange up."""
        exchange = self._exchange(request)
        watchdog = asyncio.get_running_loop().call_later(request.timeout_s, exchange.abort)
        try:
            return await asyncio.to_thread(self._send, request, exchange)
        except asyncio.CancelledError:
            exchange.abort()
            raise
        finally:
            watchdog.cancel()

    def close(self) -> None:
        """Drop the kept connections, as after a restored snapshot. The client stays usable."""
        for pools in self._pools.values():
            pools.clear()

    def _exchange(self, request: HttpRequest) -> Exchange:
        rules = self._rules if request.guarded else None
        return Exchange(timeout_s=request.timeout_s, max_idle_s=self._max_idle_s, rules=rules)

    def _send(self, request: HttpRequest, exchange: Exchange) -> HttpResponse:
        target = _Target.of(request.url)
        fault = self._rules.url_fault(target.scheme, target.host) if request.guarded else ""
        if fault:
            raise AddressRefused(target.host, fault)
        under_way = UNDER_WAY.set(exchange)
        try:
            with contextlib.closing(self._open(request, target, exchange)) as response:
                body = _read_body(response, target.host, max_bytes=request.max_bytes)
            # Where the length is unknown, the end of the body may be our own shutdown. And on a busy machine the
            # watchdog may come late: the deadline holds all the same.
            if exchange.aborted or time.monotonic() > exchange.deadline:
                raise TimeoutError
            headers = {name.lower(): value for name, value in response.headers.itermerged()}
            return HttpResponse(status=response.status, headers=headers, body=body)
        except _FAILURES as exc:
            raise _error_of(exc, target.host, exchange) from exc
        except ValueError:
            # A method or header that cannot be sent. The text quotes it and a log would show it: so no cause.
            raise HttpUnreachable(target.host, "the request cannot be sent") from None
        finally:
            UNDER_WAY.reset(under_way)

    def _open(self, request: HttpRequest, target: _Target, exchange: Exchange) -> BaseHTTPResponse:
        try:
            return self._urlopen(request, target)
        except HTTPError as exc:
            closed = any(isinstance(cause, _CLOSED) for cause in _chain(exc))
            if not (closed and exchange.on_kept_connection and request.repeatable):
                raise
        exchange.only_new_connection = True  # the other kept ones may be as dead
        return self._urlopen(request, target)

    def _urlopen(self, request: HttpRequest, target: _Target) -> BaseHTTPResponse:
        return self._pool_of(target, guarded=request.guarded).urlopen(
            request.method,
            target.path,
            body=request.body,
            headers=_headers_of(request),
            retries=_NO_RETRIES,
            timeout=request.timeout_s,
            redirect=False,
            assert_same_host=False,
            preload_content=False,
            decode_content=False,
        )

    def _pool_of(self, target: _Target, *, guarded: bool) -> HTTPConnectionPool:
        tls = {"ssl_context": self._require_tls_context()} if target.scheme == "https" else None
        pools = self._pools[guarded]
        return pools.connection_from_host(target.host, target.port, target.scheme, pool_kwargs=tls)

    def _require_tls_context(self) -> ssl.SSLContext:
        # Reading the certificate authorities takes milliseconds, so it waits for the first https address.
        with self._tls_lock:
            if self._tls_context is None:
                self._tls_context = ssl.create_default_context()
                self._tls_context.sslsocket_class = TlsSocket
            return self._tls_context


def _new_pools() -> urllib3.PoolManager:
    pools = urllib3.PoolManager(num_pools=32, maxsize=16)
    pools.pool_classes_by_scheme = {"http": Pool, "https": TlsPool}
    return pools


class _Target(NamedTuple):
    """Where a URL points."""

    scheme: str
    host: str
    port: int | None
    path: str  # with the query string

    @classmethod
    def of(cls, url: str) -> _Target:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise HttpUnreachable("(no host)", "malformed URL") from None
        if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or _NEVER_IN_A_URL.search(url):
            raise HttpUnreachable(host or "(no host)", "malformed URL")
        path = parts.path or "/"
        return cls(parts.scheme, host, port, f"{path}?{parts.query}" if parts.query else path)


def _headers_of(request: HttpRequest) -> dict[str, str]:
    given = {name.lower() for name in request.headers}
    ours = {name: value for name, value in _OUR_HEADERS.items() if name not in given}
    return {**ours, **request.headers}


def _read_body(response: BaseHTTPResponse, host: str, *, max_bytes: int) -> bytes:
    """The decoded body. Reads no further than the cap and one piece."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    pieces = _pieces_of(response)
    if encoding in ("gzip", "x-gzip"):
        pieces = _inflated(pieces)
    elif encoding != "identity":
        raise DecodeError(encoding)
    elif (response.length_remaining or 0) > max_bytes:
        raise HttpTooLarge(host, max_bytes=max_bytes)
    kept: list[bytes] = []
    room = max_bytes
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            raise HttpTooLarge(host, max_bytes=max_bytes)
        kept.append(piece)
    return b"".join(kept)


def _pieces_of(response: BaseHTTPResponse) -> Iterator[bytes]:
    # Never read(): a chunk that claims a size of -1 makes it read without end, past any cap.
    while piece := response.read1(_PIECE_BYTES, decode_content=False):
        yield piece
        if response.length_remaining == 0:
            return


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Gunzip piece by piece. Not by urllib3, which takes a gzip stream that stops early for whole."""
    decoder = None
    for compressed in pieces:
        left = compressed
        while True:
            if decoder is None or (decoder.eof and left):  # members may follow one another
                decoder = zlib.decompressobj(_GZIP)
            inflated = decoder.decompress(left, _PIECE_BYTES)
            yield inflated
            left = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
            if not left and len(inflated) < _PIECE_BYTES:
                break
    if decoder is not None and not decoder.eof:
        raise zlib.error("the stream stops early")


def _error_of(failure: BaseException, host: str, exchange: Exchange) -> HttpError:
    causes = list(_chain(failure))
    for cause in causes:
        if isinstance(cause, ForbiddenAddress):
            return AddressRefused(host, str(cause))
    if exchange.aborted or any(isinstance(cause, TimeoutError) for cause in causes):
        return HttpTimeout(host, timeout_s=exchange.timeout_s)
    reasons = (reason for kinds, reason in _REASONS if any(isinstance(cause, kinds) for cause in causes))
    return HttpUnreachable(host, next(reasons, "the answer is not HTTP"))


def _chain(failure: BaseException | None) -> Iterator[BaseException]:
    """A failure and those it wraps: urllib3 keeps them as causes or as arguments."""
    while failure is not None:
        yield failure
        wrapped = (argument for argument in failure.args if isinstance(argument, BaseException))
        failure = failure.__cause__ or next(wrapped, None)


_NO_RETRIES = Retry(total=False)
_OUR_HEADERS = {"accept-encoding": "gzip", "user-agent": "stile"}
_NEVER_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")
_PIECE_BYTES = 65_536
_GZIP = 16 + zlib.MAX_WBITS
_FAILURES = (HTTPError, http.client.HTTPException, OSError, zlib.error)
_CLOSED = (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
_REASONS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (LocationValueError, "malformed URL"),
    (socket.gaierror, "name not resolved"),
    (ConnectionRefusedError, "connection refused"),
    (ssl.SSLCertVerificationError, "TLS verification failed"),
    (zlib.error, "the body is not the gzip it claims to be"),
    (DecodeError, "the body has an encoding that was not asked for"),
    ((*_CLOSED, http.client.IncompleteRead), "connection closed before the answer was complete"),
    (ssl.SSLError, "TLS failed"),
    (OSError, "no connection"),
)
