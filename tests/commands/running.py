"""Running the `stile` command: in this process, in one of its own, and on a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from handler.__main__ import main
from tests.conftest import ROOT
from tests.support.secrecy import SESSION, Output

SCHEMA = 'type Query { "Says a." a: String, b: Int }\ntype Mutation { set(b: Int!): Int }\n'
OPERATION = 'query A @mcpTool(name: "a", title: "A") { a }\n'
CONFIG = """\
upstream: {url: "https://things.example/graphql"}
access:
  anonymous: allow
  policies: [{type: Query, policyDefault: {condition: true}}]
"""
FILES: Mapping[str, str] = {
    "index.graphql": SCHEMA,
    "operations/a.graphql": OPERATION,
    "config.yaml": CONFIG,
}
"""A small endpoint with one tool."""


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


class Stile:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        done = self.unsearched(*arguments)
        SESSION.note(Output.COMMAND, done.out + done.err)
        return done

    def unsearched(self, *arguments: str) -> Ran:
        """Run a command whose output is a secret by purpose."""
        self._capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as exc:  # argparse ends so
            code = int(exc.code or 0)
        printed = self._capsys.readouterr()
        return Ran(code, printed.out, printed.err)


def started(
    *arguments: str, output: int | None = None, environ: Mapping[str, str] | None = None, input_: int | None = None
) -> subprocess.Popen[str]:
    """The command in a process of its own, in the current folder. ``output``: where all it prints goes."""
    SESSION.keep_environ(environ or {})
    return subprocess.Popen(
        [sys.executable, "-m", "handler", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environ or {})},
        stdin=subprocess.DEVNULL if input_ is None else input_,
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.PIPE if output is None else output,
        text=True,
    )


def ran(*arguments: str, **environ: str) -> Ran:
    """The command in a process of its own, to its end."""
    process = started(*arguments, environ=environ)
    out, err = process.communicate(timeout=120)
    SESSION.note(Output.PROCESS, out + err)
    return Ran(process.returncode, out, err)


def ran_on_terminal(*arguments: str, columns: int = 120, typed: str = "", **more: str) -> tuple[int, str]:
    """The exit code, and all that a terminal of that width got. ``typed``: what its user types; else nobody can."""
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environ = {"TERM": "xterm-256color", "NO_COLOR": "", "COLUMNS": str(columns), **more}
    process = started(*arguments, output=inner, environ=environ, input_=inner if typed else None)
    os.write(terminal, typed.encode())
    os.close(inner)
    pieces = []
    with contextlib.suppress(OSError):  # Linux's way to say that the other side was closed
        while piece := os.read(terminal, 65_536):
            pieces.append(piece)
    os.close(terminal)
    SESSION.note(Output.PROCESS, b"".join(pieces))
    return process.wait(120), b"".join(pieces).decode()


def interrupt(process: subprocess.Popen[str], signal_number: int = signal.SIGINT) -> int:
    """Press Ctrl-C, and wait for the exit code."""
    process.send_signal(signal_number)
    return process.wait(60)


def change(file: Path, old: str, new: str) -> None:
    """Save a file as editors do: the new text is written beside it and takes its place."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    temporary = file.with_name(f"{file.name}.tmp")
    temporary.write_text(text.replace(old, new), encoding="utf-8")
    temporary.replace(file)
