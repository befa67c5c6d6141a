"""The app over HTTP on loopback, for clients that are no Python."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import uvicorn

from handler.compiler.compile import Compiled
from handler.http import HttpClient
from handler.server.app import create_app
from handler.server.endpoints import Endpoints
from handler.server.services import Services
from handler.server.tokens import TokenVerifier
from handler.storage import MemoryStorage
from tests.support.function import store
from tests.support.local import LOCAL


@contextmanager
def running_server(compiled: Compiled) -> Iterator[str]:
    """Serve one endpoint as `stile dev` does, where a caller without a credential may use everything; give its URL."""
    with serving(compiled, development=True) as url:
        yield f"{url}/mcp"


@contextmanager
def serving(compiled: Compiled, *, development: bool = False) -> Iterator[str]:
    """Serve one endpoint; give the URL that its routes begin with."""
    storage = MemoryStorage()
    store(storage, compiled)
    troubles: list[str] = []
    endpoints = Endpoints(storage, refresh_s=60, on_trouble=lambda name, exc: troubles.append(f"{name}: {exc}"))
    with closing(HttpClient(LOCAL)) as http, socket.create_server(("127.0.0.1", 0)) as listener:
        app = create_app(
            Services(endpoints=endpoints, http=http, tokens=TokenVerifier(http, secrets={}), development=development),
            write_line=lambda _, failure: troubles.append(repr(failure)) if failure else None,
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/{compiled.bundle.endpoint}"
        finally:
            server.should_exit = True
            thread.join()
    assert troubles == []
