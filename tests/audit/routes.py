"""What is audited: the demo endpoint, taking whatever anonymous callers write, with its real upstream."""

from __future__ import annotations

import shutil
from pathlib import Path

from handler.compiler.compile import Compiled, compile_endpoint
from tests.conftest import DEMO

ROUTES = ("/graphql", "/tools/customer-lookup/graphql")

CONFIG = """\
graphql: on
upstream: {{url: '{url}', timeout_s: 5}}
"""


def audited_endpoint(folder: Path, upstream_url: str) -> Compiled:
    """The demo endpoint, in mode ``on``."""
    endpoint = folder / "api" / "customers"
    shutil.copytree(DEMO, endpoint)
    (endpoint / "config.audit.yaml").write_text(CONFIG.format(url=upstream_url), encoding="utf-8")
    return compile_endpoint(endpoint, stage="audit")
