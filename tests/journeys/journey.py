"""A reader in an empty folder, who knows README and the pages that it links to, and types their commands."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult

from tests.conftest import ROOT
from tests.docs.pages import blocks, read
from tests.docs.test_links import linked_from
from tests.support.secrecy import SESSION, Output

WAIT_S = 120
READY = "Ctrl-C ends it."
COMMANDS = ("sh", "console", "bash", "text")
"""The languages of blocks with commands."""


@cache
def pages_of_readme() -> frozenset[str]:
    """README, the pages that it links to, and the pages that those link to."""
    first = {"README.md", *linked_from("README.md")}
    return frozenset(first.union(*(linked_from(page) for page in first if page.endswith(".md"))))


def commands_of(page: str) -> list[str]:
    """The commands in the blocks of a page, as a reader types them."""
    assert page in pages_of_readme(), f"README does not lead to {page}"
    lines = []
    for block in blocks(read(page)):
        if block.language in COMMANDS and not block.file:
            text = re.sub(r"\s*\\\n\s*", " ", block.text)
            typed = text.splitlines() if block.language != "console" else re.findall(r"^\$ (.*)$", text, re.MULTILINE)
            lines += [line.replace(".venv/bin/", "") for line in typed]
    return lines


@dataclass(slots=True)
class Journey:
    """The commands that were typed, and the lines that were written or pasted into files."""

    folder: Path
    environ: dict[str, str]
    commands: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, words in (("stile", f"{sys.executable} -m handler"), ("python", sys.executable)):
            file = self.folder / ".venv/bin" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            file.chmod(0o755)
        self.environ |= {
            "PATH": f"{self.folder / '.venv/bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(self.folder / ".venv/state"),
            "HOME": str(self.folder / ".venv"),
        }

    def command(self, page: str, beginning: str, own: Mapping[str, str], *, more: str = "") -> str:
        """Note a command of a page, with the reader's own words in place of the page's, and return it."""
        found = [line for line in commands_of(page) if line.startswith(beginning)]
        assert found, f"{page} has no command that begins with {beginning}"
        line = found[0]
        for word, replacement in own.items():
            assert word in line, f"{page}: {line} has no {word}"
            line = line.replace(word, replacement)
        self.commands.append(line + more)
        return line + more

    def run(self, page: str, beginning: str, own: Mapping[str, str] | None = None) -> str:
        """Run a command of a page to its end, and return what it prints."""
        line = self.command(page, beginning, own or {})
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env={**os.environ, **self.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}"
        return done.stdout

    @contextmanager
    def serving(self, page: str, beginning: str, own: Mapping[str, str], *, more: str = "") -> Iterator[int]:
        """Run a command of a page that serves, until the block ends; give its port."""
        line = self.command(page, beginning, own, more=more)
        process = subprocess.Popen(
            ["bash", "-c", line],
            cwd=self.folder,
            env={**os.environ, **self.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout
        printed = ""
        try:
            for each in process.stdout:
                printed += each
                if READY in each:
                    break
            port = re.search(r"on port (\d+) of|http://127\.0\.0\.1:(\d+)/", printed)
            assert port, f"{line}\n{printed}"
            yield int(port[1] or port[2])
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            SESSION.note(Output.PROCESS, printed + process.communicate(timeout=WAIT_S)[0])

    def write(self, name: str, text: str, *, below: str = "") -> None:
        """Write lines to a file: to its end, or below the line ``below``."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        assert not below or before.count(below) == 1, f"{name}: {before}"
        head, mark, tail = before.partition(below) if below else (before, "", "")
        file.write_text(f"{head}{mark}{text}{tail}", encoding="utf-8")
        self.lines += [line for line in text.splitlines() if line.strip()]

    def replace(self, name: str, changes: Mapping[str, str]) -> None:
        """Write whole lines of a file anew."""
        file = self.folder / name
        text = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert text.count(old) == 1, f"{name}: {text}"
            text = text.replace(old, new)
            self.lines += new.splitlines()
        file.write_text(text, encoding="utf-8")

    def block(self, page: str, file: str, own: Mapping[str, str] | None = None) -> str:
        """The text of a file that a page shows, with the reader's own words."""
        assert page in pages_of_readme()
        (text,) = [block.text for block in blocks(read(page)) if block.file == file]
        for word, replacement in (own or {}).items():
            assert word in text, f"{page}: {file} has no {word}"
            text = text.replace(word, replacement)
        return text

    def connected(self, printed: str, key: str = "") -> dict[str, Any]:
        """The member of a client's file that ``stile connect`` printed, with the key in place of its variable."""
        (server,) = json.loads(printed[printed.index("{") : printed.rindex("}") + 1])["mcpServers"].values()
        headers = {name: re.sub(r"\$\{\w+\}", key, text) for name, text in server.get("headers", {}).items()}
        return {"url": server["url"], "headers": headers}


def ask(
    server: Mapping[str, Any], calls: Sequence[tuple[str, Mapping[str, Any]]], *, via: str = ""
) -> tuple[list[str], list[str], list[str]]:
    """Let the official client list the tools and call some: the names, the texts of results, and the questions.

    ``via`` is the origin that answers in place of the URL's, as a name of the domain would lead to it.
    """
    return asyncio.run(_ask(server, calls, via=via))


async def _ask(
    server: Mapping[str, Any], calls: Sequence[tuple[str, Mapping[str, Any]]], *, via: str
) -> tuple[list[str], list[str], list[str]]:
    questions: list[str] = []

    async def agree(context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    url, headers = server["url"], dict(server["headers"])
    if via:
        host, path = re.fullmatch(r"https?://([^/]+)(/.*)", url).groups()  # type: ignore[union-attr]
        url, headers["host"] = via + path, host
    async with (
        httpx2.AsyncClient(headers=headers, timeout=WAIT_S) as http,
        Client(streamable_http_client(url, http_client=http), elicitation_callback=agree) as client,
    ):
        names = sorted(tool.name for tool in (await client.list_tools()).tools)
        results = [await client.call_tool(name, dict(arguments)) for name, arguments in calls]
    for result in results:
        assert not result.is_error, result
    return names, [str(result.structured_content or result.content) for result in results], questions
