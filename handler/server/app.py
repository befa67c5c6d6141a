"""The Starlette application: the routes, and the edge where requests come in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler.server.bridge_http import bridge_routes
from handler.server.cors import Cors
from handler.server.deadlines import Deadlines
from handler.server.endpoints import Endpoints
from handler.server.entrance import find_endpoint, json_response
from handler.server.event_stream import EVENT_STREAM
from handler.server.front_door import FrontDoor, public_url
from handler.server.graphql_http import GraphQLRoute
from handler.server.graphql_request import MEDIA_TYPES
from handler.server.mcp_http import McpRoute
from handler.server.refusals import refuse
from handler.server.request_log import RequestLog, WriteLine, note
from handler.server.resource_metadata import WELL_KNOWN, resource_metadata
from handler.server.services import Services

TEXT_MEDIA_TYPES = (*MEDIA_TYPES, EVENT_STREAM)
"""What answers may be. Any other type would travel through Lambda in base64, which not every front door decodes."""


def create_app(services: Services, *, write_line: WriteLine) -> RequestLog:
    """The application. ``write_line`` gets one structured line a request."""
    graphql = GraphQLRoute(services)
    routes = [
        Route("/{folder}/{name}/mcp", McpRoute(services), methods=["POST"]),
        Route("/{folder}/{name}/graphql", graphql),
        Route("/{folder}/{name}/__graphql", graphql),
        Route("/{folder}/{name}/tools/{tool}/graphql", graphql),
        Route(f"{WELL_KNOWN}/{{folder}}/{{name}}/mcp", _resource_metadata(services), methods=["GET"]),
        *bridge_routes(services),
        Route("/health", _health(services), methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    cors = Cors(_Settled(app, services.endpoints), allowed_origins=services.allowed_origins)
    front_door = FrontDoor(cors, public_url=services.public_url)
    return RequestLog(Deadlines(front_door), write_line=write_line)


class _Settled:
    """Holds the answer back until what ran beside the request is done: Lambda freezes the process with the answer."""

    def __init__(self, app: ASGIApp, endpoints: Endpoints) -> None:
        self._app = app
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_settled(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._endpoints.settle()
            await send(message)

        await self._app(scope, receive, send_settled)


def _http_error(http_call: HttpCall, exc: Exception) -> Response:
    if not isinstance(exc, HTTPException):
        raise exc
    note(http_call.scope, outcome="rejected", reason=exc.detail)
    return refuse(http_call.scope, exc.detail, status=exc.status_code, headers=exc.headers)


def _resource_metadata(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    async def resource_metadata_of(http_call: HttpCall) -> Response:
        note(http_call.scope, route="resource_metadata")
        endpoint = await find_endpoint(services, http_call)
        document = resource_metadata(endpoint.bundle, public_url(http_call.scope))
        if document is None:
            raise HTTPException(404, "this endpoint names no authorization server")
        note(http_call.scope, outcome="ok")
        return json_response(document)

    return resource_metadata_of


def _health(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    async def health(_: HttpCall) -> Response:
        checked_s = services.endpoints.oldest_check_s
        oldest = None if checked_s is None else int(checked_s)
        return json_response({"status": "ok", "endpoints": services.endpoints.count, "oldestCheckS": oldest})

    return health
