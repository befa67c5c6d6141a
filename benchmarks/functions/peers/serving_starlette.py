"""Starlette under uvicorn, which asks the API over httpx2 and answers what it says."""

import os
import sys

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

client = httpx2.AsyncClient(timeout=30)


async def answer(request: Request) -> Response:
    """Pass the body on, and the answer back."""
    found = await client.post(os.environ["UPSTREAM"], content=await request.body())
    return Response(found.content, media_type="application/json")


uvicorn.run(
    Starlette(routes=[Route("/mcp", answer, methods=["POST"])]),
    host="127.0.0.1",
    port=int(sys.argv[1]),
    log_level="error",
)
