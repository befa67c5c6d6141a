"""APIs that do not answer are left alone for a while: calls fail at once instead of one deadline after another.

Each endpoint has its own patience, which its author chose, so that none can have an origin left alone for another. An
answer that is slow, or breaks off, may be the doing of the request, so it counts for the caller who sent that alone. A
connection that cannot be made is nobody's doing, and counts for all callers of the endpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from handler.errors import AddressRefused, CircuitOpen, HttpEncoding, HttpTimeout, HttpTooLarge, HttpUnreachable
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.lru import Lru

MAX_FAILURES = 5
"""Requests in a row without an answer, before there is a pause."""

PAUSE_S = 10.0
MAX_ORIGINS = 256
MAX_CALLERS = 256
"""How many callers without an answer are known, of all origins."""


class Circuits:
    """What this container knows of the origins that it asked. Whatever is an answer, an error too, counts as one."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._origins: Lru[Hashable, _Circuit] = Lru(most=MAX_ORIGINS)
        self._callers: Lru[Hashable, _Circuit] = Lru(most=MAX_CALLERS)

    async def send(
        self, http: HttpClient, request: HttpRequest, *, endpoint: str, asked: Hashable = None
    ) -> HttpResponse:
        """Send a request of an endpoint, once, or refuse to.

        After a pause one at a time tries whether there are answers again. ``asked`` stands for who asks: what their
        own requests may be the cause of counts for nobody else.

        Raises:
            CircuitOpen: the origin is left alone, or only by this caller; nothing was sent.
            HttpError: as ``HttpClient.send``.
        """
        origin = _origin_of(endpoint, request.url)
        connecting = self._origins.use_or_make(origin, _Circuit)
        answering = self._callers.use_or_make((origin, asked), _Circuit)
        with connecting.attempt(self._clock) as not_connected, answering.attempt(self._clock) as not_answered:
            try:
                answer = await http.send_async(request)
            except AddressRefused:  # nobody was asked
                raise
            except (HttpEncoding, HttpTooLarge):
                self._forget(origin, asked)
                raise
            except (HttpTimeout, HttpUnreachable) as exc:
                (not_answered if exc.sent else not_connected)()
                raise
        self._forget(origin, asked)
        return answer

    def _forget(self, origin: Hashable, asked: Hashable) -> None:
        """There was an answer."""
        self._origins.drop(origin)
        self._callers.drop((origin, asked))


def _origin_of(endpoint: str, url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return endpoint, f"{parts.scheme}://{parts.netloc.lower()}"


class _Circuit:
    def __init__(self) -> None:
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @contextmanager
    def attempt(self, clock: Callable[[], float]) -> Iterator[Callable[[], None]]:
        """Send a request in here, and call what this gives if there was no answer.

        Raises:
            CircuitOpen: there is a pause, or another request tries whether it can end.
        """
        probe = self._enter(clock())
        try:
            yield lambda: self._fail(clock(), probe=probe)
        finally:
            if probe:
                self._probing = False

    def _enter(self, now: float) -> bool:
        """Whether the request that begins now is the one that tries."""
        if self._opened_at is None:
            return False
        if self._probing or 0 <= now - self._opened_at < PAUSE_S:  # a clock that was set back ends the pause
            raise CircuitOpen(pause_s=PAUSE_S)
        self._probing = True
        return True

    def _fail(self, now: float, *, probe: bool) -> None:
        self._failures += 1
        if probe or (self._opened_at is None and self._failures >= MAX_FAILURES):
            self._opened_at = now
