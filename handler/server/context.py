"""The context of a request: the shared services, the endpoint, and the caller; the first steps of every route."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, TypeVar

from starlette.requests import Request as HttpCall
from starlette.routing import Route

from handler.bundle.content import Prompt, Resource, Skill
from handler.bundle.model import ENDPOINT_NAME, Bundle
from handler.bundle.tools import CodeKit, Tool
from handler.cold.records import record
from handler.errors.access import CredentialRefused, CredentialRequired
from handler.errors.calls import EndpointNotFound, NotFound, ToolNotFound
from handler.errors.infrastructure import BundleError, FunctionLacks, StorageError
from handler.http.client import HttpClient
from handler.policy.evaluation import Evaluation
from handler.server.asgi.deadlines import deadline_of
from handler.server.asgi.headers import folded, without_credentials
from handler.server.asgi.public_url import public_url
from handler.server.asgi.request_log import line_of, note
from handler.server.asgi.response_size import LAMBDA, Room, room_at
from handler.server.asgi.responses import Refused
from handler.server.asgi.trace_context import Trace, continue_trace
from handler.server.auth.identification import Presented, authorized_claims, identify, require_readable_credential
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal, Pseudonyms, anonymous_at
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.registry import Endpoints
from handler.server.endpoints.schema_views import schema_loading
from handler.server.outgoing.outgoing_services import OutgoingServices

T = TypeVar("T")
P = TypeVar("P", Prompt, Resource, Skill, CodeKit)


@record(frozen=True, slots=True, kw_only=True)
class Services:
    """The services that all requests share.

    ``development``: the server is for trials, so no authorizer is trusted, and a request without a credential has the
    development principal, or the one that ``stand_in`` returns. ``verifiers``: the verifier of an endpoint's tokens if
    each endpoint has its own secrets. ``signpost``: a hint for a path without a route; empty if the hint could show a
    caller too much. ``public_url``: the owner's setting; if it is empty, ``PublicUrl`` uses the event.
    ``code_modules``: modules whose tools in Python may run. ``outgoing``: services for requests to APIs. ``hosts``: the
    accepted values of ``Host``; empty where the front door decides. ``own_machine``: the server is for its author
    alone. ``is_frozen``: the process may stop after each response, as Lambda's do. ``page``: the kind of server that
    the page is for; if it is empty, browsers get no page. ``own_routes``: routes of the command that runs the server.
    ``log_begun``: a writer of the line that an author's code begins.
    """

    endpoints: Endpoints
    http: HttpClient
    tokens: TokenVerifier
    allowed_origins: frozenset[str] = frozenset()
    development: bool = False
    stand_in: Callable[[Bundle], Principal] = lambda _: DEVELOPMENT
    verifiers: Callable[[str], TokenVerifier] | None = None
    signpost: Callable[[str], str] = lambda _: ""
    hosts: frozenset[str] = frozenset()
    own_machine: bool = False
    is_frozen: bool = True
    page: str = ""  # "" | dev | serve | function
    own_routes: tuple[Route, ...] = ()
    log_begun: Callable[[Mapping[str, Any]], None] = lambda _: None
    public_url: str = ""
    catalog: tuple[str, ...] = ()
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
        self.facts.update(facts)

    def as_anybody(self) -> Caller:
        """Return this caller as an anonymous caller."""
        return replace(self, principal=ANONYMOUS, evaluation=self.endpoint.everybody, credential="", headers={})

    def permitted(self, parts: Iterable[P]) -> list[P]:
        """Return the parts of the bundle whose conditions the caller meets."""
        return [part for part in parts if self.evaluation.meets(part.mask)]

    async def can_use(self, tool: Tool) -> bool:
        """Return whether the caller may use a tool.

        Raises:
            UpstreamError: the schema, which decides that, cannot be loaded.
        """
        if self.endpoint.needs_schema(tool, self.evaluation):
            return await with_schema(self.endpoint.is_visible, tool, self.evaluation)
        return self.endpoint.is_visible(tool, self.evaluation)

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


async def with_schema(read: Callable[..., T], *arguments: Any) -> T:
    """Return the result of a function that may have to load the schema first. A thread waits for it.

    Raises:
        UpstreamError: the schema cannot be loaded.
    """
    with schema_loading():
        return await asyncio.to_thread(read, *arguments)


MAX_BODY_BYTES = 1_048_576

ENDPOINT = "stile.endpoint"
"""The key of the request's endpoint in the ASGI scope."""


