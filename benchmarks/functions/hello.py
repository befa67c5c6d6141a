"""The least that a function on Starlette and Mangum can be."""

# ruff: noqa: E402

import asyncio

from handler.cold.artefact import import_from_pack

import_from_pack()  # the packages of the built function are in it

from mangum import Mangum
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def hello(_: Request) -> Response:
    return Response('{"result":{}}', media_type="application/json")


asyncio.set_event_loop(asyncio.new_event_loop())
handler = Mangum(Starlette(routes=[Route("/{rest:path}", hello, methods=["POST"])]), lifespan="off")
