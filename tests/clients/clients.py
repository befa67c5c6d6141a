"""Real MCP clients, each a small program in its own language and environment."""

from __future__ import annotations

import json
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

TIMEOUT_S = 60

Calls = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a client got: the revision it settled on, the names of the tools, the results in the order of the calls."""

    revision: str
    tools: list[str]
    answers: list[dict[str, Any]]
    questions: list[str]  # what its user was asked, and agreed to


@dataclass(frozen=True, slots=True, kw_only=True)
class RealClient:
    """One way to use one client. ``needs`` is what ``STILE_REQUIRE`` calls its environment; empty: the tests' own."""

    name: str
    mode: str
    revision: str  # that it settles on with us
    program: str
    runtime: Path
    needs: str = ""
    packages: Path | None = None  # node_modules

    @property
    def installed(self) -> bool:
        """Whether its environment is there."""
        return self.runtime.exists() and (self.packages is None or (self.packages / "@modelcontextprotocol").is_dir())

    def use(self, url: str, calls: Calls) -> Session:
        """Connect, list the tools, and make the calls."""
        given = [url, self.mode, *([self.packages] if self.packages else [])]
        done = subprocess.run(
            [self.runtime, PROGRAMS / self.program, *given],
            input=json.dumps(calls),
            env={"HOME": "/nonexistent"},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == 0, done.stderr
        return Session(**json.loads(done.stdout))


MODERN = "2026-07-28"
LEGACY = "2025-11-25"


def _python(name: str, mode: str, revision: str, *, program: str, environment: str = "") -> RealClient:
    runtime = ENVIRONMENTS / environment / "bin" / "python" if environment else Path(sys.executable)
    needs = {"familiar": "fastmcp"}.get(environment, environment)
    return RealClient(name=name, mode=mode, revision=revision, program=program, runtime=runtime, needs=needs)


def _typescript(name: str, mode: str, revision: str, *, program: str) -> RealClient:
    return RealClient(
        name=name, mode=mode, revision=revision, program=program, runtime=NODE, needs="node", packages=MODULES
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
