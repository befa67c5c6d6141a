import json
from datetime import UTC, datetime
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class RequestLog:
    """Writes every HTTP request into a file before the app sees it, one JSON object a line."""

    def __init__(self, app: ASGIApp, path: Path) -> None:
        self.app = app
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = await read_body(receive)
        with self.path.open("a", encoding="utf-8") as log:
            log.write(log_line(scope, body))
        await self.app(scope, replay(body, then=receive), send)


async def read_body(receive: Receive) -> bytes:
    """The whole body, or as much as came before the client went away."""
    body = b""
    while True:
        message = await receive()
        chunk: bytes = message.get("body", b"")
        body += chunk
        if not message.get("more_body"):
            return body


def log_line(scope: Scope, body: bytes) -> str:
    headers = Headers(scope=scope)
    request = {
        "at": datetime.now(UTC).isoformat(),
        "method": scope["method"],
        "path": scope["path"],
        "query_string": scope["query_string"].decode("latin-1"),
        "headers": {name: ", ".join(headers.getlist(name)) for name in headers},
        "body": body.decode("utf-8", "replace"),
    }
    return json.dumps(request) + "\n"


def replay(body: bytes, *, then: Receive) -> Receive:
    """A ``receive`` which gives the body once more, and after that whatever ``then`` has to say."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await then()

    return receive
