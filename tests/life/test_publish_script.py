"""The words that infra/publish.sh gives to the command, with a script in the command's place."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "infra" / "publish.sh"


def ran_script(folder: Path, command: str, *steps: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run steps with a command in the place of `stile`, which has the text of a shell script."""
    program = folder / "the command"
    program.write_text(f"#!/bin/bash\n{command}\n", encoding="utf-8")
    program.chmod(0o755)
    given = {"STILE_COMMAND": str(program), "STILE_BUNDLES": "s3://b/my bundles", "STILE_ENDPOINTS": "my endpoints"}
    return subprocess.run(
        [str(SCRIPT), *steps],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **given, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("steps", "variables", "expected"),
    [
        (["check"], {}, [["check", "--strict", "--", "my endpoints"], ["test", "--", "my endpoints"]]),
        (["publish"], {}, [["publish", "--", "my endpoints", "s3://b/my bundles"]]),
        (
            ["publish"],
            {"STILE_STAGE": "a 'b'", "STILE_PRUNE": "true", "STILE_ALLOW_BREAKING": "true"},
            [["publish", "--stage", "a 'b'", "--prune", "--allow-breaking", "--", "my endpoints", "s3://b/my bundles"]],
        ),
        (
            ["publish"],
            {"STILE_ALLOW_OPEN": "true"},
            [["publish", "--allow-open", "--", "my endpoints", "s3://b/my bundles"]],
        ),
        (["wait"], {}, []),
        (
            ["wait"],
            {"STILE_URL": "https://u", "STILE_HEADER": "A: $(b)", "STILE_NAMES": " a/b *\n"},
            [
                [
                    "published",
                    "--url",
                    "https://u",
                    "--wait",
                    "180",
                    "-H",
                    "A: $(b)",
                    "--",
                    "s3://b/my bundles",
                    "a/b",
                    "*",
                ]
            ],
        ),
    ],
)
def test_each_value_is_one_word_of_the_command(
    tmp_path: Path, steps: list[str], variables: dict[str, str], expected: list[list[str]]
) -> None:
    done = ran_script(tmp_path, "printf '%s\\0' \"$@\"; printf '\\n'", *steps, **variables)

    assert done.returncode == 0, done.stderr
    assert [line.split("\0")[:-1] for line in done.stdout.splitlines()] == expected


@pytest.mark.parametrize(
    ("command", "code"),
    [("echo same", 0), ("echo less; exit 1", 0), ("echo broken; exit 2", 0), ("echo; exit 3", 3), ("exit 1", 2)],
)
def test_only_a_report_counts_as_a_comparison(tmp_path: Path, command: str, code: int) -> None:
    """Exit code 1 is also that of a command that fails in an unforeseen way."""
    assert ran_script(tmp_path, command, "diff").returncode == code
    assert (tmp_path / "stile-diff.md").exists() is (code == 0)


def test_differences_have_the_endpoints_that_a_publish_would_withdraw(tmp_path: Path) -> None:
    ran_script(tmp_path, 'printf "%s " "$@"', "diff", STILE_PRUNE="true")

    assert "diff --markdown --prune -- " in (tmp_path / "stile-diff.md").read_text(encoding="utf-8")
