"""The application as it answers the suite: an endpoint with nothing but the suite's toolkit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handler.compiler.compile import compile_endpoint
from handler.server.request_state import RequestStates
from tests.clients.serving import serving

FOLDER = Path(__file__).parent / "endpoints" / "test" / "everything"

MODULES = ("tests.conformance",)


@contextmanager
def served_fixture() -> Iterator[str]:
    """Serve it; give the URL of its MCP route."""
    environ = {"STILE_CODE_MODULES": ",".join(MODULES)}
    endpoint = compile_endpoint(FOLDER, environ=environ)
    with serving(
        endpoint, states=RequestStates(["of the conformance suite, 32 characters"]), code_modules=MODULES
    ) as url:
        yield f"{url}/mcp"
