"""One MCP request of one caller, as the methods get it."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any

from handler.records import record
from handler.server.auth.principal import ANONYMOUS
from handler.server.context.caller import Caller
from handler.server.mcp.messages.jsonrpc import Request
from handler.server.mcp.messages.revisions import CLIENT_CAPABILITIES, is_modern
from handler.strict_json import JSONObject

MAX_NOTIFICATIONS = 1_000


@record(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of one caller."""

    request: Request
    caller: Caller
    notifications: deque[JSONObject] = field(default_factory=lambda: deque(maxlen=MAX_NOTIFICATIONS))
    """Progress and log messages to send before the answer. Only the last are kept: late progress says most."""

    @property
    def note(self) -> Callable[..., None]:
        """The function that adds facts to the request's line in the log."""
        return self.caller.note

    @property
    def deadline(self) -> float:
        """The time by which to answer, on the clock of ``time.monotonic``."""
        return self.caller.deadline

    @property
    def anonymous(self) -> bool:
        """True if the request came without a credential."""
        return self.caller.principal == ANONYMOUS

    @property
    def arguments(self) -> Any:
        """The arguments of a call, of any type; an empty object if they are absent or ``null``."""
        arguments = self.request.params.get("arguments")
        return {} if arguments is None else arguments

    @property
    def meta(self) -> Mapping[str, Any]:
        """The member ``_meta`` of the parameters; empty if it is absent or not an object."""
        return _object(self.request.params.get("_meta"))

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """The client's capabilities; empty in the legacy era, in which the handshake has them and is not kept."""
        return _object(self.meta.get(CLIENT_CAPABILITIES)) if is_modern(self.request.revision) else {}


Method = Callable[[Call], Awaitable[dict[str, Any]]]
"""A method of MCP, which returns the result of a call."""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
