from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import Stile


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    folder = tmp_path / "workplace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def stile(capsys: pytest.CaptureFixture[str]) -> Stile:
    """The command, run in this process with its output going into a pipe."""
    return Stile(capsys)
