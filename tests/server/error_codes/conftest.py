"""Endpoints of the tests of codes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handler.compiler.compile import Compiled
from tests.server.error_codes.asking import (
    endpoint,
    running,
)
from tests.support.function import Function
from tests.support.identities import identified
from tests.support.kits import MODULES, TOOLS, changed_tool, with_kit


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """An endpoint whose API is down, and whose callers need no credential."""
    return endpoint(tmp_path_factory.mktemp("silent"))


@pytest.fixture
def function(silent: Compiled) -> Iterator[Function]:
    with running(silent) as started:
        yield started


@pytest.fixture
def in_python(silent: Compiled) -> Iterator[Function]:
    kit = changed_tool(with_kit(silent, TOOLS), "surroundings", digest="0" * 64)
    with running(identified(kit, {"scope": ""}), code_modules=MODULES) as started:
        yield started
