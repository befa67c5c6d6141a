from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any

from handler.bundle.model import JSONObject
from handler.records import record
from handler.server.auth.principal import ANONYMOUS
from handler.server.context.caller import Caller
from handler.server.mcp.jsonrpc import Request
from handler.server.mcp.revisions import CLIENT_CAPABILITIES, is_modern

MAX_NOTIFICATIONS = 1_000


@record(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of one caller."""

    request: Request
    caller: Caller
    notifications: deque[JSONObject] = field(default_factory=lambda: deque(maxlen=MAX_NOTIFICATIONS))
    """What goes before the answer: progress and messages. The last ones are kept: of progress, they say most."""

    @property
    def note(self) -> Callable[..., None]:
        """Adds facts to the request's line in the log."""
        return self.caller.note

    @property
    def deadline(self) -> float:
        """When an answer has to be there, on the clock of ``time.monotonic``."""
        return self.caller.deadline

    @property
    def anonymous(self) -> bool:
        """Whether no credential came with it."""
        return self.caller.principal == ANONYMOUS

    @property
    def arguments(self) -> Any:
        """The arguments of a call, which may be of any type; an empty object if they are absent or ``null``."""
        arguments = self.request.params.get("arguments")
        return {} if arguments is None else arguments

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the client says beside the parameters."""
        return _object(self.request.params.get("_meta"))

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """What the client can do. Clients of the legacy era said it in a handshake, of which nothing is kept."""
        return _object(self.meta.get(CLIENT_CAPABILITIES)) if is_modern(self.request.revision) else {}


Method = Callable[[Call], Awaitable[dict[str, Any]]]
"""A method of MCP: it answers a call with its result."""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