def endpoint_name(http_call: HttpCall) -> str:
    """Return the ``folder/name`` of a request's path; the endpoint may not exist."""
    return f"{http_call.path_params['folder']}/{http_call.path_params['name']}"


async def find_endpoint(services: Services, http_call: HttpCall) -> Endpoint:
    """Return the endpoint that a request's path names.

    Raises:
        Refused: 404 if it does not exist, 503 if it cannot be loaded or the function lacks a part for it.
    """
    name = endpoint_name(http_call)
    try:
        if not ENDPOINT_NAME.fullmatch(name):
            raise EndpointNotFound(name)
        endpoint = await services.endpoints.find(name)
    except EndpointNotFound as exc:
        # The caller's text: another fact than ``endpoint``, which storage has returned, and ASCII.
        note(http_call.scope, requested_endpoint=name.encode("ascii", "backslashreplace").decode())
        raise Refused(exc.stile_code, "there is no such endpoint") from exc
    except (StorageError, BundleError) as exc:
        raise Refused("endpoint-unavailable", "the endpoint cannot be loaded at the moment") from exc
    except FunctionLacks as exc:
        note(http_call.scope, endpoint=name)
        raise Refused("endpoint-not-ready", "this function lacks a part that the endpoint needs") from exc
    age_s = services.endpoints.check_age_s(name)
    age = {} if age_s is None else {"bundle_age_s": round(age_s, 1)}
    note(http_call.scope, endpoint=name, bundle=endpoint.digest, **age)
    http_call.scope[ENDPOINT] = endpoint
    return endpoint


async def identify_caller(services: Services, http_call: HttpCall, endpoint: Endpoint) -> Caller:
    """Authenticate the request and return its context.

    Raises:
        AccessError: a credential is required, or the given one is refused or cannot be verified.
    """
    bundle, scope, headers = endpoint.bundle, http_call.scope, folded(http_call.headers)
    presented = Presented(headers=headers, event=scope.get("aws.event", {}))
    # A server for trials has no API in front, so no event is trusted.
    event, authorization = {} if services.development else presented.event, headers.get("authorization", "")
    claims = authorized_claims(event, bundle.identity, authorization=authorization)
    if not claims:  # else the API has checked the headers that it requires
        require_readable_credential(http_call.headers)
    if claims:
        principal = Principal(kind="authorizer", claims=claims)
    elif presented.sealed:
        principal = await _open_sealed(services, http_call, presented, bundle=bundle)
    else:
        principal = await identify(
            presented,
            bundle,
            tokens=services.verifier_of(bundle.endpoint),
            without_credential=services.without_credential,
            now=services.clock(),
        )
    facts = line_of(scope)
    facts.update(principal=principal.kind, who=await services.pseudonyms.of(principal))
    trace = continue_trace(http_call.headers)
    if trace:
        facts["trace_id"] = trace.id
    return Caller(
        endpoint=endpoint,
        principal=principal,
        evaluation=endpoint.evaluation_of(principal),
        services=services,
        deadline=deadline_of(scope),
        room=room_at(presented.event),
        credential=presented.bearer if principal.kind == "token" and not presented.sealed else "",
        trace=trace,
        headers=without_credentials(headers),
        request_id=facts["request_id"],
        facts=facts,
    )


async def _open_sealed(services: Services, http_call: HttpCall, presented: Presented, *, bundle: Bundle) -> Principal:
    """Return the holder of an access token of the OAuth proxy.

    Raises:
        CredentialRefused: the token is not valid here and now, or the route is not the MCP route.
    """
    from handler.server.auth.sealed_state import open_access_token  # few requests have such a token

    path, url = f"/{bundle.endpoint}/mcp", public_url(http_call.scope)
    if http_call.scope["path"] != path:
        raise CredentialRefused("audience")
    resource = f"{url}{path}" if url else ""
    now, states = services.clock(), services.states
    claims = await open_access_token(presented.sealed, bundle, resource=resource, states=states, now=now)
    return Principal(kind="token", claims=claims)


async def read_body(http_call: HttpCall, *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Read the whole body.

    Raises:
        Refused: 413 if the body is longer than ``max_bytes``.
    """
    body = bytearray()
    async for chunk in http_call.stream():
        body += chunk
        if len(body) > max_bytes:
            raise Refused("body-too-large", f"the body is longer than {max_bytes} bytes")
    return bytes(body)
