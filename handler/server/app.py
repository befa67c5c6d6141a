"""The Starlette application: the routes, and the edge where requests come in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.routing import Route

from handler.server.cors import Cors
from handler.server.entrance import Services, json_response
from handler.server.graphql_http import GraphQLRoute
from handler.server.mcp_http import McpRoute
from handler.server.refusals import refuse
from handler.server.request_log import RequestLog, WriteLine


def create_app(services: Services, *, write_line: WriteLine) -> RequestLog:
    """The application. ``write_line`` gets one structured line a request."""
    graphql = GraphQLRoute(services)
    routes = [
        Route("/{folder}/{name}/mcp", McpRoute(services), methods=["POST"]),
        Route("/{folder}/{name}/graphql", graphql),
        Route("/{folder}/{name}/__graphql", graphql),
        Route("/{folder}/{name}/tools/{tool}/graphql", graphql),
        Route("/health", _health(services), methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    return RequestLog(Cors(app, allowed_origins=services.allowed_origins), write_line=write_line)


def _http_error(http_call: HttpCall, exc: Exception) -> Response:
    if not isinstance(exc, HTTPException):
        raise exc
    return refuse(http_call.scope, exc.detail, status=exc.status_code, headers=exc.headers)


def _health(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    async def health(_: HttpCall) -> Response:
        return json_response({"status": "ok", "endpoints": services.endpoints.count})

    return health
