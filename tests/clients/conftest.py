from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.inspector import Inspector, find_inspector
from tests.support.require import requires


@pytest.fixture
def inspector(tmp_path: Path) -> Inspector:
    """The official MCP Inspector, without its browser."""
    found = find_inspector(tmp_path)
    requires("node", found, "`make clients` installs the MCP Inspector, and Node.js for Linux, with npm")
    assert found
    return found
