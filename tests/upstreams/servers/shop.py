"""What the servers in Python have in common: variants of one API, each of which fails in one way of its own.

A program is started as ``python strawberry_api.py plain:4001 renamed:4002 …`` and serves each variant on its port.
"""

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from graphql import GraphQLError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount

MAX_DEPTH = 3
SLOW_S = 2.5
WAIT = {"retry-after": "30"}
REFUSALS: dict[str, tuple[int, str, dict[str, str]]] = {
    "401": (401, "The key is not valid", {}),
    "403": (403, "The key may not do this", {}),
    "429": (429, "Too many requests", WAIT),
    "503": (503, "Closed for repairs", WAIT),
}
CODES = {"unauthenticated": "UNAUTHENTICATED", "forbidden": "FORBIDDEN", "throttled": "THROTTLED"}
"""Variants whose resolvers refuse, as GraphQL does, with status 200."""

CUT = "Party \ud83c"  # as it comes from a store that counts in UTF-16

paid = 0


async def pay(variant: str) -> int:
    global paid  # noqa: PLW0603 - the one fact of this API
    paid += 1
    if variant == "slow":
        await asyncio.sleep(SLOW_S)
    return paid


def fail(variant: str) -> str:
    message = "the stock system is down"
    code = CODES.get(variant)
    raise GraphQLError(message, extensions={"code": code}) if code else ValueError(message)


def refusing(status: int, message: str, headers: dict[str, str]) -> Any:
    """An application that refuses all requests, as Starlette does."""

    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        raise HTTPException(status, message, headers)

    return refuse


class Dropping:
    """Lets a request be answered, and drops the connection within the answer."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def lose(message: Any) -> None:
            if message["type"] == "http.response.start":
                await send(message)

        await self._app(scope, receive, lose)


def serve(api: Callable[[str], Any]) -> None:
    """Serve the variants that the command line names. ``api`` makes the ASGI application of one."""

    async def serve_all() -> None:
        await asyncio.gather(*(_server(*word.split(":"), api).serve() for word in sys.argv[1:]))

    logging.disable()
    asyncio.run(serve_all())


def _server(variant: str, port: str, api: Callable[[str], Any]) -> uvicorn.Server:
    app = refusing(*REFUSALS[variant]) if variant in REFUSALS else api(variant)
    served = Starlette(routes=[Mount("/", Dropping(app) if variant == "dropped" else app)])
    return uvicorn.Server(uvicorn.Config(served, port=int(port), log_level="critical", lifespan="off"))
