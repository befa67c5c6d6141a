"""``stile completion``: the script that completes words in a shell, and the names of tools that the script asks for."""

from __future__ import annotations

import argparse
from pathlib import Path

from handler.commands import COMMANDS, load_command, parser_of
from handler.commands.terminal.completion_scripts import SCRIPTS, CompletedCommand, completed_command
from handler.commands.terminal.console import complain, show_verbatim
from handler.commands.terminal.exit_codes import DONE, REFUSED

EXAMPLES = ('eval "$(stile completion bash)"', "stile completion fish > ~/.config/fish/completions/stile.fish")
EXIT_CODES = {REFUSED: "with --tools, an endpoint has problems"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=list(SCRIPTS), metavar="SHELL", help=f"the shell: {', '.join(SCRIPTS)}")
    parser.add_argument(
        "--tools", metavar="FOLDER", help="print the names of the folder's tools instead, as the script asks for them"
    )


def run(options: argparse.Namespace) -> int:
    if options.tools is not None:
        return _show_tools(options.tools)
    show_verbatim(SCRIPTS[options.shell]([*map(_completed, COMMANDS)]).rstrip("\n"))
    return DONE


def _completed(name: str) -> CompletedCommand:
    """Return the words of a command, from its own definitions of arguments."""
    parser = parser_of(name, load_command(name))
    return completed_command(name, COMMANDS[name], parser._actions)  # noqa: SLF001 - argparse has no public list


def _show_tools(folder: str) -> int:
    from handler.commands.folders.endpoints import compile_all  # the scripts do not need the compiler

    if not Path(folder).is_dir():
        complain(f"{folder}: there is no such folder")
        return REFUSED
    outcomes = compile_all(Path(folder), stage=None, endpoint=None)
    for tool in sorted({tool.name for each in outcomes if each.compiled for tool in each.compiled.bundle.tools}):
        show_verbatim(tool)
    return REFUSED if any(each.problems for each in outcomes) else DONE
