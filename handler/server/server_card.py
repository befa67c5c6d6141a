"""Server Cards and the AI Catalog: public documents by which clients find an endpoint before they connect.

The repositories that define the two documents still move. This module has everything that they name.

Source: SEP-2127 and modelcontextprotocol/experimental-ext-server-card at commit 8924e08, ``docs/discovery.md`` and
``schema.json``; the AI Catalog that ``docs/discovery.md`` refers to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.server.asgi.public_url import note_unknown_url, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused
from handler.server.context import Services, find_endpoint
from handler.server.mcp.revisions import LEGACY, MODERN
from handler.strict_json import JSONObject, to_well_formed_json

CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_TYPE = "application/mcp-server-card+json"
CARD_NAME = r"(?=.{3,200}\Z)[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+"

HEADERS = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "Content-Type, If-None-Match",
    "access-control-expose-headers": "ETag",
    "cache-control": "public, max-age=3600",
}


def server_card_route(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    """Build the route of the Server Cards. An endpoint without a card and one that does not exist look the same."""

    async def server_card_of(http_call: HttpCall) -> Response:
        note(http_call.scope, route="server_card")
        absent = Refused("endpoint-not-found", "there is no such endpoint")
        try:
            endpoint = await find_endpoint(services, http_call)
        except Refused as exc:  # a bundle that cannot be read does not show if its endpoint is listed
            raise absent from exc
        url = public_url(http_call.scope)
        if not url:
            note_unknown_url(http_call.scope)
        path = endpoint.bundle.endpoint
        name = f"{'.'.join(reversed((urlsplit(url).hostname or '').split('.')))}/{path.replace('/', '.')}"
        if not endpoint.bundle.listed or "description" not in endpoint.server_info or not re.fullmatch(CARD_NAME, name):
            raise absent
        versions = {"supportedProtocolVersions": [*MODERN, *LEGACY]}
        remote = {"type": "streamable-http", "url": f"{url}/{path}/mcp", **versions}
        card = {"$schema": CARD_SCHEMA, **endpoint.server_info, "name": name, "remotes": [remote]}
        return _public_response(http_call, card, CARD_TYPE)

    return server_card_of


def ai_catalog_route(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    """Build the route of the catalog. It loads no endpoint: its owner has named the endpoints in a setting."""

    async def ai_catalog_of(http_call: HttpCall) -> Response:
        note(http_call.scope, route="ai_catalog")
        url = public_url(http_call.scope)
        if not url:
            raise Refused("public-url-unknown", note_unknown_url(http_call.scope))
        entries = [
            {
                "identifier": f"urn:air:{urlsplit(url).hostname}:mcp:{name.replace('/', '.')}",
                "type": CARD_TYPE,
                "url": f"{url}/{name}/mcp/server-card",
            }
            for name in dict.fromkeys(services.catalog)
        ]
        return _public_response(http_call, {"specVersion": "1.0", "entries": entries}, "application/ai-catalog+json")

    return ai_catalog_of


def _public_response(http_call: HttpCall, document: JSONObject, media_type: str) -> Response:
    """Build the response with a document that is the same for everybody; 304 if the client has it."""
    body = to_well_formed_json(document)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    asked = http_call.headers.get("if-none-match", "")
    note(http_call.scope, outcome="ok")
    headers = {**HEADERS, "etag": etag}
    if etag in asked or asked.strip() == "*":
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=media_type)
