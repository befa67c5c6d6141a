"""What a call is made in: who calls, the caller's GraphQL, notifications, and the time left."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handler.bundle.model import JSONObject
from handler.errors import ToolError
from handler.json_bounds import MAX_VALUES

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Of log messages, the least first. Source: RFC 5424, section 6.2.1."""

GraphQL = Callable[[str, Mapping[str, Any]], Awaitable[Any] | Any]
Notify = Callable[[JSONObject], Awaitable[None] | None]


def _no_graphql(_query: str, _variables: Mapping[str, Any]) -> Any:
    raise ToolError("This tool asks a GraphQL API, and there is none behind it")


def _no_operation(_name: str, _variables: Mapping[str, Any]) -> Any:
    raise ToolError("This tool runs an operation of its endpoint, and there is none behind it")


def _no_notification(_message: JSONObject) -> None:
    """Nobody listens."""


@dataclass(kw_only=True)
class Context:
    """One call's surroundings. Tools take it as a parameter of this type, whatever its name."""

    request_id: str = ""
    protocol_version: str = ""
    client_info: Mapping[str, Any] = field(default_factory=dict)
    client_capabilities: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of the request, in lower case: what the client says, verified by nobody."""

    auth: Mapping[str, Any] | None = None
    """Verified claims. None: the caller brought no token."""

    scopes: frozenset[str] = frozenset()
    auth_strategy: str = "none"
    """How the credential for the API behind came about: oauth, bearer, api_key, custom, none."""

    provider_token: str | None = None
    """The credential for the API behind the tool. Never the token that the client sent for this endpoint."""

    tokenless: bool = False
    """True: the caller may ask the API, which takes no token, a signature, or the caller's own token."""

    resolved_headers: Mapping[str, str] = field(default_factory=dict)
    """Headers for a request to that API, credential included."""

    state: dict[str, Any] = field(default_factory=dict)
    """Whatever a tool keeps for its later steps; one dictionary for each call."""

    input_responses: Mapping[str, Any] = field(default_factory=dict)
    request_state: Any = None
    """The answers to an ``InputRequired``, by its keys, and its state."""

    progress_token: str | int | None = None
    log_level: str | None = None
    """The least level of log messages that the request asks for. None: it wants none."""

    deadline: float = math.inf
    """When an answer has to be there, on the clock of ``time.monotonic``."""

    max_values: int = MAX_VALUES
    """How many values the arguments may have, counting items of lists and members of objects."""

    ask_graphql: GraphQL = _no_graphql
    ask_operation: GraphQL = _no_operation
    notify: Notify = _no_notification
    running: asyncio.Future[Any] | None = field(default=None, init=False, repr=False)
    """What the call waits for at the moment."""

    cancelled: bool = field(default=False, init=False)
    """Whether nobody waits for the answer any more: for functions that are not async, which nothing interrupts."""

    async def graphql(self, query: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Ask the endpoint's GraphQL API as the caller may, and return the response's ``data``.

        Raises:
            ToolError: the request was refused, or not answered. Uncaught, its sentence is the tool's error. Where the
                API answered with errors, the error's ``errors`` and ``partial`` hold what came.
        """
        return await settled(self.ask_graphql(query, variables or {}))

    async def operation(self, name: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Run one of the endpoint's own operations as the caller may, and return the response's ``data``.

        Raises:
            ToolError: as ``graphql``; or the caller has no such operation, or its variables do not fit.
        """
        return await settled(self.ask_operation(name, variables or {}))

    def require_provider_token(self) -> str:
        """The credential for the API behind the tool.

        Raises:
            ToolError: there is none.
        """
        if self.provider_token is None:
            raise ToolError("Authentication required")
        return self.provider_token

    def cancel(self) -> None:
        """End the call."""
        self.cancelled = True
        if self.running is not None:
            self.running.cancel()

    def remaining_time(self) -> float:
        """Seconds until an answer has to be there; infinite where nothing limits them."""
        return max(0.0, self.deadline - time.monotonic())

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the call has come, if it asked for that."""
        if self.progress_token is None:
            return
        params = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
        given = {name: value for name, value in params.items() if value is not None}
        await settled(self.notify({"method": "notifications/progress", "params": given}))

    async def log(self, level: str, message: Any, *, logger: str | None = None) -> None:
        """Send the client a log message, if it asked for that level.

        Raises:
            ValueError: no such level.
        """
        if level not in LEVELS:
            raise ValueError(f"unknown level {level}: expected one of {', '.join(LEVELS)}")
        if self.log_level is None or LEVELS.index(level) < LEVELS.index(self.log_level):
            return
        params = {"level": level, "data": message} | ({"logger": logger} if logger else {})
        await settled(self.notify({"method": "notifications/message", "params": params}))

    async def debug(self, message: Any) -> None:
        await self.log("debug", message)

    async def info(self, message: Any) -> None:
        await self.log("info", message)

    async def warning(self, message: Any) -> None:
        await self.log("warning", message)

    async def error(self, message: Any) -> None:
        await self.log("error", message)


def assert_provider_token(ctx: Context) -> str:
    """The credential for the API behind the tool.

    Raises:
        ToolError: there is none.
    """
    return ctx.require_provider_token()


async def settled(value: Any) -> Any:
    """The value itself, or what it comes to: functions of authors may be async or not, or hand work to an executor."""
    if isinstance(value, concurrent.futures.Future):
        value = asyncio.wrap_future(value)
    return await value if inspect.isawaitable(value) else value


def is_work(value: Any) -> bool:
    """Whether a value comes to something later."""
    return inspect.isawaitable(value) or isinstance(value, concurrent.futures.Future)
