"""The subcommands of ``stile``. The module of a command is imported when the command is asked for."""

from __future__ import annotations

import argparse
import gc as garbage_collector  # a command has the shorter name
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from handler import __version__
from handler.commands.command_line import (
    CODE_OF_ERRORS,
    DONE,
    EXIT_CODES,
    HELP_OPTIONS,
    INTERRUPTED,
    REFUSED,
    USAGE,
    CommandParser,
    CommandRefused,
    answering,
    asks_for_json,
    exit_code_lines,
    parse_in_any_order,
    without_credentials,
)
from handler.errors.authoring import UnknownCaller, UnknownCoordinate
from handler.errors.infrastructure import SettingsError
from handler.text.sentences import did_you_mean


class Command(Protocol):
    """The interface of a command's module."""

    EXAMPLES: Sequence[str]
    EXIT_CODES: Mapping[int, str]  # code -> meaning, beside or instead of those of all commands

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


COMMANDS: Mapping[str, str] = {
    "init": "Make an endpoint folder from the schema of a GraphQL API.",
    "adopt": "Make an endpoint folder from the folder of Apollo MCP Server or Cosmo's router, which stays as it is.",
    "pull": "Renew the schema of an endpoint folder, and say what the new one breaks.",
    "new": "Make a repository that deploys endpoints to AWS, with this release of Stile in it.",
    "check": "Report the problems of endpoint folders, the cost of their tools and the callers that see them.",
    "dev": "Serve endpoint folders on this machine, compiling them again whenever a file is saved.",
    "connect": "Print the lines by which an MCP client connects to an endpoint, or write them to its file.",
    "call": "Call a tool of an endpoint folder, as it would answer once published.",
    "test": "Make the calls of tools.test.yaml, and compare their answers with the expected ones.",
    "explain": "Show the parts of endpoint folders that callers reach, and the rules that hide the rest.",
    "find": "Show what a model finds in an endpoint with a question.",
    "diff": "Compare two versions of endpoints: what each caller, model and reader finds different.",
    "build": "Compile endpoint folders to bundles in a local folder.",
    "publish": "Compile endpoint folders and store their bundles where the function reads them.",
    "published": "Show the endpoints that are published, and ask the running function if it serves them.",
    "rollback": "Put an older version of a published endpoint in place of the present one.",
    "remove": "Withdraw a published endpoint; a rollback brings it back.",
    "gc": "List the stored schemas that no kept version of an endpoint needs, and delete them.",
    "serve": "Serve endpoints on any machine by the function's own settings and rules: from a folder or from S3.",
    "manifest": "List the operations that may be sent, for an API that takes only those it knows.",
    "key": "Make an API key, and the lines for config.yaml that let it in.",
    "token": "Make a test token of a caller for `stile dev` and `stile call`.",
    "editor": "Write files with which editors complete and check endpoint folders.",
    "completion": "Print the script that completes the words of this command in a shell.",
}
"""Each command with its summary. ``handler/commands/NAME.py`` is its module."""

BEGIN_WITH = (
    "stile init shop/products --from https://api.example.com/graphql",
    "stile check shop",
    "stile dev shop",
)
DOCUMENTS = (
    "docs/ of Stile's repository: begin with docs/start.md; docs/cli.md is on the commands.",
    "`stile COMMAND --help` has the options, an example and the exit codes of a command.",
)

MISSING_PACKAGE = (
    "stile: the command needs packages that are not installed ({name} is missing).\n"
    "Install the wheel of Stile with its packages, or run `make setup` in a clone: docs/install.md shows both."
)


