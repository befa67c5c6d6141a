"""Read a Markdown page, and follow it block by block as its reader would."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from handler.commands import COMMANDS
from handler.compiler.compile import compile_endpoint
from tests.commands.running import Stile
from tests.conftest import ROOT
from tests.support.function import Answer, running_function
from tests.support.secrecy import SESSION, Output
from tests.support.upstream import Upstream

DEMO_API = "http://127.0.0.1:8001/graphql"
"""The URL that pages name. A walk asks the API of the tests instead."""

FENCED = re.compile(r"^(?:`([^`\s]+)`\n\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)

NOT_RUN = ("aws", "claude", "git", "make", "sam")
"""Programs that a walk does not start: they need an account, a network or minutes."""

NOT_RUN_MODULES = ("pip", "pytest", "venv")
"""Modules of Python that a walk does not start."""


KNOWN = {
    "make": TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")),
    "sam": ["build", "deploy", "local"],
    "stile": list(COMMANDS),
}
"""The first words that a program takes."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. ``file`` is the name in the paragraph above it, and empty if there is none."""

    language: str
    text: str
    file: str
    line: int


def read(page: str) -> str:
    """The text of a page, by its path in the repository."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """Every fenced block of a page, in order."""
    return [
        Block(match[2], match[3], match[1] or "", text.count("\n", 0, match.start(2)) + 1)
        for match in FENCED.finditer(text)
    ]


def section(text: str, heading: str) -> str:
    """The text below a heading, up to the next heading of the same or a higher level."""
    start = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert start, heading
    end = re.search(rf"^#{{1,{len(start[1])}}} ", text[start.end() :], re.MULTILINE)
    return text[start.end() : start.end() + end.start()] if end else text[start.end() :]


def first_column(text: str) -> list[str]:
    """Each name in code style that the first column of the tables has."""
    rows = [re.split(r"(?<!\\)\|", line)[1] for line in text.splitlines() if line.startswith("| ")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


class Walk:
    """A folder in which a page is followed: the demo, its API running, and the files that the page writes."""

    def __init__(self, folder: Path, upstream: Upstream, stile: Stile) -> None:
        self.folder = folder
        self._upstream = upstream
        self._stile = stile
        shutil.copytree(ROOT / "examples" / "endpoints", folder / "examples" / "endpoints")
        shutil.copytree(ROOT / "examples" / "code", folder / "examples" / "code")
        config = folder / "examples" / "endpoints" / "api" / "customers" / "config.yaml"
        self.write(str(config.relative_to(folder)), config.read_text(encoding="utf-8"))
        for name in ("python", "stile"):
            self._program(name, sys.executable + (" -m handler" if name == "stile" else ""))

    def _program(self, name: str, command: str) -> None:
        file = self.folder / ".venv" / "bin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def follow(self, page: str, *, sessions: bool = True) -> int:
        """Do what the page shows, in its order, and return how many blocks did something.

        ``sessions``: whether commands whose output the page shows are run. Files and folders come about without them.
        """
        done = 0
        answer: Answer | None = None
        for block in blocks(read(page)):
            place = f"{page}:{block.line}"
            match block.language:
                case _ if block.file:
                    self.write(block.file, block.text)
                case "console" if sessions:
                    self._session(block.text, place)
                case "sh":
                    answer = self._shell(block.text, place)
                case "json" if answer is not None:
                    assert _same_json(answer, block.text), f"{place}: {answer.body.decode()}"
                    answer = None
                case _:
                    continue
            done += 1
        return done

    def write(self, name: str, text: str) -> None:
        """Write a file of the page, with the API of the tests in place of the demo's."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(DEMO_API, self._upstream.url), encoding="utf-8")

    def run(self, command: str) -> tuple[int, str]:
        """Run one line of shell as a reader has typed it: its exit code and all that it printed.

        A `stile` command that needs no shell runs in this process, which takes a tenth of the time.
        """
        command = command.replace(DEMO_API, self._upstream.url)
        program, *arguments = shlex.split(command)
        if Path(program).name == "stile" and ">" not in arguments:
            with contextlib.chdir(self.folder):
                ran = self._stile(*arguments)
            return ran.code, (ran.out + ran.err).replace(self._upstream.url, DEMO_API)
        environ = {
            "PATH": f"{self.folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder),
        }
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        SESSION.note(Output.PROCESS, done.stdout + done.stderr)
        return done.returncode, (done.stdout + done.stderr).replace(self._upstream.url, DEMO_API)

    def _session(self, text: str, place: str) -> None:
        """Run each ``$`` line, and hold what it prints against the lines below it."""
        for shown in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = shown.partition("\n")
            _, printed = self.run(command)
            # A slow step says what it does on standard error.
            lines = [line.rstrip() for line in printed.splitlines() if not line.endswith(" …")]
            assert lines == expected.rstrip().splitlines(), f"{place}: {command}\n{printed}"

    def _shell(self, text: str, place: str) -> Answer | None:
        """Run what ends by itself, hold the rest against what there is, and return what ``curl`` was answered."""
        if text.startswith("curl "):
            return self._curl(shlex.split(text))
        for line in text.replace("\\\n", "").splitlines():
            if is_run(line):
                code, printed = self.run(line)
                assert code == 0, f"{place}: {line}\n{printed}"
            else:
                require_known(line, place)
        return None

    def _curl(self, words: list[str]) -> Answer:
        """Send what ``curl`` would send to the endpoint that the URL names, as `stile dev` serves it."""
        (url,) = [urlsplit(word) for word in words if word.startswith("http://127.0.0.1:")]
        folder, name = url.path.split("/")[1:3]
        (endpoint,) = self.folder.glob(f"**/{folder}/{name}")
        headers = dict(word.split(": ", 1) for flag, word in pairwise(words) if flag == "-H")
        with running_function(compile_endpoint(endpoint), development=True) as function:
            answer = function.post(words[words.index("-d") + 1], path=url.path, headers=headers)
        assert answer.status == 200, answer.body.decode()
        return answer


