"""The app over HTTP on loopback, for clients that are no Python."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import pytest
import uvicorn

from handler.commands.local.listening import listening_socket
from handler.compiler.compile import Compiled
from handler.http.client import HttpClient
from handler.server.app import create_app
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import Endpoints
from handler.server.outgoing.outgoing_services import OutgoingServices
from handler.server.outgoing.secret_store import SecretStore
from handler.storage.local import MemoryStorage
from tests.support.examples import FULL
from tests.support.function import store
from tests.support.local import LOCAL
from tests.support.secrecy import SESSION, Output

UNHURRIED = pytest.mark.skipif(
    not (FULL or os.environ.get("STILE_REQUIRE")), reason="it takes seconds: `make clients` and CI run it"
)


@contextmanager
def running_server(compiled: Compiled, **services: Any) -> Iterator[str]:
    """Serve one endpoint as `stile dev` does, where a caller without a credential may use everything; give its URL."""
    with serving(compiled, development=True, **services) as url:
        yield f"{url}/mcp"


@contextmanager
def serving(
    compiled: Compiled, *, port: int = 0, secrets: Mapping[str, str] | None = None, **services: Any
) -> Iterator[str]:
    """Serve one endpoint; give the URL that its routes begin with. Scripts from there may call it."""
    storage = MemoryStorage()
    store(storage, compiled)
    troubles: list[str] = []
    endpoints = Endpoints(storage, on_trouble=lambda name, exc: troubles.append(f"{name}: {exc}"))

    def write_line(facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
        SESSION.note(Output.LINE, str(facts))
        if failure:
            troubles.append(repr(failure))

    with closing(HttpClient(LOCAL)) as http, listening_socket("127.0.0.1", port) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = create_app(
            Services(
                endpoints=endpoints,
                http=http,
                tokens=TokenVerifier(http, secrets=secrets or {}),
                allowed_origins=frozenset({url}),
                outgoing=OutgoingServices(secrets=SecretStore(environ=secrets or {})),
                **services,
            ),
            write_line=write_line,
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"{url}/{compiled.bundle.endpoint}"
        finally:
            server.should_exit = True
            thread.join()
    assert troubles == []
