"""The application as it answers the suite, in two ways that users have."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from graphql import build_schema, graphql_sync

from handler.compiler.compile import Compiled, compile_endpoint
from handler.server.auth.sealed_state import RequestStates
from tests.clients.serving import serving
from tests.conformance.jobs import running_job_api
from tests.support.api import Asked, Reply, running_api
from tests.support.front import running_front

ENDPOINTS = Path(__file__).parent / "endpoints" / "test"

MODULES = ("tests.conformance",)

ENVIRON = {"STILE_CODE_MODULES": ",".join(MODULES)}


@contextmanager
def served_over_http() -> Iterator[str]:
    """Serve an endpoint with nothing but tools in Python over HTTP; give the URL of its MCP route."""
    with serving(_compiled("everything"), **_services()) as url:
        yield f"{url}/mcp"


@contextmanager
def served_over_events() -> Iterator[str]:
    """Serve the same by events of API Gateway, with some operations of an API in place of functions."""
    with _answering() as api, running_front(_compiled("graphql", api), **_services()) as url:
        yield f"{url}/mcp"


WAYS: Mapping[str, Callable[[], AbstractContextManager[str]]] = {"http": served_over_http, "events": served_over_events}


@contextmanager
def served_jobs(way: str) -> Iterator[str]:
    """Serve an endpoint whose tools start jobs of an API, in one of ``WAYS``; give the URL of its MCP route."""
    served = {"http": serving, "events": running_front}[way]
    with running_job_api() as api, served(_compiled("tasks", api), **_services()) as url:
        yield f"{url}/mcp"


def _services() -> dict[str, Any]:
    return {"states": RequestStates(["of the conformance suite, 32 characters"]), "code_modules": MODULES}


def _compiled(name: str, api: str = "") -> Compiled:
    """Compile an endpoint, whose API is at the URL ``api``; without one it has no API."""
    if not api:
        return compile_endpoint(ENDPOINTS / name, environ=ENVIRON)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(ENDPOINTS / name, Path(folder, "test", name))
        (copy / "config.test.yaml").write_text(f"upstream: {{url: '{api}'}}\n", encoding="utf-8")
        return compile_endpoint(copy, stage="test", environ=ENVIRON)


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
