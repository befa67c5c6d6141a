"""GraphQL over HTTP's public audit, run against a URL by Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

HOME = ROOT / ".stile" / "node-audit"
"""Where ``make audit`` installs it."""

TIMEOUT_S = 180

LEVELS = {"MUST": 13, "SHOULD": 23, "MAY": 25}
"""How many checks each level has: with fewer of them, passing would mean less."""


@dataclass(frozen=True)
class Finding:
    """What one check found. ``status`` is ``ok``, or what its level makes of a failure."""

    id: str
    name: str
    status: str
    reason: str

    @property
    def level(self) -> str:
        """MUST, SHOULD or MAY."""
        return self.name.split()[0]

    def __str__(self) -> str:
        return f"{self.id} {self.name}: {self.reason}"


def is_installed() -> bool:
    """Whether Node.js and the audit are there."""
    return shutil.which("node") is not None and (HOME / "node_modules" / "graphql-http").is_dir()


def audit(url: str) -> list[Finding]:
    """What each check of the audit found at a URL."""
    return [Finding(**found) for found in json.loads(_run("audit.mjs", url))]


def downloaded_schema(url: str) -> str:
    """The SDL that graphql-js makes of what a URL answers to GraphiQL's introspection query."""
    return _run("introspect.mjs", url)


def passed(findings: Sequence[Finding]) -> dict[str, int]:
    """How many checks of each level passed."""
    return {level: sum(found.level == level and found.status == "ok" for found in findings) for level in LEVELS}


def _run(script: str, url: str) -> str:
    done = subprocess.run(
        ["node", str(Path(__file__).with_name(script)), str(HOME), url],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    return done.stdout
