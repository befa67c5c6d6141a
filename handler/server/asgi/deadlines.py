"""When an answer has to be there, so that callers get one of ours, and none from a gateway that gave up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from handler.bundle.model import MAX_ANSWER_S
from handler.errors import DeadlinePassed

MARGIN_S = 1.0
"""What is kept of the function's time to answer in; of less than 4 s, a quarter."""

_DEADLINE = "stile.deadline"


class Deadlines:
    """Notes until when a request is worth working for, by the clock of ``time.monotonic``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, _DEADLINE: time.monotonic() + _allowed_s(scope)}, receive, send)


def deadline_of(scope: Scope) -> float:
    """When the answer to a request has to be there."""
    return float(scope[_DEADLINE])


@asynccontextmanager
async def before(deadline: float) -> AsyncIterator[None]:
    """End what is done in here at the deadline, which is of the clock of ``time.monotonic``, as the event loop's is.

    A thread that it waits for goes on; whoever sends a request from there has to mind the deadline too.

    Raises:
        DeadlinePassed: it was not done in time.
    """
    try:
        async with asyncio.timeout_at(deadline) as limit:
            yield
    except TimeoutError as exc:
        if not limit.expired():
            raise
        raise DeadlinePassed from exc


def _allowed_s(scope: Scope) -> float:
    """Source: the AWS Lambda guide, "Using the Lambda context object to retrieve Python function information"."""
    remaining_ms = getattr(scope.get("aws.context"), "get_remaining_time_in_millis", None)
    if remaining_ms is None:
        return MAX_ANSWER_S
    remaining_s = remaining_ms() / 1e3
    return float(min(MAX_ANSWER_S, remaining_s - min(MARGIN_S, remaining_s / 4)))
