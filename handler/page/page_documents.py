"""The routes of the page's documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.page.shell import shell
from handler.server.asgi.content_negotiation import HTML
from handler.server.asgi.public_url import has_slash
from handler.server.asgi.request_log import note
from handler.server.context import Services

Answer = Callable[[HttpCall], Awaitable[Response]]


def shell_route(services: Services) -> Answer:
    """Build the route of the page. Its answer depends on nothing of the request: it confirms no endpoint."""

    async def page(http_call: HttpCall) -> Response:
        note(http_call.scope, route="page", outcome="ok")
        if "name" in http_call.path_params and has_slash(http_call.scope):
            return _to_page(http_call)  # scripts of the page read the endpoint from its URL
        made = shell(services.page)
        return Response(made.html, headers=dict(made.headers), media_type=HTML)

    return page


def mcp_url_route(_: Services) -> Answer:
    """Build the route of MCP URLs that a person opens in a browser: they lead to the page of the endpoint."""

    async def to_page(http_call: HttpCall) -> Response:
        note(http_call.scope, route="page", outcome="ok")
        return _to_page(http_call)

    return to_page


def _to_page(http_call: HttpCall) -> Response:
    """Redirect from a path with one more slash to the page. A relative location holds below a stage or base path."""
    headers = {"location": f"../{http_call.path_params['name']}", "cache-control": "no-store", "vary": "Accept"}
    return Response(status_code=303, headers=headers)


def editor_route(_: Services) -> Answer:
    """Build the route of the GraphQL editor's document, which the page shows in a frame."""

    async def editor(http_call: HttpCall) -> Response:
        from handler.page.editor import editor_document

        note(http_call.scope, route="page", outcome="ok")
        made = editor_document()
        return Response(made.body, headers=dict(made.headers))

    return editor
