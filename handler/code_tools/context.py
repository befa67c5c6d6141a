"""The context of a call: the caller, the caller's GraphQL, notifications, and the time left."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from handler.errors.calls import ToolError
from handler.json_schema.json_bounds import MAX_RESULT_BYTES, MAX_VALUES
from handler.strict_json import JSONObject, parse_json, to_well_formed_json

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of log messages, the least severe first. Source: RFC 5424, section 6.2.1."""

GraphQL = Callable[[str, Mapping[str, Any]], Awaitable[Any] | Any]
Notify = Callable[[JSONObject], Awaitable[None] | None]


def _no_graphql(_query: str, _variables: Mapping[str, Any]) -> Any:
    raise ToolError("This tool asks a GraphQL API, and there is none behind it")


def _no_operation(_name: str, _variables: Mapping[str, Any]) -> Any:
    raise ToolError("This tool runs an operation of its endpoint, and there is none behind it")


MAX_CUTS = 5
"""Cuts of one value, each with more room for the note."""


class FittedValue(NamedTuple):
    """A value within its limit, with its note.

    The note is empty if nothing was cut. Otherwise its member ``truncated`` has each place that was cut: the path in
    the value, and how many items or characters were kept and dropped.
    """

    value: Any
    note: JSONObject


REPLACED = {
    "elicit": "return InputRequired with an Elicit",
    **dict.fromkeys(("sample", "list_roots"), "return InputRequired with the request"),
    **dict.fromkeys(("get_state", "set_state"), "use ctx.state"),
    **dict.fromkeys(("get_access_token", "client_id"), "use ctx.auth"),
    **dict.fromkeys(("get_http_request", "get_http_headers", "request_context"), "use ctx.headers"),
}
"""Member of FastMCP's context -> what stands in its place."""


def lacking(name: str) -> str:
    """Return the sentence on a member that ``Context`` does not have."""
    remedy = f": {REPLACED[name]}, as docs/from-fastmcp.md shows" if name in REPLACED else ""
    return f"Context has no {name}{remedy}"


