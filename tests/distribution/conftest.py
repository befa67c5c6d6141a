from __future__ import annotations

from pathlib import Path

import pytest

from tests.distribution.builds import WHEEL, copy_tree, make_dist


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `make dist` put its files."""
    return make_dist(copy_tree(tmp_path_factory.mktemp("tree")))


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    return built / WHEEL
