"""The subcommands of ``stile``: each module has ``HELP``, ``add_arguments`` and ``run``, which gives the exit code."""

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
from handler.commands import build, call, check, dev, explain, key, manifest, publish
from handler.commands.command_line import parse_in_any_order
from handler.commands.console import EscapingFormatter, complain
from handler.commands.endpoint_folders import fault_in
from handler.errors import SettingsError


class Command(Protocol):
    """What a module of this package offers."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


COMMANDS: Mapping[str, Command] = {
    "check": check,
    "dev": dev,
    "call": call,
    "explain": explain,
    "build": build,
    "publish": publish,
    "manifest": manifest,
    "key": key,
}

INTERRUPTED = 130
"""What shells expect of a command that Ctrl-C ended."""


def run_command(arguments: Sequence[str] | None) -> int:
    """Run the command that the arguments name; without any, say which there are."""
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    if options is None:
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 is no reason to fail
    if logging.lastResort is not None:  # which prints what no author's handler takes
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
    """Let endpoints take tools from modules of the current folder too: last, so that none stands for another one."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _parse(words: Sequence[str]) -> argparse.Namespace | None:
    """The command and its options; ``None`` after help, where no command is named."""
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
    """The parser of everything, and those of the commands by their names."""
    parser = argparse.ArgumentParser(prog="stile", description="MCP tools for any GraphQL API.")
    parser.add_argument("--version", action="version", version=f"stile {__version__}")
    subparsers = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.HELP)
        command.add_arguments(subparser)
    return parser, subparsers.choices
