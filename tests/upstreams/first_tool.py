"""From the URL of an API to a tool that the official client calls, over real servers: ``make first-tool``.

Two commands are typed in an empty folder: ``stile init`` and ``stile dev``. The seconds of each step are printed, with
the start of the server left out.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.commands.running import interrupt
from tests.conftest import ROOT
from tests.upstreams.serving import SDL, SERVERS, Server, running

FOLDER = "shop/api"
MAX_TOTAL_S = 60.0
"""The time that a newcomer is promised on a machine of two cores that nobody else uses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """A server, and how it is started. ``sdl``: its schema is given as a file, because introspection is off."""

    server: Server
    environ: Mapping[str, str] = field(default_factory=dict)
    sdl: str = ""


def _server(name: str) -> Server:
    return next(server for server in SERVERS if server.name.lower().replace("graphql ", "").startswith(name))


APIS = {
    "yoga": Api(server=_server("yoga")),
    "strawberry": Api(server=_server("strawberry")),
    "apollo": Api(server=_server("apollo"), environ={"NODE_ENV": "development"}),
    "postgraphile": Api(server=_server("postgraphile")),
    "off": Api(server=_server("apollo"), sdl=SDL),  # in production Apollo Server refuses introspection
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The seconds of each step, and the tool that answered."""

    init_s: float
    dev_s: float
    client_s: float
    tool: str

    @property
    def total_s(self) -> float:
        return self.init_s + self.dev_s + self.client_s


class NoTool(Exception):
    """A step failed. The message has what it printed."""


def walk(api: Api, folder: Path) -> Steps:
    """Take all steps in an empty folder, with the server running."""
    with running(api.server, PYTHONWARNINGS="ignore", **api.environ) as urls:
        words = ["--from", urls["plain"]]
        if api.sdl:
            (folder / "schema.graphql").write_text(api.sdl, encoding="utf-8")
            words = ["--from", "schema.graphql", "--url", urls["plain"]]
        began = time.monotonic()
        made = _stile(["init", FOLDER, *words, "--access", "open"], folder)
        out, err = made.communicate(timeout=MAX_TOTAL_S)
        if made.returncode:
            raise NoTool(out + err)
        served_from = time.monotonic()
        with _served(folder) as url:
            asked_from = time.monotonic()
            tool = asyncio.run(_first_answer(url))
            ended = time.monotonic()
    return Steps(init_s=served_from - began, dev_s=asked_from - served_from, client_s=ended - asked_from, tool=tool)


def _stile(words: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "handler", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _served(folder: Path) -> Any:
    """Serve the folder with ``stile dev``; give the endpoint's URL."""
    process = _stile(["dev", ".", "--port", "0"], folder)
    try:
        url = ""
        for line in process.stdout or ():
            url = url or line.partition(": ")[0] * line.startswith("http")
            if line.startswith("Serving;"):
                break
        if not url:
            raise NoTool(process.communicate()[1])
        yield url
    finally:
        interrupt(process)
        process.communicate()


async def _first_answer(url: str) -> str:
    """Return the first tool that answers without an error, when called without arguments."""
    async with Client(url, mode="auto") as client:
        refusals = []
        for tool in (await client.list_tools()).tools:
            if tool.input_schema.get("required"):
                continue
            result = await client.call_tool(tool.name, {})
            if not result.is_error:
                return tool.name
            refusals.append(f"{tool.name}: {result.content}")
    raise NoTool(f"no tool answered: {refusals}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="first_tool", description=__doc__)
    parser.add_argument("apis", nargs="*", metavar="API", help=f"{', '.join(APIS)} (default: all)")
    names = parser.parse_args().apis or list(APIS)
    if set(names) - set(APIS):
        parser.error(f"expected some of {', '.join(APIS)}")
    print(f"{'API':<42}{'init':>7}{'dev':>7}{'client':>8}{'all':>7}  tool")  # noqa: T201
    failed = False
    for name in names:
        api = APIS[name]
        label = f"{api.server.name}{', introspection off' if api.sdl else ''}"
        try:
            api.server.require()
            with tempfile.TemporaryDirectory() as folder:
                steps = walk(api, Path(folder))
        except pytest.skip.Exception as exc:
            print(f"{label:<42}skipped: {exc}")  # noqa: T201
            continue
        except (NoTool, pytest.fail.Exception) as exc:
            print(f"{label:<42}failed: {exc}")  # noqa: T201
            failed = True
            continue
        seconds = f"{steps.init_s:>6.1f}s{steps.dev_s:>6.1f}s{steps.client_s:>7.1f}s{steps.total_s:>6.1f}s"
        print(f"{label:<42}{seconds}  {steps.tool}", flush=True)  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
