"""The routes ``/-/…`` of ``stile dev``: what the page shows beyond MCP. They are for pages of this server alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.requests import Request as HttpCall
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from handler.server.asgi.content_negotiation import EVENT_STREAM
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused, json_response

OWN_PAGE = frozenset({"same-origin", "none"})
"""``Sec-Fetch-Site`` of requests from pages of this server, and of addresses that a person types."""

Answer = Callable[[HttpCall], Awaitable[Response]]


def page_routes() -> tuple[Route, ...]:
    """Return the routes."""

    async def endpoints(_: HttpCall) -> Response:
        return json_response({"endpoints": [], "problems": [], "personasOff": ""})

    async def tools(_: HttpCall) -> Response:
        return json_response({"tools": []})

    async def why(_: HttpCall) -> Response:
        return json_response({"reasons": []})

    async def reach(_: HttpCall) -> Response:
        return json_response({"matches": [], "personas": []})

    async def picture(_: HttpCall) -> Response:
        raise Refused("not-found", "Not Found")

    async def events(_: HttpCall) -> Response:
        async def none() -> AsyncIterator[bytes]:
            yield b": open\n\n"

        return StreamingResponse(none(), media_type=EVENT_STREAM)

    answers: dict[str, Answer] = {
        "endpoints": endpoints,
        "tools": tools,
        "why": why,
        "reach": reach,
        "reach.svg": picture,
        "events": events,
    }
    return tuple(Route(f"/-/{name}", _own(answer), methods=["GET"]) for name, answer in answers.items())


def _own(answer: Answer) -> Callable[[HttpCall], Any]:
    async def guarded(http_call: HttpCall) -> Response:
        note(http_call.scope, route="page")
        require_own_page(http_call.headers.get("sec-fetch-site"))
        return await answer(http_call)

    return guarded


def require_own_page(site: str | None) -> None:
    """Refuse a request that a browser does not state to be from a page of this server.

    Raises:
        Refused: 403.
    """
    if site not in OWN_PAGE:
        raise Refused("foreign-page", "only the page of this server may ask for this")
