"""The official Python SDK's client, talking to the function through API Gateway events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.function import Context, Function, answer_of, event_for, event_loop

Mode = Literal["auto", "legacy"]


class LambdaTransport(httpx2.AsyncBaseTransport):
    """Turns each HTTP request into an event for the handler, and its response back into HTTP."""

    def __init__(self, function: Function) -> None:
        self._function = function

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = {name.lower(): value for name, value in request.headers.items()}
        event = event_for(request.method, request.url.path, body=body, headers=headers)
        answer = answer_of(await asyncio.to_thread(self._invoke, event))
        return httpx2.Response(answer.status, headers=dict(answer.headers), content=answer.body)

    def _invoke(self, event: Any) -> Any:
        with event_loop():  # Lambda runs one invocation at a time, and Mangum each on its thread's loop
            return self._function.handler(event, Context())


@asynccontextmanager
async def sdk_client(function: Function, *, mode: Mode) -> AsyncIterator[Client]:
    """A connected client of the endpoint that ``function`` serves."""
    async with httpx2.AsyncClient(transport=LambdaTransport(function)) as http:
        transport = streamable_http_client(f"http://function{function.path}", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client
