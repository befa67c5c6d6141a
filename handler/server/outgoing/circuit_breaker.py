"""Circuit breakers: if an API does not answer, calls fail at once for a while, not one deadline after another.

Circuits are per endpoint and origin: authors choose their endpoint's timeout, which must not open the circuit of
another endpoint. The request may cause a slow or broken answer, which therefore counts for its caller alone. A failed
connection is not a caller's fault, and counts for all callers of the endpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from handler.errors.infrastructure import AddressRefused, HttpEncoding, HttpTimeout, HttpTooLarge, HttpUnreachable
from handler.errors.upstream import CircuitOpen
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.lru import Lru

MAX_FAILURES = 5
"""Requests in a row without an answer, after which a pause begins."""

PAUSE_S = 10.0
MAX_ORIGINS = 256
MAX_CALLERS = 256
"""The most callers without an answer that are remembered, over all origins."""


class Circuits:
    """The circuits of the origins that this container asked. Any answer resets them, an error too."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._origins: Lru[Hashable, _Circuit] = Lru(most=MAX_ORIGINS)
        self._callers: Lru[Hashable, _Circuit] = Lru(most=MAX_CALLERS)

    async def send(
        self, http: HttpClient, request: HttpRequest, *, endpoint: str, asked: Hashable = None
    ) -> HttpResponse:
        """Send a request of an endpoint, once, and count its failure.

        After a pause, one request at a time tests if the origin answers again. ``asked`` identifies the caller:
        failures that the caller's requests may cause count for no other caller.

        Raises:
            CircuitOpen: the circuit of the origin, or of this caller at the origin, is open; nothing was sent.
            HttpError: as ``HttpClient.send``.
        """
        parts = urlsplit(request.url)
        origin = endpoint, f"{parts.scheme}://{parts.netloc.lower()}"
        connecting = self._origins.use_or_make(origin, _Circuit)
        answering = self._callers.use_or_make((origin, asked), _Circuit)
        with connecting.attempt(self._clock) as not_connected, answering.attempt(self._clock) as not_answered:
            try:
                answer = await http.send_async(request)
            except AddressRefused:  # nothing was sent
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
        """Close both circuits, after an answer."""
        self._origins.drop(origin)
        self._callers.drop((origin, asked))


class _Circuit:
    def __init__(self) -> None:
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @contextmanager
    def attempt(self, clock: Callable[[], float]) -> Iterator[Callable[[], None]]:
        """Guard one request, and yield the function to call if there was no answer.

        Raises:
            CircuitOpen: the pause lasts, or another request tests if it can end.
        """
        now, probe = clock(), self._opened_at is not None
        if self._opened_at is not None:
            # A clock that was set back ends the pause.
            if self._probing or 0 <= now - self._opened_at < PAUSE_S:
                raise CircuitOpen(pause_s=PAUSE_S)
            self._probing = True

        def fail() -> None:
            self._failures += 1
            if probe or (self._opened_at is None and self._failures >= MAX_FAILURES):
                self._opened_at = clock()

        try:
            yield fail
        finally:
            if probe:
                self._probing = False
