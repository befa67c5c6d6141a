"""The services that requests share, and one caller of one endpoint in the context of a request."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from starlette.routing import Route

from handler.bundle.model import Bundle
from handler.bundle.tools import Tool
from handler.cold.records import record
from handler.errors.access import CredentialRequired
from handler.errors.calls import NotFound, ToolNotFound
from handler.http.client import HttpClient
from handler.policy.evaluation import Evaluation
from handler.server.asgi.request_log import add_facts
from handler.server.asgi.response_size import LAMBDA, Room
from handler.server.asgi.trace_context import Trace
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal, anonymous_at
from handler.server.auth.pseudonyms import Pseudonyms
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.registry import Endpoints
from handler.server.endpoints.schema_views import schema_loading
from handler.server.outgoing.outgoing_services import OutgoingServices


def development_at(_: Bundle) -> Principal:
    """Return the development principal, at any endpoint."""
    return DEVELOPMENT


@record(frozen=True, slots=True, kw_only=True)
class Services:
    """The services that all requests share.

    ``development``: the server is for trials, so no authorizer is trusted, and a request without a credential has the
    development principal, or the one that ``stand_in`` returns. ``verifiers``: the verifier of an endpoint's tokens if
    each endpoint has its own secrets. ``signpost``: a hint for a path without a route; empty if the hint could tell a
    caller too much. ``public_url``: the owner's setting; if it is empty, ``PublicUrl`` uses the event.
    ``code_modules``: modules whose tools in Python may run. ``outgoing``: services for requests to APIs. ``hosts``: the
    accepted values of ``Host``; empty where the front door decides. ``own_machine``: the server is for its author
    alone. ``is_frozen``: the process may stop after each response, as Lambda's do. ``page``: the kind of server that
    the page is for; if it is empty, browsers get no page. ``own_routes``: routes of the command that runs the server.
    """

    endpoints: Endpoints
    http: HttpClient
    tokens: TokenVerifier
    allowed_origins: frozenset[str] = frozenset()
    development: bool = False
    stand_in: Callable[[Bundle], Principal] = development_at
    verifiers: Callable[[str], TokenVerifier] | None = None
    signpost: Callable[[str], str] = lambda _: ""
    hosts: frozenset[str] = frozenset()
    own_machine: bool = False
    is_frozen: bool = True
    page: str = ""  # "" | dev | serve | function
    own_routes: tuple[Route, ...] = ()
    public_url: str = ""
    states: RequestStates = field(default_factory=RequestStates)
    code_modules: tuple[str, ...] = ()
    outgoing: OutgoingServices = field(default_factory=OutgoingServices)
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    clock: Callable[[], float] = time.time  # UNIX seconds

    def verifier_of(self, endpoint: str) -> TokenVerifier:
        """Return the verifier of an endpoint's tokens."""
        return self.verifiers(endpoint) if self.verifiers else self.tokens

    def without_credential(self, bundle: Bundle) -> Principal:
        """Return the principal of a request without a credential.

        Raises:
            AccessError: the endpoint requires a credential, or the stand-in is not valid.
        """
        return self.stand_in(bundle) if self.development else anonymous_at(bundle)


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
        """Return whether the caller may use a tool.

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
