"""Commands of the Makefile for a few tests, done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

ONE = """\
import sys

def test_one():
    assert not {"boto3", "graphql", "moto", "starlette"} & set(sys.modules)

def test_other():
    raise AssertionError
"""


@pytest.mark.parametrize(
    ("target", "arguments", "ended"),
    [
        ("check", "-k one", 0),
        ("test", "-k one", 0),
        ("check", "", 2),
        ("test", "", 2),
    ],
)
def test_few_tests_pass_if_they_pass_and_a_session_loads_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, arguments: str, ended: int
) -> None:
    (tmp_path / "test_some.py").write_text(ONE, encoding="utf-8")
    monkeypatch.delenv("MAKEFLAGS", raising=False)  # of the `make test` that this may run in
    environment = f"{sys.prefix}/.stamp"
    options = f"-p tests.conftest -p no:cacheprovider {arguments}"
    where = [f"T={tmp_path}", f"ARGS={options}"] if target == "check" else [f"ARGS={tmp_path} {options}"]

    done = subprocess.run(
        ["make", f"--old-file={environment}", target, f"VENV={sys.prefix}", "WORKERS=0", *where],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == ended, done.stdout + done.stderr


def test_coverage_is_measured_in_ci_alone_and_once() -> None:
    assert "--cov" not in (ROOT / "Makefile").read_text(encoding="utf-8").replace("--no-cov", "")
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").count("--cov") == 1
