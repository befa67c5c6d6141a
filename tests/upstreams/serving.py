"""Real GraphQL servers in processes of their own, each with all the variants of one API."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from examples.postgraphile.__main__ import find_programs, postgresql
from examples.run import Refusal
from tests.conftest import ROOT
from tests.support.require import requires
from tests.support.upstream import free_port, stop

HERE = Path(__file__).parent
PROGRAMS = HERE / "servers"
STILE = ROOT / ".stile"
VARIANTS = (
    *("plain", "renamed", "enum", "changed", "limited", "401", "403", "429", "503", "slow", "dropped"),
    *("unauthenticated", "forbidden", "throttled"),
)
START_S = 60.0

SDL = """
type Query {
  fails: String
  failsHard: String!
  total: Int
  color: Color
  cut: String
  node: Node
  paint(color: Color, size: Size, mode: String): Int
  coat: Int
}
type Mutation { pay: Int order: Order }
type Order { id: Int! }
type Node { child: Node name: String }
input Size { width: Int depth: Int }
enum Color { RED GREEN }
"""
OPERATIONS = {
    "fails": "query Fails @mcpTool { fails total }",
    "failsHard": "query FailsHard @mcpTool { failsHard }",
    "total": "query Total @mcpTool { total }",
    "color": "query Color @mcpTool { color }",
    "cut": "query Cut @mcpTool { cut }",
    "deep": "query Deep @mcpTool { node { child { child { child { child { name } } } } } }",
    "pay": "mutation Pay @mcpTool { pay }",
    "order": "mutation Order @mcpTool { order { id } }",
    "paintColor": "query PaintColor($color: Color) @mcpTool { paint(color: $color) }",
    "paintSize": "query PaintSize($size: Size) @mcpTool { paint(size: $size) }",
    "paintMode": "query PaintMode($mode: String) @mcpTool { paint(mode: $mode) }",
    "coat": "query Coat @mcpTool { coat }",
}
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "paintColor": {"color": "GREEN"},
    "paintSize": {"size": {"depth": 3}},
    "paintMode": {"mode": "matt"},
}
"""Arguments of the tools that have some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server, how it is started, and the schema and operations that are published of it."""

    name: str
    program: str
    sdl: str = SDL
    operations: Mapping[str, str] = field(default_factory=lambda: OPERATIONS)
    missing: Mapping[str, str] = field(default_factory=dict)  # case -> why it cannot be provoked
    variants: tuple[str, ...] = VARIANTS

    def command(self) -> list[str]:
        """What starts it, without its variants."""
        path = str(PROGRAMS / self.program)
        if path.endswith(".py"):
            return [str(_python(self.program)), path]
        return ["node", path]

    def require(self) -> None:
        """Skip where the server is not installed."""
        if self.program.endswith(".py"):
            requires("upstreams", _python(self.program).exists(), "`make upstreams` installs its environment")
            return
        installed = shutil.which("node") and _modules(self.program).is_dir()
        requires("node", installed, "`make upstreams` installs the server with npm")
        if self.program == POSTGRAPHILE:
            requires("postgres", _has_postgresql(), "install PostgreSQL")


POSTGRAPHILE = "postgraphile.cjs"
POSTGRAPHILE_SDL = """
type Query { fails: String total: Int color: Color cut: String paint(color: Color, mode: String): Int coat: Int }
type Mutation { pay(input: PayInput!): PayPayload }
input PayInput { slow: Boolean }
type PayPayload { integer: Int }
enum Color { RED GREEN }
"""
SERVERS = (
    Server(name="GraphQL Yoga 5.24.1", program="yoga.cjs"),
    Server(name="Apollo Server 5.5.1", program="apollo.cjs"),
    Server(name="Mercurius 16.10.1", program="mercurius.cjs"),
    Server(
        name="PostGraphile 4.14.1",
        program=POSTGRAPHILE,
        sdl=POSTGRAPHILE_SDL,
        operations={
            **{
                name: OPERATIONS[name] for name in ("fails", "total", "color", "cut", "paintColor", "paintMode", "coat")
            },
            "pay": "mutation Pay($slow: Boolean) @mcpTool { pay(input: {slow: $slow}) { integer } }",
        },
        missing={
            "resolver error, non-null": "functions of PostgreSQL may always return null",
            "null in a new order": "functions of PostgreSQL may always return null",
            "input field gone, in a variable": "functions of PostgreSQL take no input objects",
            "depth limit": "it has none of its own",
            "200 and UNAUTHENTICATED": "errors of functions have no code",
            "200 and FORBIDDEN": "errors of functions have no code",
            "200 and THROTTLED": "errors of functions have no code",
            "truncated emoji": "PostgreSQL cuts texts between characters",
        },
    ),
    Server(name="graphql-http 1.23.1", program="graphql_http.cjs"),
    Server(name="GraphQL Helix 1.13.0", program="helix.cjs"),
    Server(name="Strawberry 0.341.2", program="strawberry_api.py"),
    Server(name="Ariadne 1.1.1", program="ariadne_api.py"),
    Server(name="Graphene 3.4.3", program="graphene_api.py"),
)


def _python(program: str) -> Path:
    """The interpreter of a server's environment. Graphene takes an older graphql-core than the others."""
    environment = "upstreams-graphene" if program.startswith("graphene") else "upstreams"
    return STILE / environment / "bin" / "python"


def _modules(program: str) -> Path:
    return STILE / ("node-postgraphile" if program == POSTGRAPHILE else "node-upstreams") / "node_modules"


def _has_postgresql() -> bool:
    try:
        return find_programs().is_dir()
    except Refusal:
        return False


@contextlib.contextmanager
def running(server: Server, **environ: str) -> Iterator[Mapping[str, str]]:
    """The URLs of a server's variants, while it runs with these variables in its environment."""
    with contextlib.ExitStack() as stack:
        words: list[str] = []
        if server.program == POSTGRAPHILE:
            folder = _database(stack)
            words = [str(folder)]
        ports = {variant: free_port() for variant in server.variants}
        words += [f"{variant}:{port}" for variant, port in ports.items()]
        own = {"NODE_PATH": str(_modules(server.program)), "NODE_ENV": "production"}
        process = subprocess.Popen([*server.command(), *words], env={**os.environ, **own, **environ})
        stack.callback(stop, process)
        urls = {variant: f"http://127.0.0.1:{port}/graphql" for variant, port in ports.items()}
        _wait(process, urls.values())
        yield urls


def _database(stack: contextlib.ExitStack) -> Path:
    folder, _ = stack.enter_context(postgresql())
    command = [str(find_programs() / "psql"), "-h", str(folder), "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1"]
    subprocess.run([*command, "-f", str(PROGRAMS / "postgraphile.sql")], check=True)
    return folder


def _wait(process: subprocess.Popen[bytes], urls: Iterable[str]) -> None:
    """Wait until each URL answers, with whatever."""
    deadline = time.monotonic() + START_S
    with urllib3.PoolManager(retries=False, timeout=5) as http:
        for url in urls:
            while True:
                try:
                    http.request("POST", url, json={"query": "{ __typename }"})
                    break
                except urllib3.exceptions.HTTPError as exc:
                    if isinstance(exc, urllib3.exceptions.ProtocolError):
                        break  # it answers, in a way that the variant is for
                    if process.poll() is not None or time.monotonic() > deadline:
                        sys.exit(f"{process.args!r} did not start")
                    time.sleep(0.1)
