"""The Starlette application: the routes, and the edge where requests come in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler.server.asgi.cors import Cors
from handler.server.asgi.deadlines import Deadlines
from handler.server.asgi.public_url import PublicUrl
from handler.server.asgi.request_log import RequestLog, WriteLine, note
from handler.server.asgi.responses import refuse
from handler.server.context.services import Services
from handler.server.endpoints.registry import Endpoints
from handler.server.mcp.route import McpRoute


def create_app(services: Services, *, write_line: WriteLine) -> RequestLog:
    """The application. ``write_line`` gets one structured line a request."""
    mcp = Route("/{folder}/{name}/mcp", McpRoute(services), methods=["POST"])
    app = Starlette(routes=[mcp], exception_handlers={HTTPException: _http_error})
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    app.router.default = _AtFirstUse(lambda: _others(services))
    cors = Cors(_FinishRefreshes(app, services.endpoints), allowed_origins=services.allowed_origins)
    door: ASGIApp = PublicUrl(cors, public_url=services.public_url)
    if services.own_hosts:
        from handler.server.asgi.own_machine import OwnMachine  # the function has no use for it

        door = OwnMachine(door, hosts=services.own_hosts)
    return RequestLog(Deadlines(door), write_line=write_line)


def _others(services: Services) -> ASGIApp:
    from handler.server.routes import other_routes

    return Router(other_routes(services), redirect_slashes=False)


class _AtFirstUse:
    """An application that is made, and its modules loaded, when the first request comes to it."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._made = cache(make)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._made()(scope, receive, send)


class _FinishRefreshes:
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
