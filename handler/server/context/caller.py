"""One caller of one endpoint, in the context of a request."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from handler.bundle.tools import Tool
from handler.errors.access import CredentialRequired
from handler.errors.calls import NotFound, ToolNotFound
from handler.http.client import HttpClient
from handler.policy.evaluation import Evaluation
from handler.records import record
from handler.server.asgi.request_log import add_facts
from handler.server.asgi.response_size import LAMBDA, Room
from handler.server.asgi.trace_context import Trace
from handler.server.auth.principal import ANONYMOUS, Principal
from handler.server.context.services import Services
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.schema_views import schema_loading


@record(frozen=True, slots=True, kw_only=True)
class Caller:
    """A caller and the endpoint. ``evaluation`` has the conditions that hold for the caller."""

    endpoint: Endpoint
    principal: Principal
    evaluation: Evaluation
    services: Services
    credential: str = field(default="", repr=False)  # the verified token of the request; empty if there is none
    deadline: float = math.inf  # of the response, on the clock of time.monotonic
    room: Room = LAMBDA  # size limits at the front door of the request
    trace: Trace | None = None  # of the request
    headers: Mapping[str, str] = field(default_factory=dict)  # by lower-case name, without credentials
    request_id: str = ""  # as in the log
    facts: dict[str, Any] = field(default_factory=dict, repr=False)  # of the request's log line

    def note(self, **facts: Any) -> None:
        """Add facts to the request's log line: never a token, an unnamed argument or a body."""
        add_facts(self.facts, **facts)

    @property
    def http(self) -> HttpClient:
        """The HTTP client for requests on behalf of the caller."""
        return self.services.http

    def as_anybody(self) -> Caller:
        """Return this caller as an anonymous caller."""
        return replace(self, principal=ANONYMOUS, evaluation=self.endpoint.everybody, credential="", headers={})

    async def can_use(self, tool: Tool) -> bool:
        """Tell if the caller may use a tool.

        Raises:
            UpstreamError: the schema, which decides that, cannot be loaded.
        """
        if not self.endpoint.needs_schema(tool, self.evaluation):
            return self.endpoint.is_visible(tool, self.evaluation)
        with schema_loading():
            return await asyncio.to_thread(self.endpoint.is_visible, tool, self.evaluation)

    async def find_tool(self, name: str) -> Tool:
        """Return the tool with a name or an alias.

        Raises:
            ToolNotFound: the tool does not exist, or is hidden from the caller; both look alike.
            CredentialRequired: instead of ``ToolNotFound`` if the caller is anonymous and a credential could help.
            UpstreamError: as ``can_use``.
        """
        tool = self.endpoint.tools.get(name)
        if tool is not None and await self.can_use(tool):
            return tool
        raise self.missing(ToolNotFound(name))

    def missing(self, reason: NotFound) -> NotFound | CredentialRequired:
        """Return the error for a missing or hidden thing: an anonymous caller may only need a credential."""
        could_help = self.principal == ANONYMOUS and self.endpoint.bundle.identity.exists
        return CredentialRequired() if could_help else reason
