"""Modules of authors, written by a test, from which endpoints take tools in Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


class Modules:
    """A folder from which Python imports, and ``STILE_CODE_MODULES`` for what a test writes there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: set[str] = set()

    @property
    def environ(self) -> dict[str, str]:
        """The environment that lets all of them be imported."""
        return {"STILE_CODE_MODULES": ",".join(sorted(self._names))}

    def write(self, path: str, text: str) -> Path:
        """Write a module, or one of a package, as ``shop_tools/orders.py``."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self._names.add(path.partition("/")[0].removesuffix(".py"))
        return file

    def forget(self) -> None:
        """Let nothing of them stay imported."""
        for name in list(sys.modules):
            if name.partition(".")[0] in self._names:
                del sys.modules[name]


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    found = Modules(folder)
    yield found
    found.forget()
