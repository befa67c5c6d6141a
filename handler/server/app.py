"""The Starlette application: its routes and its middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from importlib import import_module
from inspect import isfunction

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.routing import Match, Route, request_response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler.bundle.model import ENDPOINT_NAME
from handler.errors import StileError
from handler.server.asgi.content_negotiation import prefers_html
from handler.server.asgi.cors import Cors
from handler.server.asgi.deadlines import Deadlines
from handler.server.asgi.public_url import AI_CATALOG, PublicUrl, note_unknown_url, public_url
from handler.server.asgi.request_log import RequestLog, WriteLine, note
from handler.server.asgi.responses import Refused, json_response, refusal_code, refuse
from handler.server.auth.resource_metadata import METADATA_NAMES, WELL_KNOWN, resource_metadata, takes_tokens
from handler.server.context import Services, find_endpoint
from handler.server.endpoints.registry import Endpoints
from handler.server.mcp.route import McpRoute

ENDPOINT = "/{folder}/{name}"
HEALTH = ("/health", "/health/live")


def create_app(services: Services, *, write_line: WriteLine) -> RequestLog:
    """Build the application. ``write_line`` gets one structured line a request."""
    app = Starlette(
        routes=routes(services),
        middleware=_middleware(services),
        exception_handlers={HTTPException: partial(_http_error, services.signpost)},
    )
    app.router.redirect_slashes = False  # it would redirect to any host that the request names
    return RequestLog(app, write_line=write_line)  # outside of Starlette's own middleware, to log all failures


def routes(services: Services) -> list[Route]:
    """Return all routes. Starlette takes the first match."""
    lazy = partial(_Lazy, services)
    graphql = lazy("handler.server.graphql_route:GraphQLRoute")
    metadata = lazy("handler.server.oauth_proxy.routes:metadata_route")
    oauth = f"{ENDPOINT}/oauth"
    catalog = [Route(AI_CATALOG, lazy("handler.server.server_card:ai_catalog_route"), methods=["GET"])]
    page: list[Route] = []
    if services.page:  # its path is that of the card: browsers get the page, all other clients the card
        shell = lazy("handler.page.page_documents:shell_route")
        page = [
            _ShellRoute("/", shell, methods=["GET"]),
            _EndpointRoute("/", lazy("handler.page.page_documents:root_route"), methods=["GET"]),
            _ShellRoute(ENDPOINT, shell, methods=["GET"]),
            _ShellRoute(f"{ENDPOINT}/mcp", lazy("handler.page.page_documents:mcp_url_route"), methods=["GET"]),
            Route("/editor.html", lazy("handler.page.page_documents:editor_route"), methods=["GET"]),
        ]
    return [
        Route(f"{ENDPOINT}/mcp", McpRoute(services), methods=["POST"]),
        Route(f"{ENDPOINT}/graphql", graphql),
        Route(f"{ENDPOINT}/__graphql", graphql),
        Route(f"{ENDPOINT}/tools/{{tool}}/graphql", graphql),
        Route(f"{ENDPOINT}/mcp/server-card", lazy("handler.server.server_card:server_card_route"), methods=["GET"]),
        *(catalog if services.catalog else []),
        Route(f"{WELL_KNOWN}{ENDPOINT}/mcp", resource_metadata_route(services), methods=["GET"]),
        # Clients look for the metadata of an authorization server in both places, in different orders.
        # Source: RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4.
        *(Route(f"/.well-known/{name}{ENDPOINT}", metadata, methods=["GET"]) for name in METADATA_NAMES),
        *(Route(f"{ENDPOINT}/.well-known/{name}", metadata, methods=["GET"]) for name in METADATA_NAMES),
        Route(f"{oauth}/register", lazy("handler.server.oauth_proxy.routes:register_route"), methods=["POST"]),
        Route(f"{oauth}/authorize", lazy("handler.server.oauth_proxy.routes:authorize_route"), methods=["GET"]),
        Route(f"{oauth}/callback", lazy("handler.server.oauth_proxy.routes:callback_route"), methods=["GET"]),
        Route(f"{oauth}/token", lazy("handler.server.oauth_proxy.routes:token_route"), methods=["POST"]),
        Route(HEALTH[0], lazy("handler.server.health:health_route"), methods=["GET"]),
        Route(HEALTH[1], lazy("handler.server.health:live_route"), methods=["GET"]),
        *page,
        _EndpointRoute(ENDPOINT, lazy("handler.server.card:card_route"), methods=["GET"]),
        *services.own_routes,
    ]


def _middleware(services: Services) -> list[Middleware]:
    """Return the middleware between the log and the routes, outermost first."""
    guards = []
    if services.hosts:  # no front door stands before the server, as it does before the Lambda function
        from handler.server.asgi.own_machine import KnownHosts, OwnMachine

        # A load balancer asks for the health by an address.
        open_paths = () if services.own_machine else HEALTH
        guards.append(Middleware(KnownHosts, hosts=services.hosts, open_paths=open_paths))
        guards += [Middleware(OwnMachine)] if services.own_machine else []
    return [
        Middleware(Deadlines),
        *guards,
        Middleware(PublicUrl, public_url=services.public_url),
        Middleware(Cors, allowed_origins=services.allowed_origins, own=bool(services.page)),
        *([Middleware(_FinishRefreshes, endpoints=services.endpoints)] if services.is_frozen else []),
        Middleware(ServerErrorMiddleware, handler=_unforeseen),  # here too, so that error responses get CORS headers
    ]


class _EndpointRoute(Route):
    """A route whose path many paths have the form of: other methods, and other names, do not find it."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        names = child.get("path_params", {}).values()
        is_name = not names or ENDPOINT_NAME.fullmatch("/".join(names))
        return (match, child) if match is Match.FULL and is_name else (Match.NONE, {})


