from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace

from handler.bundle.model import Tool
from handler.errors import CredentialRequired, NotFound, ToolNotFound
from handler.http.client import HttpClient
from handler.policy.evaluation import Evaluation
from handler.records import record
from handler.server.asgi.response_size import LAMBDA, Room
from handler.server.asgi.trace_context import Trace
from handler.server.auth.principal import ANONYMOUS, Principal
from handler.server.context.services import Services
from handler.server.endpoints.endpoint import Endpoint, schema_loading


@record(frozen=True, slots=True, kw_only=True)
class Caller:
    """One endpoint as one caller has it: the judgement says which conditions hold for them."""

    endpoint: Endpoint
    principal: Principal
    judgement: Evaluation
    services: Services
    credential: str = field(default="", repr=False)  # the token that the request came with, if it was verified
    deadline: float = math.inf  # when they have to be answered, on the clock of time.monotonic
    room: Room = LAMBDA  # for their answer, at the front door that they came through
    trace: Trace | None = None  # that the request belongs to
    headers: Mapping[str, str] = field(default_factory=dict)  # of the request, by lower-case names; no credentials
    request_id: str = ""  # as the log has it
    note: Callable[..., None] = lambda **_: None  # adds facts to the request's line in the log

    @property
    def http(self) -> HttpClient:
        """What sends requests for them."""
        return self.services.http

    def as_anybody(self) -> Caller:
        """Who brings no credential, in their place."""
        return replace(self, principal=ANONYMOUS, judgement=self.endpoint.everybody, credential="", headers={})

    async def can_use(self, tool: Tool) -> bool:
        """Tell whether they may use a tool.

        Raises:
            UpstreamError: the schema that decides it cannot be loaded.
        """
        if not self.endpoint.needs_schema(tool, self.judgement):
            return self.endpoint.is_visible(tool, self.judgement)
        with schema_loading():
            return await asyncio.to_thread(self.endpoint.is_visible, tool, self.judgement)

    async def find_tool(self, name: str) -> Tool:
        """Return the tool of a name or an alias.

        Raises:
            ToolNotFound: there is none for this caller, which is the same whether or not it exists.
            CredentialRequired: instead of that to an anonymous caller, where there are credentials that could help.
            UpstreamError: as ``can_use``.
        """
        tool = self.endpoint.tools.get(name)
        if tool is not None and await self.can_use(tool):
            return tool
        raise self.missing(ToolNotFound(name))

    def missing(self, reason: NotFound) -> NotFound | CredentialRequired:
        """What to raise where something is not there for them: who has no credential may need only one."""
        could_help = self.principal == ANONYMOUS and self.endpoint.bundle.identity.exists
        return CredentialRequired() if could_help else reason
