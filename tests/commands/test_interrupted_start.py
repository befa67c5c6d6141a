"""Ctrl-C while a command starts and while it ends: exit code 130, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.running import FILES
from tests.conftest import ROOT
from tests.support.endpoints import write_endpoint
from tests.support.secrecy import SESSION, Output

PROGRAM = """
import os, signal, sys
moment = sys.argv.pop(1)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
if moment == "(end)":
    import atexit
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
from handler.__main__ import main
sys.exit(main())
"""
"""The entry point of `stile`, with Ctrl-C at the import of a module, or while the interpreter ends."""

MOMENTS = (
    "handler.commands",
    "argparse",
    "handler.commands.command_line",
    "handler.commands.check",
    "handler.commands.folders.endpoints",
    "graphql",
    "graphql.language.visitor",
    "handler.compiler.compile",
    "handler.commands.console",
    "(end)",
)


def pressed(moment: str, *words: str, ignored: bool = False) -> tuple[int, str]:
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, moment, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )
    SESSION.note(Output.PROCESS, process.stdout + process.stderr)
    return process.returncode, process.stderr


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_while_a_command_starts_or_ends_prints_nothing(workplace: Path, moment: str) -> None:
    folder = write_endpoint(workplace, FILES)

    assert pressed(moment, "check", str(folder)) == (130, "")


@pytest.mark.parametrize("moment", ["uvicorn", "handler.server.app"])
@pytest.mark.parametrize("command", ["dev", "serve"])
def test_ctrl_c_while_a_server_loads_prints_nothing(workplace: Path, command: str, moment: str) -> None:
    folder = write_endpoint(workplace, FILES)

    assert pressed(moment, command, str(folder), "--port", "0") == (130, "")


def test_ctrl_c_counts_for_nothing_if_a_shell_has_started_the_command_in_the_background(workplace: Path) -> None:
    folder = write_endpoint(workplace, FILES)

    assert pressed("handler.compiler.compile", "check", str(folder), ignored=True)[0] == 0
