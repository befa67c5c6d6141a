"""The application behind an HTTP server, as ``stile serve`` has it, for requests that tests write as Lambda events."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from contextlib import closing
from functools import cache
from http.client import HTTPConnection
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from handler.commands.local.listening import listening_socket

TIMEOUT_S = 60


class _Server:
    """One HTTP server of a test session, whose application changes with each request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Semaphore(0)
        self._app: ASGIApp | None = None
        self._listener = listening_socket("127.0.0.1", 0)
        config = uvicorn.Config(
            self._run, interface="asgi3", log_level="critical", lifespan="off", ws="none", server_header=False
        )
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, kwargs={"sockets": [self._listener]}, daemon=True).start()

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app
        try:
            await self._app(scope, receive, send)
        finally:
            self._ended.release()

    def send(self, app: ASGIApp, event: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self._app = app
            response = _answered(self._listener.getsockname()[1], event)
            assert self._ended.acquire(timeout=TIMEOUT_S)
            return response


@cache
def _server() -> _Server:
    return _Server()


def http_door(app: ASGIApp) -> Callable[[Any, Any], Any]:
    """Return a handler that sends each event of payload format 2.0 over HTTP, and returns a response as Lambda does.

    As in Lambda, the application has ended its work on a request, with the log line, when the handler returns.
    """
    return lambda event, _context: _server().send(app, event)


def _answered(port: int, event: dict[str, Any]) -> dict[str, Any]:
    body = event["body"]
    sent = base64.b64decode(body) if event["isBase64Encoded"] else body.encode() if isinstance(body, str) else body
    path = f"{event['rawPath']}?{event['rawQueryString']}" if event["rawQueryString"] else event["rawPath"]
    with closing(HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)) as connection:
        connection.request(event["requestContext"]["http"]["method"], path, body=sent, headers=event["headers"])
        response = connection.getresponse()
        return {
            "statusCode": response.status,
            "headers": {name.lower(): value for name, value in response.getheaders()},
            "body": base64.b64encode(response.read()).decode(),
            "isBase64Encoded": True,
        }