class _ShellRoute(_EndpointRoute):
    """A route of the page, which only clients find that ask for HTML. Every name of an endpoint's form has the page."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        is_shown = match is Match.FULL and prefers_html(Headers(scope=scope).get("accept"))
        return (match, child) if is_shown else (Match.NONE, {})


class _Lazy:
    """The application of a route, loaded with the first request for the route.

    ``target`` is ``module:function``. The function takes the services and returns the endpoint of a ``Route``.
    """

    def __init__(self, services: Services, target: str) -> None:
        self.target = target
        self._services = services

    @cached_property
    def _app(self) -> ASGIApp:
        module, _, name = self.target.partition(":")
        app = getattr(import_module(module), name)(self._services)
        return request_response(app) if isfunction(app) else app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class _FinishRefreshes:
    """Middleware that delays the response until refreshes end: Lambda freezes the process after the response."""

    def __init__(self, app: ASGIApp, endpoints: Endpoints) -> None:
        self._app = app
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_settled(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._endpoints.settle()
            await send(message)

        await self._app(scope, receive, send_settled)


async def _unforeseen(http_call: HttpCall, exc: Exception) -> Response:
    """Answer a request that failed at a route without an edge of its own. The middleware raises ``exc`` again."""
    note(http_call.scope, outcome="failed", failure=exc, code=StileError.stile_code)
    return json_response({"error": "Internal error", "code": StileError.stile_code}, status=500)


def _http_error(signpost: Callable[[str], str], http_call: HttpCall, exc: Exception) -> Response:
    if not isinstance(exc, HTTPException):
        raise exc
    has_route = exc.status_code not in (404, 405)
    hint = "" if has_route else signpost(http_call.scope["path"])
    error = Refused(refusal_code(exc), f"{exc.detail}: {hint}", headers=exc.headers) if hint else exc
    return refuse(http_call.scope, error, reason=exc.detail)


def resource_metadata_route(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    """Build the route of the protected resource metadata."""

    async def resource_metadata_of(http_call: HttpCall) -> Response:
        note(http_call.scope, route="resource_metadata")
        endpoint = await find_endpoint(services, http_call)
        url = public_url(http_call.scope)
        document = resource_metadata(endpoint.bundle, url)
        if document is None:
            if takes_tokens(endpoint.bundle) and not url:
                raise Refused("public-url-unknown", note_unknown_url(http_call.scope))
            raise Refused("not-found", "this endpoint names no authorization server")
        note(http_call.scope, outcome="ok")
        return json_response(document)

    return resource_metadata_of
