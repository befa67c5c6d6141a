"""What is audited: the demo endpoint, taking whatever anonymous callers write, with its real upstream."""

from __future__ import annotations

import shutil
from pathlib import Path

from handler.compiler.compile import Compiled, compile_endpoint
from tests.conftest import DEMO

ROUTES = ("/graphql", "/tools/customer-lookup/graphql")


def audited_endpoint(folder: Path, upstream_url: str) -> Compiled:
    """The demo endpoint, in mode ``on``."""
    endpoint = folder / "api" / "customers"
    shutil.copytree(DEMO, endpoint)
    config = f"graphql: on\nupstream: {{url: '{upstream_url}', timeout_s: 5}}\n"
    (endpoint / "config.audit.yaml").write_text(config, encoding="utf-8")
    return compile_endpoint(endpoint, stage="audit")
