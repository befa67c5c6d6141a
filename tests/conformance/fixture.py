"""The application as it answers the suite, in two ways that users have."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from graphql import build_schema, graphql_sync

from handler.compiler.compile import Compiled, compile_endpoint
from handler.server.auth.sealed_state import RequestStates
from tests.clients.serving import serving
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import write_endpoint
from tests.support.front import running_front

ENDPOINTS = Path(__file__).parent / "endpoints" / "test"

MODULES = ("tests.conformance",)

ENVIRON = {"STILE_CODE_MODULES": ",".join(MODULES)}


@contextmanager
def served_over_http() -> Iterator[str]:
    """Serve an endpoint with nothing but tools in Python over HTTP; give the URL of its MCP route."""
    with serving(compile_endpoint(ENDPOINTS / "everything", environ=ENVIRON), **_services()) as url:
        yield f"{url}/mcp"


@contextmanager
def served_over_events() -> Iterator[str]:
    """Serve the same by events of API Gateway, with some operations of an API in place of functions."""
    with _answering() as api, running_front(_asking(api), **_services()) as url:
        yield f"{url}/mcp"


WAYS: Mapping[str, Callable[[], AbstractContextManager[str]]] = {"http": served_over_http, "events": served_over_events}


def _services() -> dict[str, Any]:
    return {"states": RequestStates(["of the conformance suite, 32 characters"]), "code_modules": MODULES}


def _asking(api: str) -> Compiled:
    files = {
        str(file.relative_to(ENDPOINTS / "graphql")): file.read_text("utf-8")
        for file in (ENDPOINTS / "graphql").rglob("*")
        if file.is_file()
    }
    with tempfile.TemporaryDirectory() as folder:
        files["config.test.yaml"] = f"upstream: {{url: '{api}'}}\n"
        return compile_endpoint(write_endpoint(Path(folder), files, name="test/graphql"), stage="test", environ=ENVIRON)


@contextmanager
def _answering() -> Iterator[str]:
    """An API with one field that has a value, and one that fails."""
    schema = build_schema((ENDPOINTS / "graphql" / "schema.graphql").read_text("utf-8"))

    def fail(*_: object) -> None:
        raise ValueError("This field intentionally fails for testing")

    def answer(asked: Asked) -> Reply:
        values = {"simple": "This is a simple text response for testing.", "failing": fail}
        return Reply(graphql_sync(schema, asked.json["query"], values).formatted)

    with running_api(answer) as api:
        yield api.url
