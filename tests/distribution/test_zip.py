"""`make zip` writes the same bytes in each clone."""

from __future__ import annotations

import subprocess
from pathlib import Path
from zipfile import ZipFile

from tests.conftest import ROOT
from tests.distribution.builds import copy_tree
from tests.distribution.environments import require_index, run
from tests.support.require import requires


def made_zip(clone: Path) -> bytes:
    done = run("make", "zip", cwd=copy_tree(clone))
    assert done.returncode == 0, done.stderr
    return (clone / "build" / "function.zip").read_bytes()


def test_two_clones_have_the_same_zip_with_the_function_in_it(tmp_path: Path) -> None:
    require_index()
    found = subprocess.run(["bash", "infra/find_python.sh", "3.13"], cwd=ROOT, capture_output=True, check=False)
    requires("python3.13", found.returncode == 0, "the function is built with it")

    first = made_zip(tmp_path / "first")

    assert made_zip(tmp_path / "of another" / "depth") == first
    with ZipFile(tmp_path / "first" / "build" / "function.zip") as archive:
        assert {"handler/lambda_function.py", "handler/build.json", "starlette-"} <= {
            name if name.startswith("handler/") else name[: name.find("-") + 1] for name in archive.namelist()
        }
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None
