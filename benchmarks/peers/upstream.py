"""A GraphQL API on loopback that knows its schema and no data: what tools are made of needs no more."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from graphql import GraphQLSchema, graphql_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


@contextmanager
def running_api(schema: GraphQLSchema) -> Iterator[str]:
    """Serve a schema; give its URL."""

    answers: dict[bytes, Response] = {}  # what is asked again is answered at once, as a large API's introspection

    async def answer(request: Request) -> Response:
        asked = await request.body()
        if asked not in answers:
            body = json.loads(asked)
            result = graphql_sync(schema, body["query"], variable_values=body.get("variables"))
            answers[asked] = JSONResponse(result.formatted)
        return answers[asked]

    app = Starlette(routes=[Route("/graphql", answer, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/graphql"
        finally:
            server.should_exit = True
            thread.join()
