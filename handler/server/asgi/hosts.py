"""The names that a server outside of AWS answers to. In AWS, the front door has its own.

Source: RFC 9110, section 15.5.20 (421).
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from handler.server.asgi.responses import Refused, refuse


class KnownHosts:
    """Middleware that refuses requests to a ``Host`` not in ``hosts``, except for paths in ``open_paths``."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], open_paths: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = hosts
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["path"] not in self._open_paths and not self._is_known(Headers(scope=scope)):
            sentence = f"this server answers only to {', '.join(sorted(self._hosts))}"
            app = refuse(scope, Refused("foreign-host", sentence), reason="foreign host")
        await app(scope, receive, send)

    def _is_known(self, headers: Headers) -> bool:
        named = [name.lower() for name in headers.getlist("host")]
        return len(named) == 1 and named[0] in self._hosts
