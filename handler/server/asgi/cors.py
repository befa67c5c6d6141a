"""CORS: browsers of the origins in STILE_ALLOWED_ORIGINS may call, other origins are refused.

One setting controls both requests and responses: a refused origin has no response to read, and an origin that cannot
read responses has no reason to call. Metadata for OAuth clients is open to any origin.

Credentials travel in headers that a script sets, never in cookies, so credentials mode is not offered.

Source: the Fetch standard, "CORS protocol"; MCP 2026-07-28, basic/transports/streamable-http, "Security Warning".
"""

from __future__ import annotations

import re
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler.server.asgi.public_url import AI_CATALOG, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused, refuse
from handler.server.auth.resource_metadata import METADATA_NAMES, WELL_KNOWN

PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    # "*" does not include this name.
    "access-control-allow-headers": "authorization, *",
    "access-control-max-age": "7200",  # the maximum in Chromium
}
EXPOSED = "www-authenticate, x-request-id, etag"

METADATA_PATH = (
    rf"{WELL_KNOWN}/.*|(/[^/]+/[^/]+)?/\.well-known/({'|'.join(METADATA_NAMES)})(/.*)?"
    rf"|/[^/]+/[^/]+/mcp/server-card|{re.escape(AI_CATALOG)}"
)
"""Paths of the public documents: metadata of endpoints and of authorization servers, cards, and the catalog."""

ANY = "*"


class Cors:
    """Middleware that checks ``Origin``, answers preflights, and sets the origin that may read the response.

    ``own``: the server has a page, so the origin of its public URL is allowed. A URL by the ``Host`` of the request
    would not do, because the name of another page may resolve to this server (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, *, allowed_origins: Collection[str], own: bool = False) -> None:
        self._app = app
        self._allowed = frozenset(allowed_origins)
        self._own = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        allowed = self._allowed_by(scope, headers.get("origin"))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                answered.add_vary_header("Origin")
                if allowed:
                    answered["access-control-allow-origin"] = allowed
                    answered["access-control-expose-headers"] = EXPOSED
            await send(message)

        app = self._app
        if allowed == "":
            sentence = "this origin is not allowed: STILE_ALLOWED_ORIGINS lists the allowed origins"
            app = refuse(scope, Refused("foreign-origin", sentence), reason="foreign origin")
        elif allowed and scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            note(scope, outcome="preflight")
            app = Response(status_code=204, headers=PREFLIGHT)
        await app(scope, receive, send_with_headers)

    def _allowed_by(self, scope: Scope, origin: str | None) -> str | None:
        """Return the origin that may read the response, or ``*``; empty if refused, ``None`` without ``Origin``."""
        if origin is None:
            return None
        if ANY in self._allowed or re.fullmatch(METADATA_PATH, scope["path"]):
            return ANY
        allowed = origin in self._allowed or (self._own and origin == _origin_of(public_url(scope)))
        return origin if allowed else ""


def _origin_of(url: str) -> str:
    """Return the origin of a URL as browsers write it; empty string if there is no URL."""
    scheme, _, rest = url.lower().partition("://")
    host = rest.partition("/")[0].removesuffix({"https": ":443", "http": ":80"}.get(scheme, ""))
    return f"{scheme}://{host}" if host else ""
