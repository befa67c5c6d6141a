"""One MCP request of one caller, as the methods get it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from handler.bundle.tools import Tool
from handler.cold.records import record
from handler.errors import StileError
from handler.errors.calls import CallError, DeadlinePassed, GraphQLErrors, NotInCatalog, ToolError
from handler.errors.upstream import UpstreamError
from handler.server.context import Caller
from handler.server.mcp.jsonrpc import Request
from handler.server.mcp.revisions import CLIENT_CAPABILITIES, is_modern
from handler.strict_json import JSONObject

MAX_NOTIFICATIONS = 1_000


@record(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of one caller."""

    request: Request
    caller: Caller
    notifications: deque[JSONObject] = field(default_factory=lambda: deque(maxlen=MAX_NOTIFICATIONS))
    """Progress and log messages to send before the answer. Only the last are kept: late progress says most."""
    failures: list[Exception] = field(default_factory=list)
    """The failures of a tool so far. The last is the reason of a result with ``isError``."""

    @property
    def note(self) -> Callable[..., None]:
        """The function that adds facts to the request's line in the log."""
        return self.caller.note

    def fail(self, failure: Exception) -> None:
        """Keep a failure of the called tool, and note its decision and reason.

        A request that reached the API or an author's code was allowed, even if it failed.
        """
        self.failures.append(failure)
        cause = _cause_of(failure)
        reason = cause.log_reason if isinstance(cause, CallError) else type(cause).__name__
        match failure:
            case GraphQLErrors():  # the reason is noted where the errors are read
                self.note(decision="allowed")
            case NotInCatalog():
                self.note(decision="denied", reason=reason)
            case CallError() if not isinstance(failure, UpstreamError | DeadlinePassed | ToolError):
                self.note(decision="refused", reason=reason)
            case _:
                self.note(decision="allowed", reason=reason)

    @property
    def failure_code(self) -> str:
        """The stable code of the last failure; empty string if nothing failed."""
        if not self.failures:
            return ""
        cause = _cause_of(self.failures[-1])
        return cause.stile_code if isinstance(cause, StileError) else StileError.stile_code

    def read(self, tool: Tool, arguments: JSONObject) -> JSONObject:
        """Return the arguments of a tool as its function needs them.

        Raises:
            InvalidArguments: the arguments do not fit the tool's schema.
        """
        return self.caller.endpoint.validator(tool, self.caller.evaluation).read(arguments)

    @property
    def meta(self) -> Mapping[str, Any]:
        """The member ``_meta`` of the parameters; empty if it is absent or not an object."""
        return _object(self.request.params.get("_meta"))

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """The client's capabilities; empty in the legacy era, in which the handshake has them and is not kept."""
        return _object(self.meta.get(CLIENT_CAPABILITIES)) if is_modern(self.request.revision) else {}


def _cause_of(failure: Exception) -> BaseException:
    """Return the failure of the API behind the failure of a tool in Python; ``failure`` itself if there is none."""
    cause = failure.__cause__
    return cause if isinstance(cause, UpstreamError) and not isinstance(failure, UpstreamError) else failure


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
