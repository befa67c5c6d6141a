"""The lines of `stile connect` in real clients, against `stile dev` as it is deployed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.clients.inspector import LAUNCHER, MODULES, NODE
from tests.commands.running import FILES, Stile
from tests.commands.test_dev import running_dev
from tests.commands.test_dev_doors import ready
from tests.support.endpoints import write_endpoint
from tests.support.require import requires

VARIABLE = "API_THINGS_KEY"
PROXY = MODULES / "mcp-remote" / "dist" / "proxy.js"


@dataclass(frozen=True)
class Connecting:
    """An endpoint that takes only the holders of its key, and the command that gives its lines."""

    stile: Stile
    port: str
    key: str

    def lines(self, client: str, *options: str) -> str:
        """What `stile connect` prints for a client with the key."""
        done = self.stile("connect", client, "--as", "key:partner", "--port", self.port, *options)
        assert done.code == 0, done.err
        return done.out


@pytest.fixture
def connecting(workplace: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Connecting]:
    stile = Stile(capsys)
    made = json.loads(stile.unsearched("key", "partner", "--claims", '{"kind": "partner"}', "--json").out)
    entry = {name: made[name] for name in ("name", "sha256", "claims")}
    policies = "access: {policies: [{type: Query, policyDefault: {condition: '$jwt.kind:String == \"partner\"'}}]}"
    config = f"upstream: {{url: 'https://things.example/graphql'}}\n{policies}\n"
    write_endpoint(workplace, {**FILES, "config.yaml": f"{config}identity: {json.dumps({'api_keys': [entry]})}\n"})
    with running_dev(".", "--as-deployed") as dev:
        ready(dev)
        yield Connecting(stile, dev.url.rpartition(":")[2], made["key"])


async def listed(transport: Any) -> list[str]:
    async with Client(transport) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


def test_line_for_the_inspector_lists_the_tools(connecting: Connecting, tmp_path: Path) -> None:
    requires("node", LAUNCHER.is_file(), "`make clients` installs the MCP Inspector with npm")
    line = connecting.lines("inspector").strip()
    command = line.replace("npx @modelcontextprotocol/inspector", f"{NODE} {LAUNCHER}")
    assert command != line

    runs = [
        subprocess.run(
            ["sh", "-c", f"{command} --format json --quiet"],
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], VARIABLE: key},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        for key in (connecting.key, "stile_wrong")
    ]

    assert [tool["name"] for tool in json.loads(runs[0].stdout)["result"]["tools"]] == ["a"]
    assert runs[1].returncode != 0


def test_members_for_claude_desktop_start_a_bridge_to_the_tools(connecting: Connecting, tmp_path: Path) -> None:
    requires("node", PROXY.is_file(), "`make clients` installs mcp-remote with npm")
    entry = json.loads(connecting.lines("claude-desktop"))["mcpServers"]["api-things"]
    assert entry["args"][:2] == ["-y", "mcp-remote"]

    bridge = StdioServerParameters(
        command=str(NODE),
        args=[str(PROXY), *entry["args"][2:]],
        env={"HOME": str(tmp_path), "PATH": "/nowhere", VARIABLE: connecting.key},
    )

    assert asyncio.run(listed(stdio_client(bridge))) == ["a"]


@pytest.mark.parametrize("client", ["claude-code", "vscode", "cursor", "json"])
def test_members_with_the_variable_filled_in_let_the_official_sdk_in(connecting: Connecting, client: str) -> None:
    members = json.dumps(json.loads(connecting.lines(client, "--json"))["members"])
    filled, count = re.subn(r"\$\{(?:env:|input:)?" + VARIABLE + r"\}", connecting.key, members)
    assert count == 1
    ((entry,),) = (servers.values() for servers in json.loads(filled).values() if isinstance(servers, dict))

    async def use() -> list[str]:
        async with httpx2.AsyncClient(headers=entry["headers"]) as http:
            return await listed(streamable_http_client(entry["url"], http_client=http))

    assert asyncio.run(use()) == ["a"]


def test_key_of_codex_is_a_bearer_token(connecting: Connecting) -> None:
    words = connecting.lines("codex").split()
    assert words[-2:] == ["--bearer-token-env-var", VARIABLE]

    async def use() -> list[str]:
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {connecting.key}"}) as http:
            return await listed(streamable_http_client(words[words.index("--url") + 1], http_client=http))

    assert asyncio.run(use()) == ["a"]
