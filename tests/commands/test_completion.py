"""The words that shells offer behind `stile`, by the scripts of `stile completion`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from handler.commands import COMMANDS
from tests.commands.running import FILES, Stile
from tests.conftest import ROOT
from tests.support.endpoints import write_endpoint

ASK = """
eval "$(cat script.bash)"
compopt() {{ :; }}
COMP_LINE={line}
COMP_POINT=${{#COMP_LINE}}
_python_argcomplete stile '' ''
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def folder(workplace: Path, stile: Stile) -> Path:
    write_endpoint(workplace, {**FILES, "config.prod.yaml": "limits: {max_depth: 3}\n"})
    (workplace / "script.bash").write_text(stile("completion", "bash").out, encoding="utf-8")
    (workplace / "claims.json").write_text('{"sub": "u"}', encoding="utf-8")
    program = workplace / "bin" / "stile"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m handler "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return workplace


def offered(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    script = ASK.format(line=shlex.quote(" ".join(("stile", *words))))
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environ, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return sorted(word.rstrip() for word in done.stdout.splitlines() if word)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pu"], ["publish", "published", "pull"]),
        ([""], sorted(COMMANDS)),
        (["--"], ["--help", "--version"]),
        (["check", "--st"], ["--stage", "--strict"]),
        (["check", "a"], ["api/"]),
        (["check", "--json", "api", "--stage", ""], ["prod"]),
        (["call", "api", "--json", ""], ["a"]),
        (["call", "--as", "claims.json", "api", ""], ["a"]),
        (["manifest", "api", "--format", ""], ["apollo", "relay"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["call", "api", "a", ""], []),
    ],
    ids=" ".join,
)
def test_bash_offers(folder: Path, words: Sequence[str], expected: list[str]) -> None:
    assert offered(folder, *words) == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_options_that_bash_offers_are_those_of_the_help(folder: Path, stile: Stile, name: str) -> None:
    told = stile(name, "--help").out

    options = offered(folder, name, "--")

    assert "--help" in options
    assert all(option in told for option in options)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_valid_where_its_shell_is_installed(tmp_path: Path, stile: Stile, shell: str) -> None:
    done = stile("completion", shell)
    assert (done.code, done.err) == (0, "")
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(done.out, encoding="utf-8")

    checked = subprocess.run([program, "-n", str(tmp_path / "script")], capture_output=True, text=True, check=False)

    assert (checked.returncode, checked.stderr) == (0, "")


ASK_FISH = "source script.fish; complete -C {line}"

ASK_ZSH = """
zmodload zsh/zpty
zpty asked zsh -f -i
zpty -w asked "autoload -Uz compinit; compinit -u -D; source script.zsh; PS1=; echo rea''dy"
zpty -r -m asked output '*ready*'
zpty -w -n asked {line}$'\t'
zpty -r -m asked output {pattern}
print -r -- $output
zpty -d asked
"""
"""zsh completes on terminals alone, so the lines are typed into one."""

LINES = [
    ("pu", "publish"),
    ("check --st", "--strict"),
    ("call --as claims.json api --json ", "a"),
    ("check --stage ", "prod"),
    ("manifest api --format ", "relay"),
    ("find ", "api/"),
    ("explain api --fi", "--field"),
    ("token --cl", "--claims"),
    ("editor --", "--help"),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_fish_offers(folder: Path, stile: Stile, line: str, expected: str) -> None:
    (folder / "script.fish").write_text(stile("completion", "fish").out, encoding="utf-8")

    told = answer_of("fish", ASK_FISH.format(line=shlex.quote(f"stile {line}")), folder)

    assert expected in [each.partition("\t")[0] for each in told.splitlines()]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_zsh_offers(folder: Path, stile: Stile, line: str, expected: str) -> None:
    (folder / "script.zsh").write_text(stile("completion", "zsh").out, encoding="utf-8")

    told = answer_of(
        "zsh", ASK_ZSH.format(line=shlex.quote(f"stile {line}"), pattern=f"'*'{shlex.quote(expected)}'*'"), folder
    )

    assert expected in told


def test_fish_offers_no_files_where_a_stage_or_a_choice_is_expected(folder: Path, stile: Stile) -> None:
    (folder / "script.fish").write_text(stile("completion", "fish").out, encoding="utf-8")

    for line in ("check --stage ", "manifest api --format "):
        assert "script.fish" not in answer_of("fish", ASK_FISH.format(line=shlex.quote(f"stile {line}")), folder)


def answer_of(shell: str, script: str, folder: Path) -> str:
    """What a shell prints for a script; the test is skipped where the shell is not installed."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    environ = {**os.environ, "HOME": str(folder), "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [program, "-c", script], cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout
