"""``stile completion``: the script that completes words in a shell. At each word, the shell asks the command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from argcomplete import autocomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter, SuppressCompleter
from argcomplete.shell_integration import shellcode

from handler import __version__
from handler.commands import COMMANDS, load_command
from handler.commands.command_line import DISTRIBUTION, DONE
from handler.commands.console import show_verbatim

EXAMPLES = ('eval "$(stile completion bash)"', "stile completion fish > ~/.config/fish/completions/stile.fish")
EXIT_CODES: Mapping[int, str] = {}

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")


def run(options: argparse.Namespace) -> int:
    show_verbatim(shellcode(["stile", DISTRIBUTION], shell=options.shell).rstrip("\n"))
    return DONE


def answer_shell() -> None:
    """Give the shell the words that complete its line, and end the process. Environment variables have the line."""
    parser = argparse.ArgumentParser(prog="stile")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers()
    asked_for = os.environ.get("COMP_LINE", "").split()[1:2]
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name in asked_for:  # the modules of the others are not imported
            load_command(name).add_arguments(command)
        for action in command._actions:  # noqa: SLF001 - no public list
            if str(action.metavar) in COMPLETERS:
                vars(action)["completer"] = COMPLETERS[str(action.metavar)]
    autocomplete(parser, always_complete_options=False, default_completer=SuppressCompleter())


def _tools(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    from handler.commands.folders.endpoints import compile_all  # other words do not need the compiler

    outcomes = compile_all(parsed_args.folder, stage=None, endpoint=None)
    return {tool.name for outcome in outcomes if outcome.compiled for tool in outcome.compiled.bundle.tools}


def _stages(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    folder = getattr(parsed_args, "folder", None) or Path()
    return {file.name.split(".")[1] for file in Path(folder).rglob("config.*.yaml")}


COMPLETERS: Mapping[str, Any] = {
    **dict.fromkeys(("FOLDER", "DIR", "DESTINATION", "NAME"), DirectoriesCompleter()),
    **dict.fromkeys(("FILE", "SOURCE", "CLAIMS", "CALLER"), FilesCompleter()),
    "TOOL": _tools,
    "STAGE": _stages,
}
"""The name of a value in help -> its completion. Other values are completed by their choices alone."""
