"""Commands of the Makefile for a few tests, done."""

from __future__ import annotations

import os
import re
import shlex
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


def test_coverage_is_for_one_run_in_ci_and_all_examples_are_for_another() -> None:
    assert "--cov" not in (ROOT / "Makefile").read_text(encoding="utf-8").replace("--no-cov", "")
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    (covered,) = [each for each in lines if "--cov" in each]
    (random,) = [each for each in lines if "STILE_EXAMPLES" in each]

    assert shlex.split(covered)[:2] == ["make", "test"]
    assert shlex.split(random)[:4] == ["env", "STILE_EXAMPLES=full", "make", "test"]
    assert "$SEARCHES" in random


def test_full_counts_of_published_endpoints_are_for_their_own_target() -> None:
    """CI tries a slice of them in the run of all tests."""
    life = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlife:")[2].partition("\n\n")[0]

    assert "STILE_LIFE=full STILE_EXAMPLES=full $(VENV)/bin/python -m pytest" in life
    assert life.rstrip().count("tests/life") == 1
    assert "python -m tests.life $(ARGS)" in life
    assert "STILE_LIFE" not in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_whole_of_the_page_is_for_its_own_target() -> None:
    """CI tries a slice of it, and the run of all tests opens the page once."""
    page = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\npage:")[2].partition("\n\n")[0]

    assert "STILE_BROWSER=$${STILE_BROWSER:-full}" in page
    assert "env STILE_BROWSER=slice make page\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_folders_that_ci_leaves_out_of_the_run_with_coverage_have_steps_of_their_own() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    corpora = makefile.partition("\ncorpora:")[2]

    (covered,) = [each for each in text.splitlines() if "--cov" in each]
    folders = ["tests/corpora", "tests/distribution", "tests/work"]
    assert re.findall(r"--ignore (\S+?)[\s\"]", covered) == [*folders, "$APPLIED"]
    assert "APPLIED=tests/infra/test_terraform_applied.py\n" in text
    assert "make terraform\n" in text
    assert "tests/infra/test_terraform_applied.py" in makefile.partition("\nterraform:")[2].partition("\n\n")[0]
    assert "make corpora\n" in text
    assert "pytest tests/corpora" in corpora
    assert "pytest --quiet tests/work\n" in text
    assert "pytest --quiet tests/distribution\n" in text


@pytest.mark.parametrize(("asked", "tried"), [("full", "300 1"), ("", "37 1")])
def test_searches_try_a_share_of_their_examples_or_all(asked: str, tried: str) -> None:
    program = "from tests.support.examples import examples; print(examples(300), examples(1))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "STILE_EXAMPLES": asked},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == tried.split()
