"""What infra/build_artifact.sh refuses before it fetches anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.infra.cloudformation import ROOT


def refused(folder: Path, **environ: str) -> str:
    done = subprocess.run(
        ["bash", "infra/build_artifact.sh", str(folder / "artifact"), "arm64"],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert not (folder / "artifact").exists()
    return done.stderr


@pytest.mark.parametrize("extras", ["cli", "code,cli", "code;jwt"])
def test_an_extra_that_no_endpoint_needs_is_refused(tmp_path: Path, extras: str) -> None:
    expected = f'STILE_EXTRAS is code, jwt, both with a comma, or nothing, not "{extras}".\n'

    assert refused(tmp_path, STILE_EXTRAS=extras) == expected


def test_code_that_is_no_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()

    for path in (tmp_path / "gone", tmp_path / "notes.txt"):
        expected = f"STILE_CODE: {path} is neither the folder of a package nor a module's file.\n"
        assert refused(tmp_path, STILE_CODE=str(path)) == expected
