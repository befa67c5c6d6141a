"""The demo's stage with tools in Python."""

from __future__ import annotations

import shutil
from pathlib import Path

from handler.compiler.compile import Compiled, compile_endpoint
from tests.conftest import DEMO
from tests.support.upstream import Upstream

MODULES = ("customer_tools",)


def demo_with_code(folder: Path, upstream: Upstream) -> Compiled:
    """The demo endpoint with its tools in Python, asking the running upstream."""
    endpoint = folder / "api" / "customers"
    shutil.copytree(DEMO, endpoint)
    stage = endpoint / "config.code.yaml"
    stage.write_text(f"{stage.read_text('utf-8')}upstream: {{url: '{upstream.url}', timeout_s: 5}}\n", "utf-8")
    return compile_endpoint(endpoint, stage="code", environ={"STILE_CODE_MODULES": ",".join(MODULES)})
