"""The interface of an observer of HTTP exchanges. Only type checkers import it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from handler.http.client import HttpRequest, HttpResponse


class Observer(Protocol):
    """An observer through which a client sends each request. ``send`` is the client's own way."""

    def send(self, request: HttpRequest, send: Callable[[HttpRequest], HttpResponse]) -> HttpResponse:
        """Send a request, and return the response or raise as ``send``."""
        ...

    async def send_async(
        self, request: HttpRequest, send: Callable[[HttpRequest], Awaitable[HttpResponse]]
    ) -> HttpResponse:
        """Send a request, and return the response or raise as ``send``."""
        ...
