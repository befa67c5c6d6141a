"""Frameworks that hand MCP tools to a model, each used through its own tool objects, by a small program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.clients import ENVIRONMENTS, NPM_LOCK, REQUIREMENTS, Calls, Program
from tests.clients.inspector import MODULES, NODE


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One answer as a model would get it. ``text`` and ``structured`` are ``None`` if the framework gives none."""

    text: str | None
    structured: Any
    images: Sequence[str]  # base64, or URLs with it
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The result of a run: the tools, the schemas that the framework shows to its model, the answers."""

    tools: Sequence[str]
    schemas: Mapping[str, Any]
    strict: Sequence[str]  # the tools whose arguments have to be complete
    answers: Sequence[Told | None]  # None if the framework has no such tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework(Program):
    """One way to use one framework."""

    def use(self, url: str, calls: Calls, *, home: Path) -> Use:
        """Take over the tools, and call them.

        Raises:
            ProgramFailed: the framework broke off.
        """
        done = self.run(url, calls, home=home)
        if done.returncode != 0:
            raise ProgramFailed(done.stderr)
        printed = json.loads(done.stdout.splitlines()[-1])
        answers = [each and Told(**each) for each in printed["answers"]]
        return Use(
            tools=printed["tools"], schemas=printed["schemas"], strict=printed.get("strict", []), answers=answers
        )


class ProgramFailed(Exception):
    """The words of a framework that broke off."""


def _python(name: str, mode: str, *, program: str, package: str, environment: str) -> Framework:
    return Framework(
        name=name,
        mode=mode,
        program=program,
        runtime=ENVIRONMENTS / environment / "bin" / "python",
        package=package,
        lock=REQUIREMENTS / f"{environment}.txt",
        needs=environment,
    )


def _javascript(
    name: str, mode: str, *, program: str, package: str, packages: Path = MODULES, lock: Path = NPM_LOCK
) -> Framework:
    return Framework(
        name=name,
        mode=mode,
        program=program,
        runtime=NODE,
        package=package,
        lock=lock,
        needs="node",
        packages=packages,
    )


_OPENAI = {"program": "openai_agents.py", "package": "openai-agents", "environment": "agents"}
_CHAINS = {"package": "langchain-mcp-adapters", "environment": "chains"}

FRAMEWORKS = (
    _python("OpenAI Agents, Python", "plain", **_OPENAI),
    _python("OpenAI Agents, Python", "strict", **_OPENAI),
    _python(
        "Pydantic AI",
        "OpenAI's schemas",
        program="pydanticai.py",
        package="pydantic-ai-slim",
        environment="agents",
    ),
    _python("LlamaIndex", "default", program="llamaindex.py", package="llama-index-tools-mcp", environment="agents"),
    _python("Google ADK", "default", program="adk.py", package="google-adk", environment="agents"),
    _python("LangChain, Python", "default", program="langchain_adapters.py", **_CHAINS),
    _python("mcp-use", "LangChain", program="mcpuse.py", package="mcp-use", environment="chains"),
    _javascript("LangChain, JavaScript", "default", program="langchain.mjs", package="@langchain/mcp-adapters"),
    _javascript("OpenAI Agents, JavaScript", "plain", program="openai.mjs", package="@openai/agents"),
    _javascript("OpenAI Agents, JavaScript", "strict", program="openai.mjs", package="@openai/agents"),
    _javascript("Vercel AI SDK", "default", program="vercel.mjs", package="@ai-sdk/mcp"),
    _javascript("Mastra", "default", program="mastra.mjs", package="@mastra/mcp"),
    _javascript(
        "Mastra before 1.0",
        "default",
        program="mastra.mjs",
        package="@mastra/mcp",
        packages=ENVIRONMENTS / "node-mastra0" / "node_modules",
        lock=Path(__file__).parent / "mastra0" / "package-lock.json",
    ),
    _javascript("mcp-remote", "default", program="remote.mjs", package="mcp-remote"),
)
