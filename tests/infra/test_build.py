"""What infra/build_artifact.sh refuses before it fetches anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.infra.cloudformation import ROOT
from tests.infra.test_build_settings import VARIABLES
from tests.support.require import requires


def refused(folder: Path, *architecture: str, **environ: str) -> str:
    done = subprocess.run(
        ["bash", "infra/build_artifact.sh", str(folder / "artifact"), *architecture],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in VARIABLES} | environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert not (folder / "artifact").exists()
    return done.stderr


@pytest.mark.parametrize("extras", ["cli", "code,cli", "code;jwt"])
def test_an_extra_that_no_endpoint_needs_is_refused(tmp_path: Path, extras: str) -> None:
    expected = f'STILE_EXTRAS is code, jwt and page with commas, or nothing, not "{extras}".\n'

    assert refused(tmp_path, "arm64", STILE_EXTRAS=extras) == expected


def test_code_that_is_no_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()

    for path in (tmp_path / "gone", tmp_path / "notes.txt"):
        expected = f"STILE_CODE: {path} is neither the folder of a package nor a module's file.\n"
        assert refused(tmp_path, "arm64", STILE_CODE=str(path)) == expected


@pytest.mark.parametrize(
    ("variable", "value"), [("ARCH", "x86_64"), ("STILE_EXTRAS", "jwt"), ("STILE_CODE", "examples/code/customer_tools")]
)
def test_what_is_deployed_is_as_samconfig_says(tmp_path: Path, variable: str, value: str) -> None:
    found = subprocess.run(["bash", "infra/find_python.sh", "3.13"], cwd=ROOT, capture_output=True, check=False)
    requires("python3.13", found.returncode == 0, "the recipe of `sam build` runs on it")

    expected = f'samconfig.toml: {variable} is "{value}", which neither the stack nor the next build would know of: '
    assert refused(tmp_path, **{variable: value}).startswith(expected)


def test_an_architecture_of_make_build_reaches_the_recipe(tmp_path: Path) -> None:
    """`sam build` starts another make, which has it from the first one."""
    command = ["make", "--dry-run", "build-StileFunction", f"ARTIFACTS_DIR={tmp_path}", "ARCH=x86_64"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == f'ARCH="x86_64" infra/build_artifact.sh "{tmp_path}"'
