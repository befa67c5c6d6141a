"""Empty environments, and packages that the locks of this repository name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.support.require import requires


def require_index() -> None:
    """Skip a test that installs packages, which takes half a minute, unless ``STILE_REQUIRE`` asks for it."""
    asked = "pypi" in os.environ.get("STILE_REQUIRE", "").split(",")
    requires("pypi", asked, "STILE_REQUIRE=pypi installs packages into empty environments")


def empty_environment(folder: Path) -> Path:
    """The folder of the programs of a new environment."""
    require_index()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin"


def install(programs: Path, *arguments: str) -> None:
    done = pip(programs, "install", "--quiet", "--no-deps", *arguments)
    assert done.returncode == 0, done.stderr


def pip(programs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tests' own pip on an environment, which takes seconds less than one of its own."""
    return run(sys.executable, "-m", "pip", "--python", str(programs / "python"), *arguments)


def install_lock(programs: Path, lock: str) -> None:
    install(programs, "--no-compile", "--require-hashes", "--requirement", str(ROOT / "requirements" / lock))


def run(*command: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command that sees nothing of the environment of the tests."""
    left_out = ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    return subprocess.run(
        command, cwd=cwd, env=environment | environ, capture_output=True, text=True, check=False, timeout=600
    )
