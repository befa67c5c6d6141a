from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.inspector import Inspector, find_inspector
from tests.clients.serving import serving
from tests.support.demo_code import MODULES, demo_with_code
from tests.support.require import requires
from tests.support.upstream import Upstream, running_upstream


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    """The demo's GraphQL API with the rows that it begins with: other tests' API has gained some."""
    with running_upstream(tmp_path_factory.mktemp("shop")) as running:
        yield running


@pytest.fixture(scope="module")
def url(shop: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo endpoint with its tools in Python, served."""
    demo = demo_with_code(tmp_path_factory.mktemp("demo"), shop)
    with serving(demo, development=True, code_modules=MODULES) as base:
        yield f"{base}/mcp"


@pytest.fixture
def inspector(tmp_path: Path) -> Inspector:
    """The official MCP Inspector, without its browser."""
    found = find_inspector(tmp_path)
    requires("node", found, "`make clients` installs the MCP Inspector, and Node.js for Linux, with npm")
    assert found
    return found
