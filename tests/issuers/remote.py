"""mcp-remote, which brings clients of standard input and output to a server that people sign in for."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.issuers.browsing import sign_in
from tests.issuers.clients import Outcome, Step
from tests.issuers.providing import HOME, NODE
from tests.issuers.sites import Site
from tests.support.upstream import free_port

PROXY = HOME / "node_modules" / "mcp-remote" / "dist" / "proxy.js"

LISTENS_S = 60

OPENED = re.compile(r"^(https?://\S+\?\S*client_id=\S+)$")
"""The line with the URL that it opens for its person."""


def call_with_remote(site: Site, *, steps: Sequence[Step], home: Path) -> Outcome:
    """Make the calls through it. It keeps its tokens below ``home``, and tells nobody their scopes."""
    port = free_port()
    command = StdioServerParameters(
        command=str(NODE), args=[str(PROXY), f"{site.url}/mcp", str(port)], env={"HOME": str(home), "PATH": "/nowhere"}
    )
    with _person(f"http://localhost:{port}/") as (errors, callbacks):
        results = asyncio.run(_call(command, errors, steps))
    return Outcome(results=results, scopes=[], sign_ins=len(callbacks))


async def _call(command: StdioServerParameters, errors: TextIO, steps: Sequence[Step]) -> list[object]:
    results: list[object] = []
    async with Client(stdio_client(command, errlog=errors), mode="legacy") as client:
        for step in steps:
            if isinstance(step, str):
                results.append((await client.call_tool(step, {})).structured_content)
            else:
                await asyncio.sleep(step)
    return results


@contextmanager
def _person(redirect_uri: str) -> Iterator[tuple[TextIO, list[str]]]:
    """Somebody who follows each URL that is written to a file, and where each of them led to in the end."""
    source, sink = os.pipe()
    callbacks: list[str] = []

    def follow() -> None:
        with os.fdopen(source) as lines:
            for line in lines:
                if opened := OPENED.match(line.strip()):
                    callbacks.append(sign_in(opened[1], until=redirect_uri))
                    _visit(callbacks[-1])

    thread = threading.Thread(target=follow)
    thread.start()
    with os.fdopen(sink, "w") as errors:
        yield errors, callbacks
    thread.join()


def _visit(url: str) -> None:
    """Open a URL of the program, which may print what to open before it listens."""
    deadline = time.monotonic() + LISTENS_S
    with httpx2.Client(trust_env=False) as browser:
        while True:
            try:
                browser.get(url)
            except httpx2.ConnectError:
                assert time.monotonic() < deadline, f"nobody listens at {url.partition('?')[0]}"
                time.sleep(0.05)
            else:
                return
