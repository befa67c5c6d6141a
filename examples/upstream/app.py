import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL

from examples.upstream.database import connect
from examples.upstream.objects import Context
from examples.upstream.schema import schema


def build_app(database: Path) -> Starlette:
    """The GraphQL API over the database file: POST or GET /graphql, and GET /health."""
    return Starlette(routes=[Route("/graphql", GraphQLOverDatabase(database)), Route("/health", health)])


class GraphQLOverDatabase(GraphQL[Context, None]):
    """Gives each request a database connection of its own."""

    def __init__(self, database: Path) -> None:
        super().__init__(schema, graphql_ide=None)
        self.database = database

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with closing(connect(self.database)) as connection:
            await super().__call__({**scope, "database": connection}, receive, send)

    async def get_context(
        self,
        request: Request | WebSocket,
        response: Response | WebSocket,  # noqa: ARG002
    ) -> Context:
        return Context(database=request.scope["database"], now=datetime.now(UTC).replace(microsecond=0))

    def decode_json(self, data: str | bytes) -> object:
        # Strawberry answers 400 to text that is no JSON, but 500 to bytes that are no text.
        try:
            return super().decode_json(data)
        except UnicodeDecodeError as exc:
            raise json.JSONDecodeError("not UTF-8", "", 0) from exc


async def health(request: Request) -> PlainTextResponse:  # noqa: ARG001  a route's signature
    return PlainTextResponse("ok")
