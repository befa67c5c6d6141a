"""The least that a function on Starlette and Mangum can be, of packages as pip installs them."""

import asyncio

from mangum import Mangum
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def hello(_: Request) -> Response:
    return Response('{"result":{}}', media_type="application/json")


asyncio.set_event_loop(asyncio.new_event_loop())
handler = Mangum(Starlette(routes=[Route("/{rest:path}", hello, methods=["POST"])]), lifespan="off")
