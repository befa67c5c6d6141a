from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.compiler.compile import Compiled, compile_endpoint
from tests.support.upstream import Upstream, running_upstream

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples" / "endpoints" / "api" / "customers"


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    """The demo's GraphQL API, running on loopback; its log holds every request that reached it."""
    with running_upstream(tmp_path_factory.mktemp("upstream")) as running:
        yield running


@pytest.fixture(scope="session")
def demo() -> Compiled:
    """The demo endpoint as its folder says, with the upstream at its documented place."""
    return compile_endpoint(DEMO)
