"""The deploy-time door: the ``stile`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from handler import __version__

MISSING_EXTRA = (
    "stile: the command needs packages that the function does not ({name} is missing).\n"
    "Install them with: pip install 'stile[cli]'"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 for problems found, 2 for wrong usage."""
    try:
        from handler.commands import COMMANDS
    except ModuleNotFoundError as exc:
        print(MISSING_EXTRA.format(name=exc.name), file=sys.stderr)  # noqa: T201 - rich may be what is missing
        return 2
    parser = argparse.ArgumentParser(prog="stile", description="MCP tools for any GraphQL API.")
    parser.add_argument("--version", action="version", version=f"stile {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.HELP)
        command.add_arguments(subparser)
    options = parser.parse_args(arguments)
    return COMMANDS[options.command].run(options)


if __name__ == "__main__":
    sys.exit(main())
