"""The door: `stile` itself, and what happens where its packages are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handler import __version__
from handler.commands import COMMANDS
from tests.commands.running import FILES, Stile, ran
from tests.conftest import ROOT
from tests.support.endpoints import write_endpoint

WITHOUT = """
import runpy, sys
sys.modules[{missing!r}] = None  # how Python knows a module that cannot be imported
sys.argv = ["stile", *{arguments!r}]
runpy.run_module("handler", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("missing", "command"), [("yaml", "check"), ("rich", "check"), ("uvicorn", "serve"), ("watchfiles", "dev")]
)
def test_without_the_extra_it_says_what_to_install(missing: str, command: str) -> None:
    code = WITHOUT.format(missing=missing, arguments=[command, "."])

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"stile: the command needs packages that the function does not ({missing} is missing).",
        "Install the wheel of Stile with its extra `cli`, or run `make setup` in a clone: docs/install.md shows both.",
    ]


def test_the_version() -> None:
    done = ran("--version")

    assert (done.code, done.out, done.err) == (0, f"stile {__version__}\n", "")


def test_alone_it_says_which_commands_there_are_and_exits_2(stile: Stile) -> None:
    done = stile()

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: stile ")
    assert all(f"\n    {name} " in done.err for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(stile: Stile, name: str) -> None:
    done = stile(name, "--help")

    assert (done.code, done.err) == (0, "")
    assert COMMANDS[name] in " ".join(done.out.split())


def test_a_name_that_ascii_output_cannot_show_is_no_crash(workplace: Path) -> None:
    write_endpoint(workplace / "größe", {**FILES, "config.yaml": "upstrem: {}\n"})

    done = ran("check", ".", PYTHONIOENCODING="ascii")

    assert done.code == 1
    assert done.out.startswith(r"gr\xf6\xdfe/api/things/config.yaml:1:1: ")
