"""The interface of an observer of HTTP exchanges. Only type checkers import it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

Request = TypeVar("Request")
Response = TypeVar("Response")


class Observer(Protocol[Request, Response]):
    """An observer through which a client sends each request. ``send`` is the client's own way."""

    def send(self, request: Request, send: Callable[[Request], Response]) -> Response:
        """Send a request, and return the response or raise as ``send``."""
        ...

    async def send_async(self, request: Request, send: Callable[[Request], Awaitable[Response]]) -> Response:
        """Send a request, and return the response or raise as ``send``."""
        ...
