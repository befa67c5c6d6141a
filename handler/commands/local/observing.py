"""The HTTP exchanges of one request or call, kept for the author who runs the server.

A ``ContextVar`` finds the list of the request that an exchange belongs to, in tasks and threads too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from handler.errors.infrastructure import HttpError
from handler.http.client import HttpClient, HttpRequest, HttpResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenExchange:
    """One request, and its answer or failure."""

    request: HttpRequest
    answer: HttpResponse | None = None
    failure: HttpError | None = None
    duration_ms: float


_EXCHANGES: ContextVar[list[SeenExchange] | None] = ContextVar("exchanges", default=None)


@contextmanager
def observed() -> Iterator[list[SeenExchange]]:
    """Yield the list of the exchanges inside, in the order of their ends."""
    exchanges: list[SeenExchange] = []
    token = _EXCHANGES.set(exchanges)
    try:
        yield exchanges
    finally:
        _EXCHANGES.reset(token)


class ObservedHttp(HttpClient):
    """A client whose exchanges ``observed`` sees."""

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Send one request, as ``HttpClient.send_async``."""
        started = time.perf_counter()
        try:
            answer = await super().send_async(request)
        except HttpError as exc:
            _note(request, started, failure=exc)
            raise
        _note(request, started, answer=answer)
        return answer


def _note(
    request: HttpRequest, started: float, *, answer: HttpResponse | None = None, failure: HttpError | None = None
) -> None:
    exchanges = _EXCHANGES.get()
    if exchanges is not None:
        duration_ms = round((time.perf_counter() - started) * 1e3, 2)
        exchanges.append(SeenExchange(request=request, answer=answer, failure=failure, duration_ms=duration_ms))
