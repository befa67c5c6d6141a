"""The command line: exit codes, the parser, and the one JSON document that a command prints with ``--json``.

Options stand before, between and after positionals; ``--`` ends the options.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from handler.http.addresses import is_host_pattern
from handler.text.sentences import nearest

DONE = 0
REFUSED = 1
USAGE = 2
INTERRUPTED = 130
"""The exit code that shells expect of a command that Ctrl-C ended."""

DIFFERENT = 1
BREAKING = 2
NOT_COMPARED = 3
OPENING = 4
"""The exit codes of ``stile diff``, whose errors must not look like differences to CI. The last one is a bit."""


class CommandRefused(Exception):
    """A command ends without its result. The message is one sentence."""

    exit_code = REFUSED


class UsageRefused(CommandRefused):
    """Options that do not fit each other, or name something that does not exist. The message is one sentence."""

    exit_code = USAGE


CODE_OF_ERRORS: Mapping[str, int] = {"diff": NOT_COMPARED}
"""Command -> the exit code of its errors of use, if it is not ``USAGE``."""

EXIT_CODES: Mapping[int, str] = {
    DONE: "done",
    REFUSED: "something was found or refused",
    USAGE: "the command line or an environment variable is not valid",
    INTERRUPTED: "ended by Ctrl-C",
}
"""Code -> meaning for every command. A command's own ``EXIT_CODES`` says more of some."""

END_OF_OPTIONS = "--"
HELP_OPTIONS = ("-h", "--help")
PAIR = "K=V"

CREDENTIAL = re.compile(
    r"\beyJ[\w-]{6,}\.[\w.-]*|\bstile_[\w-]{20,}|(?i:(?<=\bbearer )[\w.~+/=-]{8,}|(?<=(?:token|ecret|sword)=)[^\s;]+)"
)
"""A token, API key or secret in the words of a command."""

without_credentials = partial(CREDENTIAL.sub, "…")  # for messages

DISTRIBUTION = "stile-mcp"
PROPOSED = re.compile(r"(^ *|(?<=`)|(?<=: ))stile (?=[a-z-]|COMMAND|\[)", re.MULTILINE)
"""The first word of a command line in a text: after a backtick or a colon, or at the beginning of a line."""

OWN_MACHINE = ("127.0.0.1", "::1", "localhost")

AddArguments = Callable[[argparse.ArgumentParser], None]
CommandsWith = Callable[[str], Sequence[str]]