def run_command(arguments: Sequence[str] | None) -> int:
    """Run the command in the arguments, or print help if there is none. Return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    with answering(as_json=asks_for_json(words)) as answer:
        code = _exit_code(words)
        if answer and code != DONE and not answer.is_printed:
            from handler.commands.console import show_json

            show_json({"error": answer.error(code)})
    return code


def load_command(name: str) -> Command:
    """Import the module of a command. The garbage collector never scans the objects of its first import."""
    module = f"{__name__}.{name}"
    if module in sys.modules:
        return cast("Command", sys.modules[module])
    # Modules stay until the end, and scanning them would take a quarter of the time of `stile check`.
    garbage_collector.disable()
    try:
        return cast("Command", import_module(module))
    finally:
        garbage_collector.freeze()
        garbage_collector.enable()


def parser_of(name: str, command: Command) -> CommandParser:
    """Return the parser with all arguments of a command."""
    blocks = {
        "examples" if len(command.EXAMPLES) > 1 else "example": command.EXAMPLES,
        "exit codes": exit_code_lines({**EXIT_CODES, **command.EXIT_CODES}),
    }
    parser = CommandParser(prog=f"stile {name}", description=COMMANDS[name], blocks=blocks)
    command.add_arguments(parser)
    return parser


def _exit_code(words: Sequence[str]) -> int:
    of_errors = CODE_OF_ERRORS.get(words[0] if words else "", USAGE)
    try:
        name = _command_in(words)
        command = load_command(name)
        parser = parser_of(name, command)
        options = parse_in_any_order(parser, command.add_arguments, words[1:], commands_with=_commands_with)
        if getattr(options, "endpoint", None) is not None:
            from handler.commands.folders.endpoints import fault_in

            fault = fault_in(options)
            if fault:
                parser.error(fault)
    except SystemExit as exc:  # argparse ends so, after help or an error
        return of_errors if exc.code == USAGE else int(exc.code or DONE)
    except ModuleNotFoundError as exc:
        missing = (exc.name or "").partition(".")[0]
        if missing in ("", "handler"):
            raise
        print(MISSING_PACKAGE.format(name=missing), file=sys.stderr)  # noqa: T201 - rich may be the missing package
        return of_errors
    return _run(command, options, of_errors=of_errors)


def _commands_with(option: str) -> list[str]:
    options = {name: parser_of(name, load_command(name))._option_string_actions for name in COMMANDS}  # noqa: SLF001 - argparse lists them nowhere else
    return [name for name in COMMANDS if option in options[name]]


def _command_in(words: Sequence[str]) -> str:
    """Return the command that the words begin with. Print help and end if there is none."""
    if words and words[0] in COMMANDS:
        return words[0]
    blocks = {"begin with": BEGIN_WITH, "documents": DOCUMENTS, "exit codes": exit_code_lines(EXIT_CODES)}
    parser = CommandParser(prog="stile", description="MCP tools for any GraphQL API.", blocks=blocks)
    parser.add_argument("--version", action="version", version=f"stile {__version__}")
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser
    )
    for name, summary in COMMANDS.items():
        subparsers.add_parser(name, help=summary)
    if not words:
        parser.print_help(sys.stderr)
        raise SystemExit(USAGE)
    if not words[0].startswith("-"):
        hint = did_you_mean(words[0], COMMANDS) or "; `stile --help` lists the commands"
        parser.error(f'there is no command "{words[0]}"{hint}')
    behind = next((word for word in words if word in COMMANDS), None)
    if behind and words[0] not in (*HELP_OPTIONS, "--version"):
        parser_of(behind, load_command(behind)).error(
            f"{words[0]} stands behind the command: stile {behind} {words[0]}"
        )
    parser.parse_args(words)
    raise SystemExit(USAGE)


def _run(command: Command, options: argparse.Namespace, *, of_errors: int) -> int:
    from handler.commands.console import EscapingFormatter, complain, degrade_characters

    degrade_characters()
    if logging.lastResort is not None:  # prints records that no handler of an author takes
        logging.lastResort.setFormatter(EscapingFormatter())
    try:
        here = str(Path.cwd())
    except OSError as exc:  # it was deleted
        complain(f"The current folder cannot be used ({exc.strerror}): change to a folder that exists.")
        return of_errors
    at_start = signal.getsignal(signal.SIGINT)
    ends_at_once = callable(at_start) and at_start is not signal.default_int_handler
    sys.path.append(here)  # endpoints import modules of the current folder, which shadow no other module
    try:
        if ends_at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = command.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except (CommandRefused, SettingsError, UnknownCaller, UnknownCoordinate) as exc:
        complain(without_credentials(str(exc)))
        return exc.exit_code if isinstance(exc, CommandRefused) else of_errors
    except BrokenPipeError:  # `stile check --json . | head`; Python flushes once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED if of_errors == USAGE else of_errors
    finally:
        if ends_at_once:
            signal.signal(signal.SIGINT, at_start)
        sys.path.remove(here)
    return code
