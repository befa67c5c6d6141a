"""The official MCP conformance suite, run against a URL by Node.js."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.clients.node import node_of
from tests.conftest import ROOT

MODULES = ROOT / ".stile" / "node-conformance" / "node_modules"
"""Where ``make conformance`` installs it."""

PACKAGE = MODULES / "@modelcontextprotocol" / "conformance"
NODE = node_of(MODULES)

REQUIRED = {"2026-07-28": 37, "2025-11-25": 30}
"""How many scenarios each revision requires: with fewer of them, passing would mean less."""

TASKS = (
    *("tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal"),
    *("tasks-request-headers", "tasks-dispatch-and-envelope", "tasks-required-task-error"),
    "tasks-mrtr-composition",
)
"""The scenarios of the extension of tasks. They need the endpoint with jobs."""

SKILLS = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory")
"""The scenarios of the extension of skills."""

EXTENSIONS: Mapping[str, tuple[str, ...]] = {"2026-07-28": (*SKILLS, *TASKS), "2025-11-25": SKILLS}
"""Revision -> the scenarios of extensions that are run. No revision requires one."""

LEFT_OUT: Mapping[str, str] = {
    "tasks-mrtr-input": (
        "Its tasks ask the user while they run. A task of Stile is a job of the API, which asks nothing; a tool asks "
        "before the job starts."
    ),
    "tasks-status-notifications": (
        "It has no check: the suite skips it. Stile sends no `notifications/tasks`, which are optional: no stream of a "
        "function outlives its request."
    ),
}
"""Scenario for servers that is not run -> the reason."""

OTHERS: Mapping[str, str] = {
    "Client scenarios": "They judge clients of MCP. Stile is a server.",
    "Authorization server scenarios": (
        "They judge an authorization server. `make issuers` signs clients in at a real one through the OAuth proxy."
    ),
}
"""Group of scenarios that are not for servers -> the reason for which it is left out."""

TIMEOUT_S = 600

Status = Literal["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What the checks of one scenario came to. One that the revision does not require came later than it."""

    name: str
    required: bool
    checks: Mapping[Status, int]
    complaints: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed, and nothing was warned of."""
        return not self.complaints


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a run ended. ``code`` is 0 where exactly the scenarios of the baseline failed."""

    code: int
    printed: str
    scenarios: tuple[Scenario, ...]
    extensions: tuple[Scenario, ...] = ()

    @property
    def required(self) -> tuple[Scenario, ...]:
        """The scenarios that count."""
        return tuple(each for each in self.scenarios if each.required)

    @property
    def passed(self) -> int:
        """How many of these passed."""
        return sum(each.passed for each in self.required)


def is_installed() -> bool:
    """Whether Node.js and the suite are there."""
    return NODE.is_file() and PACKAGE.is_dir()


def scenarios_of_suite() -> dict[str, list[str]]:
    """All scenarios that the suite has, by the title of their group."""
    done = _run("list", folder=MODULES)
    groups: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if name := re.match(r"  - (\S+)", line):
            groups[[*groups][-1]].append(name[1])
        elif line.strip():
            groups[line.partition(" (")[0]] = []
    return groups


def baseline_of(revision: str) -> Path:
    """The scenarios of a revision that are not met, each with its reason."""
    return Path(__file__).with_name(f"baseline-{revision}.yml")


def judge(url: str, revision: str, folder: Path) -> Verdict:
    """Run the scenarios that a revision requires; ``folder`` gets what each of their checks found.

    With a baseline, the suite takes a warning for a failure, and a scenario of it that passes, too.
    """
    baseline = ("--expected-failures", baseline_of(revision))
    done = _run("server", "--url", url, "--requirements", revision, *baseline, "-o", folder, folder=folder)
    requirements = yaml.safe_load((PACKAGE / "requirements" / f"{revision}.yaml").read_text("utf-8"))
    required = requirements["server"]
    extensions = {each["scenario"] for each in requirements["not_scored"] if each["reason"] == "extension"}
    found = {_name(each): _read(each / "checks.json") for each in sorted(folder.glob("server-*"))}
    names = [name for name in dict.fromkeys([*required, *found]) if name not in extensions]
    scenarios = tuple(_scenario(name, found.get(name, []), required=name in required) for name in names)
    return Verdict(code=done.returncode, printed=done.stdout + done.stderr, scenarios=scenarios)


def judge_scenario(url: str, name: str, revision: str, folder: Path) -> Scenario:
    """Run one scenario, of an extension also at a revision that does not name the extension."""
    chosen = ("--scenario", name, "--spec-version", revision, "--force")
    _run("server", "--url", url, *chosen, "-o", folder, folder=folder)
    checks = [check for each in folder.glob(f"server-{name}-*") for check in _read(each / "checks.json")]
    return _scenario(name, checks, required=False)


def _run(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NODE, PACKAGE / "dist" / "index.js", *arguments],
        env={"HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def _name(folder: Path) -> str:
    found = re.fullmatch(r"server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z", folder.name)
    assert found, folder
    return found[1]


def _read(file: Path) -> list[dict[str, Any]]:
    """The checks of a scenario; none where it broke off."""
    checks: list[dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else []
    return checks


def _scenario(name: str, checks: list[dict[str, Any]], *, required: bool) -> Scenario:
    complaints = [
        f"{check['id']}: {check.get('errorMessage', check['description'])}"
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    ]
    return Scenario(
        name=name,
        required=required,
        checks=Counter(check["status"] for check in checks),
        complaints=tuple(complaints if checks else ["it was not run"]),
    )
