"""The route of an endpoint's protected resource metadata. Source: RFC 9728, section 3."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.server.asgi.public_url import note_unknown_url, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused, json_response
from handler.server.auth.resource_metadata import resource_metadata, takes_tokens
from handler.server.context.caller import Services
from handler.server.context.request_context import find_endpoint


def metadata_route(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
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