class CommandParser(argparse.ArgumentParser):
    """A parser whose help ends with examples, exit codes and other blocks of lines."""

    def __init__(self, *, blocks: Mapping[str, Iterable[str]], **settings: Any) -> None:
        super().__init__(**settings)
        self._blocks = blocks

    def format_help(self) -> str:
        """Return argparse's help, and each block with its heading. A long line continues below its own text."""
        width = max(shutil.get_terminal_size().columns - 2, 20)
        parts = [super().format_help()]
        for heading, lines in self._blocks.items():
            parts.append(f"{heading}:")
            for line in lines:
                below = " " * (line.rfind("  ") + 4 if "  " in line.rstrip() else 2)
                parts += textwrap.wrap(
                    line,
                    width,
                    initial_indent="  ",
                    subsequent_indent=below,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            parts.append("")
        return "\n".join(parts)

    def error(self, message: str) -> NoReturn:
        message = without_credentials(message)
        note_complaint(message)
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(with_own_name(message), file)


def with_own_name(text: str) -> str:
    """Return a text whose command lines begin as the one that is running, so that a shell finds them.

    ``uvx`` leaves no command behind, and finds a wheel or a clone again by its place alone.

    Source: PEP 610, "direct_url.json".
    """
    name = DISTRIBUTION if Path(sys.argv[0]).stem == DISTRIBUTION else "stile"
    if PROPOSED.search(text) and _is_run_by_uvx():
        from importlib.metadata import distributions  # with the parser of mails, 40 ms of each command

        for package in distributions(name=DISTRIBUTION):  # none of a clone on PYTHONPATH
            origin = json.loads(package.read_text("direct_url.json") or "{}")
            url = "+".join(filter(None, (origin.get("vcs_info", {}).get("vcs"), origin.get("url"))))
            name = f"uvx --from {shlex.quote(url)} {DISTRIBUTION}" if url else f"uvx {DISTRIBUTION}"
    return PROPOSED.sub(lambda found: f"{found[1]}{name} ", text)


def _is_run_by_uvx() -> bool:
    """Return whether this environment is in the cache of uv. A program of `uvx` may start commands of others."""
    is_by_uv = "UV" in os.environ and "UV_RUN_RECURSION_DEPTH" not in os.environ
    return is_by_uv and any((folder / "CACHEDIR.TAG").exists() for folder in Path(sys.prefix).parents)


def exit_code_lines(codes: Mapping[int, str]) -> list[str]:
    """Return a line for each exit code."""
    return [f"{code:<4} {meaning}" for code, meaning in sorted(codes.items())]


def parse_in_any_order(
    parser: argparse.ArgumentParser, add_arguments: AddArguments, words: Sequence[str], *, commands_with: CommandsWith
) -> argparse.Namespace:
    """Parse the words of one command with the arguments that ``add_arguments`` adds to a parser.

    argparse takes an optional positional argument (``nargs="*"``) as empty at the first option, so options and
    positionals are parsed separately; argparse's own ``parse_intermixed_args`` loses the meaning of ``--``. ``parser``
    has all arguments, and prints help and errors. ``commands_with`` returns the commands that have an option.
    """
    before, behind = _at_end_of_options(words)
    options = _Half(parser, is_of_half=lambda name: name.startswith("-"))
    positionals = _Half(parser, is_of_half=lambda name: not name.startswith("-"))
    for half in (options, positionals):
        add_arguments(half)
    namespace, rest = options.parse_known_args(before)
    # As in argparse, a word with a space is not an option.
    unknown = [word for word in rest if word.startswith("-") and word != "-" and " " not in word]
    if unknown:
        name, is_pair, _ = unknown[0].partition("=")
        long = {option.removeprefix("--"): option for option in options.names if option.startswith("--")}
        near = nearest(name.lstrip("-"), list(long)) if len(name) > len("-x") else None
        hint = "; put words that begin with - but are not options after --" if is_pair else ""
        if near:
            hint = f"; did you mean {long[near]}?"
        elif len(name) > len("-x") and PAIR in positionals.metavars:
            hint = f"; {PAIR} is written without dashes: {name.lstrip('-')}=VALUE"
        elif name.startswith("--") and (others := commands_with(name)):
            hint = f"; {name} is an option of {', '.join(f'`stile {each}`' for each in others)}"
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    parsed, surplus = positionals.parse_known_args([END_OF_OPTIONS, *rest, *behind], namespace)
    if surplus:
        expected = " ".join([parser.prog, *positionals.metavars])
        parser.error(f"unrecognized arguments: {' '.join(surplus)}; expected {expected}")
    return parsed


class _Half(argparse.ArgumentParser):
    """A parser of some of a command's arguments. The whole command's parser prints its help and errors."""

    def __init__(self, whole: argparse.ArgumentParser, *, is_of_half: Callable[[str], bool]) -> None:
        self.names: list[str] = []
        self.metavars: list[str] = []
        self._whole = whole
        self._is_of_half = is_of_half
        super().__init__(prog=whole.prog, add_help=is_of_half(HELP_OPTIONS[0]))

    def add_argument(self, *names: Any, **settings: Any) -> Any:
        if not self._is_of_half(names[0]):
            return None
        self.names += names
        self.metavars.append(str(settings.get("metavar", "")))
        return super().add_argument(*names, **settings)

    def print_help(self, file: Any = None) -> None:
        self._whole.print_help(file)

    def error(self, message: str) -> NoReturn:
        self._whole.error(message)


def add_http_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of `stile serve` and of what is published for it."""
    meaning = "host that may be asked without TLS, also on this machine; repeatable"
    parser.add_argument("--allow-http", action="append", default=[], type=_http_host, metavar="HOST", help=meaning)


def _http_host(text: str) -> str:
    """Return the name or address of a host, as URLs have it."""
    with suppress(ValueError):
        return str(ip_address(text.removeprefix("[").removesuffix("]")))
    if not is_host_pattern(text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a host without a scheme or port, as api.internal")
    return text


def whole_number(least: int, most: int, *, expected: str = "") -> Callable[[str], int]:
    """Return the reader of an option that takes a number."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r}: expected {expected or f'a number from {least} to {most}'}")
        return int(text)

    return read


def server_url(text: str) -> str:
    """Return a URL of a function without a final slash. Credentials travel over TLS, or stay on this machine."""
    if "@" in text or not text.isascii() or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("expected a URL without credentials and with escapes: -H or --as gives one")
    is_valid = False
    with suppress(ValueError):
        parts = urlsplit(text)
        is_valid = bool(parts.hostname) and parts.port != 0 and not (parts.query or parts.fragment)
    if not is_valid or not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in OWN_MACHINE)):
        shown = text.partition("?")[0].partition("#")[0]  # the rest may be a key
        raise argparse.ArgumentTypeError(f"{shown!r}: expected https://host, or http://localhost:port, and no query")
    return text.rstrip("/")


def asks_for_json(words: Sequence[str]) -> bool:
    """Return whether the words of a command have the option ``--json``, in full or abbreviated as argparse allows."""
    before, _ = _at_end_of_options(words)
    return any(word.startswith("--j") and "--json".startswith(word) for word in before)


def _at_end_of_options(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    end = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    return words[:end], words[end + 1 :]


@dataclass(slots=True)
class JsonAnswer:
    """The sentences of a run with ``--json``, for its document. ``is_printed``: the command printed a document."""

    messages: list[str] = field(default_factory=list)
    problems: list[Mapping[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_printed: bool = False

    def error(self, exit_code: int) -> dict[str, Any]:
        """Return the error as JSON. ``problems`` have places in files; ``messages`` are the other sentences."""
        return {"exitCode": exit_code, "messages": list(self.messages), "problems": list(self.problems)}


_ANSWER: ContextVar[JsonAnswer | None] = ContextVar("_ANSWER", default=None)


@contextmanager
def answering(*, as_json: bool) -> Iterator[JsonAnswer | None]:
    """Give the answer of a run with ``--json`` until the block ends; ``None`` without the option."""
    answer = JsonAnswer() if as_json else None
    token = _ANSWER.set(answer)
    try:
        yield answer
    finally:
        _ANSWER.reset(token)


def current_answer() -> JsonAnswer | None:
    """Return the answer of this run; ``None`` without ``--json``."""
    return _ANSWER.get()


def note_complaint(message: str) -> None:
    """Keep a sentence for the document of errors."""
    answer = _ANSWER.get()
    if answer is not None:
        answer.messages.append(message)
