from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.browser import running_browser

# `make test` opens the page once, `.ci/run` tries what authors do, and `make page` tries all.
SHARES = {"": 1, "slice": 2, "full": 3}
FILES = {"test_first_look.py": 1, "test_scenarios.py": 2}
SHARE = SHARES[os.environ.get("STILE_BROWSER", "")]


def pytest_ignore_collect(collection_path: Any) -> bool | None:
    if collection_path.name.startswith("test_") and FILES.get(collection_path.name, 3) > SHARE:
        return True
    return None


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, once for the tests of a file: its driver keeps an event loop that other tests would meet."""
    with running_browser() as running:
        yield running


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was measured, whatever the tests made of it."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties:
                if name == "measure" and report.when == "call":
                    terminalreporter.write_line(str(value))
