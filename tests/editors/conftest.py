from __future__ import annotations

import pytest

from tests.commands.running import Stile


@pytest.fixture
def stile(capsys: pytest.CaptureFixture[str]) -> Stile:
    """The command, run in this process with its output going into a pipe."""
    return Stile(capsys)