@dataclass(kw_only=True)
class Context:
    """The context of one call. A tool takes it as a parameter of this type, whatever the parameter's name."""

    request_id: str = ""
    protocol_version: str = ""
    client_info: Mapping[str, Any] = field(default_factory=dict)
    client_capabilities: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """The request's headers, with names in lower case. The client's values are not verified."""

    auth: Mapping[str, Any] | None = None
    """The verified claims; ``None`` if the caller sent no token."""

    scopes: frozenset[str] = frozenset()
    auth_strategy: str = "none"
    """The origin of the upstream credential: oauth, bearer, api_key, custom, none."""

    provider_token: str | None = None
    """The upstream credential. Never the token that the client sent for this endpoint."""

    tokenless: bool = False
    """True if the caller may ask the upstream, and it takes no token, a signature, or the caller's own token."""

    resolved_headers: Mapping[str, str] = field(default_factory=dict)
    """The headers for a request to the upstream, credential included."""

    state: dict[str, Any] = field(default_factory=dict)
    """Values that a tool keeps for its later steps; one dictionary for each call."""

    input_responses: Mapping[str, Any] = field(default_factory=dict)
    request_state: Any = None
    """The state of an ``InputRequired``; ``input_responses`` has the answers, by the keys of its requests."""

    progress_token: str | int | None = None
    log_level: str | None = None
    """The least level of log messages that the request asks for; ``None`` if it asks for no messages."""

    deadline: float = math.inf
    """The time at which the answer is due, on the clock of ``time.monotonic``."""

    max_values: int = MAX_VALUES
    """The number of values that the arguments may have, counting items of lists and members of objects."""

    max_result_bytes: int = MAX_RESULT_BYTES
    """The size of a value that ``fit`` returns, as JSON; 0 is no limit."""

    ask_graphql: GraphQL = _no_graphql
    ask_operation: GraphQL = _no_operation
    notify: Notify = lambda _: None
    running: asyncio.Future[Any] | None = field(default=None, init=False, repr=False)
    """The work that the call waits for at the moment."""

    cancelled: bool = field(default=False, init=False)
    """True if the answer is no longer needed: for functions that are not async, which cannot be interrupted."""

    if not TYPE_CHECKING:  # a visible __getattr__ would let any name pass a type checker

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(lacking(name), name=name, obj=self)

    async def graphql(self, query: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Ask the endpoint's GraphQL API with the caller's rights, and return the response's ``data``.

        Raises:
            ToolError: the request was refused, or not answered. Uncaught, its sentence is the tool's error. If the API
                answered with errors, ``errors`` and ``partial`` of the ``GraphQLErrors`` hold the response.
        """
        return await settled(self.ask_graphql(query, variables or {}))

    async def operation(self, name: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Run one of the endpoint's own operations with the caller's rights, and return the response's ``data``.

        Raises:
            ToolError: as ``graphql``; or the caller has no such operation, or the variables do not fit.
        """
        return await settled(self.ask_operation(name, variables or {}))

    def fit(self, value: Any, *, max_bytes: int | None = None) -> FittedValue:
        """Cut a JSON value to ``max_result_bytes``, or to ``max_bytes``: the rows of lists first, then long texts.

        Return the value and its note, which have that size together: ``value, note = ctx.fit(value)``. The note is
        empty if the value fits. Otherwise ``note["truncated"]`` has each place that was cut.

        Raises:
            ToolError: the value cannot be cut to that size.
            TypeError, ValueError, RecursionError: the value is not JSON, or ``max_bytes`` is negative.
        """
        from handler.answers.fit import cut_value  # most tools do not need it
        from handler.answers.plan import ANYTHING, CHARACTERS

        room = most = self.max_result_bytes if max_bytes is None else max_bytes  # 0 is no limit
        if most < 0:
            raise ValueError(f"max_bytes: expected 0 or more, got {most}")
        text = to_well_formed_json(value)
        if not most or len(text) <= most:
            return FittedValue(value, {})
        value = parse_json(text)  # tuples and other classes that JSON writes as lists, objects and texts
        for _ in range(MAX_CUTS):
            cut = cut_value(value, ANYTHING, max_bytes=room)
            if cut is None:
                break
            note: JSONObject = {"truncated": []}
            for place in cut[1]:
                counts = {"path": list(place.path[1:]), "kept": place.kept, "dropped": place.dropped}
                note["truncated"].append({**counts, "of": CHARACTERS} if place.of == CHARACTERS else counts)
            size = len(to_well_formed_json(cut[0]))
            excess = size + len(to_well_formed_json(note)) - most
            if excess <= 0:
                return FittedValue(cut[0], note)
            room = size - excess
        raise ToolError(
            f"The result has {len(text):,} bytes, and a result of this tool may have {most:,}. It cannot be shortened "
            "to that. Ask for less."
        )

    def require_provider_token(self) -> str:
        """Return the upstream credential.

        Raises:
            ToolError: the call has no credential.
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
        """Return the seconds until the deadline; infinity if the call has no deadline."""
        return max(0.0, self.deadline - time.monotonic())

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the call's progress to the client, if the request asked for progress."""
        if self.progress_token is None:
            return
        params = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
        params = {name: value for name, value in params.items() if value is not None}
        await settled(self.notify({"method": "notifications/progress", "params": params}))

    async def log(self, level: str, message: Any, *, logger: str | None = None) -> None:
        """Send the client a log message, if the request asked for that level.

        Raises:
            ValueError: unknown level.
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
    """Return the upstream credential.

    Raises:
        ToolError: the call has no credential.
    """
    return ctx.require_provider_token()


async def settled(value: Any) -> Any:
    """Return the value, awaited if it is work: authors' functions may be async or not, or hand work to an executor."""
    if isinstance(value, concurrent.futures.Future):
        value = asyncio.wrap_future(value)
    return await value if inspect.isawaitable(value) else value


def is_work(value: Any) -> bool:
    """Return whether a value can be awaited, or is a future of an executor."""
    return inspect.isawaitable(value) or isinstance(value, concurrent.futures.Future)
