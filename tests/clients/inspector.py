"""The command line of the official MCP Inspector, at the version that package-lock.json has."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.clients.node import node_of
from tests.conftest import ROOT

MODULES = ROOT / ".stile" / "node" / "node_modules"
LAUNCHER = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
NODE = node_of(MODULES)

TIMEOUT_S = 180

Era = Literal["legacy", "modern"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What ``--strict`` says of one place in a tool's schemas."""

    tool: str
    schema: str  # inputSchema or outputSchema
    path: str  # as properties.data.anyOf[0].properties.total
    rule: str
    severity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """How a run ended. ``printed`` is what it wrote as JSON."""

    code: int
    printed: dict[str, Any]
    complaints: str

    @property
    def result(self) -> Any:
        """The MCP result."""
        assert "result" in self.printed, self.complaints
        return self.printed["result"]

    @property
    def findings(self) -> list[Finding]:
        """Of ``tools/list`` with ``--strict``."""
        return [
            Finding(
                tool=tool["toolName"],
                **{key: finding[key] for key in ("schema", "path", "rule", "severity")},
            )
            for tool in self.printed.get("schemaFindings", [])
            for finding in tool["findings"]
        ]


@dataclass(frozen=True, slots=True)
class Inspector:
    """Runs the Inspector without a browser; ``home`` is where it keeps its settings."""

    home: Path

    def list_tools(self, url: str, *, era: Era) -> Inspected:
        """``tools/list``, with what is not portable in the tools' schemas."""
        return self._run(url, "--protocol-era", era, "--method", "tools/list", "--strict")

    def call(self, url: str, tool: str, arguments: dict[str, Any], *, era: Era) -> Inspected:
        """``tools/call``."""
        named = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        return self._run(url, "--protocol-era", era, "--method", "tools/call", *named)

    def list_skills(self, url: str, *, era: Era) -> Inspected:
        """``skills/list``."""
        return self._run(url, "--protocol-era", era, "--method", "skills/list")

    def app_info(self, url: str, tool: str, *, era: Era) -> Inspected:
        """The page that shows a tool's results, if it has one."""
        return self._run(url, "--protocol-era", era, "--method", "tools/call", "--tool-name", tool, "--app-info")

    def _run(self, url: str, *arguments: str) -> Inspected:
        done = subprocess.run(
            [NODE, LAUNCHER, "--cli", url, "--transport", "http", *arguments, "--format", "json", "--quiet"],
            env={"HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        return Inspected(code=done.returncode, printed=json.loads(done.stdout or "{}"), complaints=done.stderr)


def find_inspector(home: Path) -> Inspector | None:
    """The Inspector, if it was installed for this machine."""
    return Inspector(home) if NODE.is_file() and LAUNCHER.is_file() else None
