"""Protection of a server outside of AWS: the names that it answers to, and pages in its author's browser.

To a browser, a page whose name resolves to 127.0.0.1 (DNS rebinding) has the same origin as this server. So its GET
requests have no ``Origin``, but their ``Host`` is the page's name, which ``KnownHosts`` refuses. In AWS, the front door
has its own names.

Source: Fetch Metadata Request Headers; RFC 9110, section 15.5.20 (421); MCP 2026-07-28,
basic/transports/streamable-http, "Security Warning".
"""

from __future__ import annotations

import re
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from handler.bundle.model import ENDPOINT_NAME
from handler.server.asgi.content_negotiation import prefers_html
from handler.server.asgi.responses import Refused, refuse

OTHER_SITES = ("cross-site", "same-site")
"""``Sec-Fetch-Site`` of requests from other pages. A server at another port is of the same site."""

OWN_PAGE = ("same-origin", "none")
"""``Sec-Fetch-Site`` of requests from pages of this server, and of addresses that a person types."""

SIGN_IN_PATH = r"/[^/]+/[^/]+/oauth/(?:authorize|callback)"
"""Paths that other sites redirect to in a sign-in."""


PAGE_PATH = rf"/|/{ENDPOINT_NAME.pattern}(?:/mcp)?/?"
"""Paths of the page's document, which says nothing of any endpoint, and of MCP URLs, which lead to it."""


def own_hosts(port: int) -> frozenset[str]:
    """Return the values of ``Host`` for this machine. Browsers omit port 80."""
    names = ("127.0.0.1", "localhost", "[::1]")
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


def require_own_page(headers: Headers) -> None:
    """Refuse a request that no browser states to be from a page of this server.

    Raises:
        Refused: 403.
    """
    if headers.get("sec-fetch-site") not in OWN_PAGE:
        raise Refused("foreign-page", "only the page of this server may ask for this")


class KnownHosts:
    """Middleware that refuses requests to a ``Host`` not in ``hosts``, except for paths in ``open_paths``."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], open_paths: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = hosts
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        hosts = [host.lower() for host in Headers(scope=scope).getlist("host")]
        if scope["path"] not in self._open_paths and (len(hosts) != 1 or hosts[0] not in self._hosts):
            others = "`stile serve` takes others by --public-url and --allowed-host"
            sentence = f"this server answers only to the Host {', '.join(sorted(self._hosts))}; {others}"
            app = refuse(scope, Refused("foreign-host", sentence), reason="foreign host")
        await app(scope, receive, send)


class OwnMachine:
    """Middleware that refuses requests from pages of other sites, except links to the page and ways back of a sign-in.

    The other site sees nothing of a page that is opened by a link: its policies keep it out of frames and apart from
    the window that opened it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if _is_of_another_site(scope, Headers(scope=scope)):
            sentence = "pages of other sites may not send requests to this server"
            app = refuse(scope, Refused("foreign-page", sentence), reason="foreign page")
        await app(scope, receive, send)


def _is_of_another_site(scope: Scope, headers: Headers) -> bool:
    if headers.get("sec-fetch-site") not in OTHER_SITES:
        return False
    if headers.get("sec-fetch-mode") != "navigate":
        return True
    # A link to the page opens a whole tab. A frame has another destination.
    is_of_tab = scope["method"] == "GET" and headers.get("sec-fetch-dest") == "document"
    is_link = is_of_tab and prefers_html(headers.get("accept")) and re.fullmatch(PAGE_PATH, scope["path"])
    return not is_link and not re.fullmatch(SIGN_IN_PATH, scope["path"])
