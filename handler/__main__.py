"""The deploy-time door: the ``stile`` command."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from handler import __version__

if TYPE_CHECKING:
    from handler.commands import Command  # rich and the like may be missing

MISSING_EXTRA = (
    "stile: the command needs packages that the function does not ({name} is missing).\n"
    "Install them with: pip install 'stile[cli]'"
)

INTERRUPTED = 130
"""What shells expect of a command that ended by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 for problems found, 2 for wrong usage."""
    try:
        from handler.commands import COMMANDS
    except ModuleNotFoundError as exc:
        if (exc.name or "handler").partition(".")[0] == "handler":
            raise
        print(MISSING_EXTRA.format(name=exc.name), file=sys.stderr)  # noqa: T201 - rich may be what is missing
        return 2
    parser = _parser(COMMANDS)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    return _run(COMMANDS[options.command], options)


def _parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stile", description="MCP tools for any GraphQL API.")
    parser.add_argument("--version", action="version", version=f"stile {__version__}")
    subparsers = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    for name, command in commands.items():
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.HELP)
        command.add_arguments(subparser)
    return parser


def _run(command: Command, options: argparse.Namespace) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 is no reason to fail
    try:
        code = command.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `stile check . | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
