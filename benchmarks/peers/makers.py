"""Who makes tools of an API: Stile, and the peers, each in an environment of its own below ``.stile/peers``."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from benchmarks.peers.cases import ROOT, Api, operation_of
from benchmarks.peers.upstream import running_api
from handler.compiler.compile import compile_endpoint
from tests.support.local_entries import local_entries

HERE = Path(__file__).parent
ENVIRONMENTS = ROOT / ".stile" / "peers"

ANSWER_S = 60

JSONObject = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """What makes tools of an API, and how it does that."""

    name: str
    version: str
    manner: str
    tools: Callable[[Api], list[JSONObject]]
    """The ``tools/list`` entries. None, if it could not be started on this API."""


def find_makers() -> list[Maker]:
    """Stile first. Installs the peers where they are not yet."""
    remote = "from graphql_mcp import GraphQLMCP; import sys; GraphQLMCP.from_remote_url(sys.argv[1], name='p').run()"
    fields, names = _python("graphql-mcp"), _python("mcp-graphql")
    node = _npm("mcp-graphql")
    return [
        Maker(
            name="Stile",
            version="",
            manner="an operation each, written by the author",
            tools=stile_tools,
        ),
        Maker(
            name="graphql-mcp (PyPI)",
            version=_pinned("graphql-mcp"),
            manner="a root field each, and fields below that take arguments",
            tools=lambda api: _listed(api, [f"{fields}/python", "-c", remote, "URL"]),
        ),
        Maker(
            name="mcp-graphql (PyPI)",
            version=_pinned("mcp-graphql"),
            manner="a query field each, no mutations",
            tools=lambda api: _listed(api, [f"{names}/mcp-graphql", "--api-url", "URL"]),
        ),
        Maker(
            name="mcp-graphql (npm)",
            version="2.0.4",
            manner="one for any request, one that gives the whole schema",
            tools=lambda api: _listed(api, ["node", f"{node}/mcp-graphql/dist/index.js"]),
        ),
    ]


def stile_tools(api: Api) -> list[JSONObject]:
    """Compile an endpoint folder with an operation for each root field."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "api" / api.name
        (folder / "operations").mkdir(parents=True)
        (folder / "index.graphql").write_text(api.sdl, encoding="utf-8")
        for kind, name, field in api.fields():
            operation = operation_of(kind, name, field)
            (folder / "operations" / f"{name}.graphql").write_text(operation, encoding="utf-8")
        made = compile_endpoint(folder)
    return local_entries(made)


def _listed(api: Api, command: Sequence[str]) -> list[JSONObject]:
    with running_api(api.schema) as url:
        program, *arguments = [url if word == "URL" else word for word in command]
        server = StdioServerParameters(
            command=program,
            args=arguments,
            env={**os.environ, "ENDPOINT": url, "ALLOW_MUTATIONS": "true"},
        )
        try:
            return asyncio.run(asyncio.wait_for(_ask(server), ANSWER_S))
        except* (MCPError, TimeoutError) as failed:
            print(f"{api.name}: {' '.join(command[:2])}: {failed.exceptions[0]!r}", file=sys.stderr)
    return []


async def _ask(server: StdioServerParameters) -> list[JSONObject]:
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - what the peer logs
        async with Client(stdio_client(server, errlog=nowhere), mode="legacy") as client:
            listed = await client.list_tools()
            assert listed.next_cursor is None
            return [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in listed.tools]


def _python(name: str) -> Path:
    folder = ENVIRONMENTS / name
    if not (folder / "bin" / "pip").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", str(HERE / f"{name}.txt")]
        subprocess.run([str(folder / "bin" / "pip"), *install], check=True)
    return folder / "bin"


def _npm(name: str) -> Path:
    folder = ENVIRONMENTS / f"{name}-npm"
    if not (folder / "node_modules").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / file, folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True)
    return folder / "node_modules"


def _pinned(name: str) -> str:
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return next(line.partition("==")[2] for line in lines if line.startswith(f"{name}=="))
