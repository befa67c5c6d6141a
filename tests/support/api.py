"""An API, or a token endpoint, on loopback that keeps each request it gets, credentials and all."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from tests.support.secrecy import SESSION, Output

CREDENTIALS = frozenset({"authorization", "x-api-key", "x-amz-security-token"})
"""Headers that credentials stand in by right. Everything else that reaches an API is searched for them."""


@dataclass(frozen=True)
class Asked:
    """One request. ``headers`` have lower-case names."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def authorization(self) -> str:
        return self.headers.get("authorization", "")

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True, strict_parsing=True))

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """One answer."""

    body: Any = field(default_factory=lambda: {"data": {"me": "you", "pay": "paid"}})
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Api:
    """A running API. ``answer`` may be replaced while it runs."""

    answer: Callable[[Asked], Reply]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    @property
    def authorizations(self) -> list[str]:
        """Which credential each request carried as ``Authorization``."""
        return [each.authorization for each in self.asked]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = (
        128  # of a connection beyond the 5 of the base class, the kernel tries again after 1, 3 and 7 s
    )

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that gave up resets the connection
            super().handle_error(request, client_address)


@contextmanager
def running_api(answer: Callable[[Asked], Reply] = lambda _: Reply(), *, takes_secrets: bool = False) -> Iterator[Api]:
    """An API. With ``takes_secrets``, as of a token endpoint, bodies are secret too, and not searched."""
    api = Api(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, body)
            api.asked.append(asked)
            searched = {name: value for name, value in headers.items() if name not in CREDENTIALS}
            SESSION.note(Output.PEER, f"{self.path} {searched} {'' if takes_secrets else body!r}")
            reply = api.answer(asked)
            raw = reply.raw()
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            with contextlib.suppress(OSError):  # the client may have given up
                self.wfile.write(raw)

        do_GET = do_POST  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}/graphql"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
