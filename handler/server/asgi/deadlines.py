"""Deadlines of requests, so that callers get a response of Stile and not a gateway's timeout."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from handler.bundle.model import MAX_ANSWER_S
from handler.errors.calls import DeadlinePassed

MARGIN_S = 1.0
"""Part of the function's remaining time that is reserved for the response; a quarter if less than 4 s remain."""

_DEADLINE = "stile.deadline"


class Deadlines:
    """Middleware that notes the deadline of each request, on the clock of ``time.monotonic``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Source: the AWS Lambda guide, "Using the Lambda context object to retrieve Python function information".
        remaining_ms = getattr(scope.get("aws.context"), "get_remaining_time_in_millis", None)
        allowed_s = MAX_ANSWER_S
        if remaining_ms is not None:
            remaining_s = remaining_ms() / 1e3
            allowed_s = min(MAX_ANSWER_S, remaining_s - min(MARGIN_S, remaining_s / 4))
        await self._app({**scope, _DEADLINE: time.monotonic() + allowed_s}, receive, send)


def deadline_of(scope: Scope) -> float:
    """Return the deadline of a request, on the clock of ``time.monotonic``."""
    return float(scope[_DEADLINE])


@asynccontextmanager
async def before(deadline: float) -> AsyncIterator[None]:
    """Cancel the body at the deadline, on the clock of ``time.monotonic``, which is the event loop's.

    A thread that the body waits for goes on, so requests from a thread need a timeout of their own.

    Raises:
        DeadlinePassed: the body did not end in time.
    """
    try:
        async with asyncio.timeout_at(deadline) as limit:
            yield
    except TimeoutError as exc:
        if not limit.expired():
            raise
        raise DeadlinePassed from exc
