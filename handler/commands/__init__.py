"""The subcommands of ``stile``. A command's module has ``HELP``, ``add_arguments``, and ``run`` for the exit code."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from handler import __version__
from handler.commands import (
    build,
    call,
    check,
    dev,
    editor,
    explain,
    find,
    init,
    key,
    manifest,
    new,
    publish,
    pull,
    serve,
    token,
)
from handler.commands.command_line import parse_in_any_order
from handler.commands.console import EscapingFormatter, complain
from handler.commands.folders.endpoint_folders import fault_in
from handler.errors.infrastructure import SettingsError


class Command(Protocol):
    """The interface of a command's module."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


COMMANDS: Mapping[str, Command] = {
    "init": init,
    "pull": pull,
    "new": new,
    "check": check,
    "dev": dev,
    "call": call,
    "explain": explain,
    "find": find,
    "build": build,
    "publish": publish,
    "serve": serve,
    "manifest": manifest,
    "key": key,
    "token": token,
    "editor": editor,
}

INTERRUPTED = 130
"""The exit code that shells expect of a command that Ctrl-C ended."""


def run_command(arguments: Sequence[str] | None) -> int:
    """Run the command in the arguments, or print help if there is none. Return the exit code."""
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    if options is None:
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 must not fail the command
    if logging.lastResort is not None:  # prints records that no handler of an author takes
        logging.lastResort.setFormatter(EscapingFormatter())
    try:
        with _current_folder_importable():
            code = COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SettingsError as exc:
        complain(str(exc))
        return 2
    except BrokenPipeError:  # `stile check --json . | head`; Python flushes once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


@contextmanager
def _current_folder_importable() -> Iterator[None]:
    """Let endpoints import modules of the current folder too: last on the path, so that they shadow no other module."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _parse(words: Sequence[str]) -> argparse.Namespace | None:
    """Return the command and its options; ``None`` after printing help, if no command is named."""
    parser, of_commands = _parsers()
    if words and words[0] in COMMANDS:
        options = parse_in_any_order(of_commands[words[0]], COMMANDS[words[0]].add_arguments, words[1:])
        options.command = words[0]
        fault = fault_in(options)
        if fault:
            of_commands[words[0]].error(fault)
        return options
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help(sys.stderr)
        return None
    return options


def _parsers() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of all commands, and the commands' parsers by name."""
    parser = argparse.ArgumentParser(prog="stile", description="MCP tools for any GraphQL API.")
    parser.add_argument("--version", action="version", version=f"stile {__version__}")
    subparsers = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.HELP)
        command.add_arguments(subparser)
    return parser, subparsers.choices