def is_run(line: str) -> bool:
    """Whether a line of shell ends by itself and leaves the folder alone."""
    words = [word for word in shlex.split(line, comments=True) if "=" not in word]
    if not words or words[0] in NOT_RUN or line.rstrip().endswith("&"):
        return False
    if words[0].startswith("../") or (words[1:2] == ["-m"] and words[2] in NOT_RUN_MODULES):
        return False
    if Path(words[0]).name == "stile":
        # `new` needs a wheel, and a bucket an account.
        return words[1] not in ("dev", "new", "publish", "serve") and "s3://" not in line
    return not {"examples.jobs", "examples.upstream"} & {*words} or "--print-schema" in words


def require_known(line: str, place: str) -> None:
    """Refuse a line of shell that names a program, command, target or file that is not there."""
    for part in re.split(r"\s+&&?(?:\s+|$)", line):
        words = [word for word in shlex.split(part, comments=True) if "=" not in word]
        if words:
            _require_known(words, place)


def _require_known(words: Sequence[str], place: str) -> None:
    program = Path(words[0]).name.replace("python3", "python")
    known = words[1] in KNOWN[program] if program in KNOWN else program in NOT_RUN
    known = known or words[1:] == ["--version"]
    if program == "python":
        known = words[1] == "-m" and (words[2] in NOT_RUN_MODULES or _is_module(words[2]))
    assert known, f"{place}: {' '.join(words[:2])}"
    for word in words:
        if word.startswith(("events/", "examples/", "infra/", "tests/")):
            assert (ROOT / word).exists(), f"{place}: {word}"


def _is_module(name: str) -> bool:
    """Whether the repository has a module or package of this name."""
    place = ROOT / name.replace(".", "/")
    return place.is_dir() or place.with_suffix(".py").exists()


def _same_json(answer: Answer, expected: str) -> bool:
    return bool(answer.json == json.loads(expected))
