"""Endpoints with arguments of every kind, served with the API behind each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handler.compiler.compile import compile_endpoint
from tests.clients.kitchen.api import running_echo
from tests.clients.serving import serving

HERE = Path(__file__).parent
MODULES = ("tests.clients.kitchen.mixing",)


@contextmanager
def served_kitchen(name: str, folder: Path, *, config: str = "") -> Iterator[str]:
    """Serve the endpoint of this name from a copy below ``folder``; the URL of its MCP route.

    ``config`` is laid over the endpoint's own.
    """
    endpoint = folder / "kitchen" / name
    shutil.copytree(HERE / name, endpoint)
    with running_echo(endpoint) as api:
        (endpoint / "config.test.yaml").write_text(f"upstream: {{url: '{api}'}}\n{config}", "utf-8")
        compiled = compile_endpoint(endpoint, stage="test", environ={"STILE_CODE_MODULES": ",".join(MODULES)})
        with serving(compiled, development=True, code_modules=MODULES) as base:
            yield f"{base}/mcp"
