"""Endpoint folders written by a test, compiled by the product."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors import CompileError, Problem


def write_endpoint(folder: Path, files: Mapping[str, str], *, name: str = "api/things") -> Path:
    """Write the files of one endpoint below ``folder``; give its own folder."""
    endpoint = folder / name
    for path, text in files.items():
        file = endpoint / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return endpoint


def compiled(folder: Path, files: Mapping[str, str]) -> Compiled:
    """What these files become."""
    return compile_endpoint(write_endpoint(folder, files))


def problems_of(folder: Path, files: Mapping[str, str]) -> tuple[Problem, ...]:
    """The problems that these files have; there must be some."""
    with pytest.raises(CompileError) as caught:
        compiled(folder, files)
    return caught.value.problems
