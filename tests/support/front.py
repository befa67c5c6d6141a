"""An HTTP server on loopback in front of the function, as API Gateway is: each request becomes an event."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from handler.compiler.compile import Compiled
from tests.support.function import (
    Answer,
    Context,
    Function,
    answer_of,
    event_for,
    event_loop,
    running_function,
    unsearched_answer_of,
)

HOP_BY_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})


@contextmanager
def running_front(compiled: Compiled, *, port: int = 0, **services: Any) -> Iterator[str]:
    """Serve one endpoint by events; give the URL that its routes begin with. Scripts from there may call it."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    services.setdefault("allowed_origins", frozenset({url}))
    with running_function(compiled, **services) as function, server:
        server.RequestHandlerClass = _handler_of(function)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"{url}/{compiled.bundle.endpoint}"
        finally:
            server.shutdown()
            thread.join()
    assert [line for line in function.lines if line.get("failure") or line.get("trouble")] == []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    function: Function
    one_at_a_time = threading.Lock()  # as an instance of a function has it

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # a client may go without a word
            super().handle()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        event = event_for(self.command, self.path, body=body, headers=self._joined_headers())
        with self.one_at_a_time, event_loop():
            response = self.function.handler(event, Context())
        # The OAuth proxy hands codes and tokens to those whom they are for.
        self._send(unsearched_answer_of(response) if "/oauth/" in self.path else answer_of(response))

    do_DELETE = do_GET = do_HEAD = do_OPTIONS = do_PATCH = do_POST = do_PUT = answer  # noqa: N815 - the library's

    def _joined_headers(self) -> Mapping[str, str]:
        """The headers, those that are repeated as one, by lower-case names."""
        names = dict.fromkeys(name.lower() for name in self.headers)
        return {name: ",".join(self.headers.get_all(name, [])) for name in names}

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        pass


def _handler_of(function: Function) -> type[_Handler]:
    return type("Handler", (_Handler,), {"function": function})
