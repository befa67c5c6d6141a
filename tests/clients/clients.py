"""Real MCP clients, each a small program in its own language and environment, whose user agrees to everything."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.inspector import MODULES, NODE
from tests.conftest import ROOT

PROGRAMS = Path(__file__).parent / "programs"
ENVIRONMENTS = ROOT / ".stile"

TIMEOUT_S = 180

Calls = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a client got: the revision it settled on, the server, the names of the tools, the results of the calls."""

    revision: str
    server: dict[str, Any] | None  # as the client has it: a client that asks for nothing first has none
    tools: list[str]
    answers: list[dict[str, Any]]
    questions: list[str]  # what its user was asked, and agreed to


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One way to use one package. ``needs`` is what ``STILE_REQUIRE`` calls its environment; empty: the tests' own."""

    name: str
    mode: str
    program: str
    runtime: Path
    package: str
    lock: Path
    needs: str = ""
    packages: Path | None = None  # node_modules

    @property
    def version(self) -> str:
        """The version of the package in the lock."""
        return locked_version(self.lock, self.package)

    @property
    def installed(self) -> bool:
        """Tell whether the environment is there."""
        return self.runtime.exists() and (self.packages is None or (self.packages / self.package).is_dir())

    def run(self, url: str, calls: Calls, *, home: Path = Path("/nonexistent")) -> subprocess.CompletedProcess[str]:
        """Connect, list the tools, and make the calls; the last line that is printed is the result as JSON."""
        given: list[str | Path] = [url, self.mode, *([self.packages] if self.packages else [])]
        return subprocess.run(
            [self.runtime, PROGRAMS / self.program, *given],
            input=json.dumps(calls),
            env={"HOME": str(home), "MCP_USE_ANONYMIZED_TELEMETRY": "false", "DO_NOT_TRACK": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RealClient(Program):
    """One way to use one client."""

    revision: str  # that it settles on with us

    def use(self, url: str, calls: Calls) -> Session:
        """Connect, list the tools, and make the calls."""
        done = self.run(url, calls)
        assert done.returncode == 0, done.stderr
        return Session(**json.loads(done.stdout))


MODERN = "2026-07-28"
LEGACY = "2025-11-25"


NPM_LOCK = Path(__file__).with_name("package-lock.json")
REQUIREMENTS = ROOT / "requirements"


def locked_version(lock: Path, package: str) -> str:
    """The version of a package in a lock file of npm's or pip's."""
    text = lock.read_text("utf-8")
    if lock.suffix == ".json":
        return str(json.loads(text)["packages"][f"node_modules/{package}"]["version"])
    found = re.search(rf"^{package}==(\S+)", text, re.MULTILINE)
    assert found, f"{lock} has no {package}"
    return found[1]


def _python(name: str, mode: str, revision: str, *, program: str, environment: str = "") -> RealClient:
    return RealClient(
        name=name,
        mode=mode,
        revision=revision,
        program=program,
        runtime=ENVIRONMENTS / environment / "bin" / "python" if environment else Path(sys.executable),
        package="fastmcp" if environment == "familiar" else "mcp",
        lock=REQUIREMENTS / f"{environment or 'dev'}.txt",
        needs="fastmcp" if environment == "familiar" else environment,
    )


def _typescript(name: str, mode: str, revision: str, *, program: str) -> RealClient:
    return RealClient(
        name=name,
        mode=mode,
        revision=revision,
        program=program,
        runtime=NODE,
        package="@modelcontextprotocol/" + {"ts1.mjs": "sdk", "ts2.mjs": "client"}[program],
        lock=NPM_LOCK,
        needs="node",
        packages=MODULES,
    )


CLIENTS = (
    _python("Python SDK 2", "auto", MODERN, program="mcp2.py"),
    _python("Python SDK 2", "legacy", LEGACY, program="mcp2.py"),
    _python("Python SDK 2", MODERN, MODERN, program="mcp2.py"),
    _python("Python SDK 1", "legacy", LEGACY, program="mcp1.py", environment="mcp1"),
    _python("FastMCP 4", "auto", MODERN, program="fastmcp4.py", environment="familiar"),
    _typescript("TypeScript SDK 1", "default", LEGACY, program="ts1.mjs"),
    _typescript("TypeScript SDK 2", "default", LEGACY, program="ts2.mjs"),
    _typescript("TypeScript SDK 2", "auto", MODERN, program="ts2.mjs"),
    _typescript("TypeScript SDK 2", "pinned", MODERN, program="ts2.mjs"),
)
