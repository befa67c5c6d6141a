"""All routes but that of MCP. They load with the first request that is for one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.routing import Route

from handler.server.asgi.public_url import note_unknown_url, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import json_response
from handler.server.auth.resource_metadata import WELL_KNOWN, resource_metadata, takes_tokens
from handler.server.context.request_context import find_endpoint
from handler.server.context.services import Services
from handler.server.graphql.route import GraphQLRoute
from handler.server.health import health_routes
from handler.server.oauth_proxy.routes import bridge_routes


def other_routes(services: Services) -> list[Route]:
    """GraphQL, what clients read before they sign in, the bridge, and the health of the function."""
    graphql = GraphQLRoute(services)
    return [
        Route("/{folder}/{name}/graphql", graphql),
        Route("/{folder}/{name}/__graphql", graphql),
        Route("/{folder}/{name}/tools/{tool}/graphql", graphql),
        Route(f"{WELL_KNOWN}/{{folder}}/{{name}}/mcp", _resource_metadata(services), methods=["GET"]),
        *bridge_routes(services),
        *health_routes(services),
    ]


def _resource_metadata(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    async def resource_metadata_of(http_call: HttpCall) -> Response:
        note(http_call.scope, route="resource_metadata")
        endpoint = await find_endpoint(services, http_call)
        url = public_url(http_call.scope)
        document = resource_metadata(endpoint.bundle, url)
        if document is None:
            unnamed = takes_tokens(endpoint.bundle) and not url
            sentence = "this endpoint names no authorization server"
            raise HTTPException(404, note_unknown_url(http_call.scope) if unnamed else sentence)
        note(http_call.scope, outcome="ok")
        return json_response(document)

    return resource_metadata_of
