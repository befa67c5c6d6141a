"""The distributions, built from a copy of the tracked files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from handler import __version__
from tests.conftest import ROOT

COMMIT_TIME = "1700000000"
WHEEL = f"stile_mcp-{__version__}-py3-none-any.whl"
SDIST = f"stile_mcp-{__version__}.tar.gz"


def tracked(*folders: str) -> list[str]:
    """The files that a commit of this tree would have, by their paths."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def copy_tree(folder: Path) -> Path:
    for name in tracked():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    return folder


def make_dist(folder: Path, **environ: str) -> Path:
    """Run `make dist` in a copy of the tree, with the build backend that is installed here."""
    subprocess.run(
        ["make", f"--old-file={sys.prefix}/.stamp", "dist", f"VENV={sys.prefix}"],
        cwd=folder,
        env={**os.environ, "MAKEFLAGS": "", "SOURCE_DATE_EPOCH": COMMIT_TIME, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return folder / "dist"
