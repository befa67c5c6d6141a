"""The parser of command lines with options before, between and after positionals; ``--`` ends the options."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from handler.commands.terminal.json_answer import note_complaint
from handler.text.sentences import nearest

END_OF_OPTIONS = "--"
HELP_OPTIONS = ("-h", "--help")

AddArguments = Callable[[argparse.ArgumentParser], None]


class CommandParser(argparse.ArgumentParser):
    """A parser whose help ends with examples, exit codes and other blocks of lines."""

    def __init__(self, *, blocks: Mapping[str, Iterable[str]], **settings: Any) -> None:
        super().__init__(**settings)
        self._blocks = blocks

    def format_help(self) -> str:
        """Return argparse's help, and each block with its heading. A long line continues below its own text."""
        width = shutil.get_terminal_size().columns - 2
        parts = [f"{heading}:\n{_wrapped(lines, width)}\n" for heading, lines in self._blocks.items()]
        return "\n".join([super().format_help(), *parts])

    def error(self, message: str) -> NoReturn:
        note_complaint(message)
        super().error(message)


def exit_code_lines(codes: Mapping[int, str]) -> list[str]:
    """Return a line for each exit code."""
    return [f"{code:<4} {meaning}" for code, meaning in sorted(codes.items())]


def parse_in_any_order(
    parser: argparse.ArgumentParser, add_arguments: AddArguments, words: Sequence[str]
) -> argparse.Namespace:
    """Parse the words of one command with the arguments that ``add_arguments`` adds to a parser.

    argparse takes an optional positional argument (``nargs="*"``) as empty at the first option, so options and
    positionals are parsed separately; argparse's own ``parse_intermixed_args`` loses the meaning of ``--``. ``parser``
    has all arguments, and prints help and errors.
    """
    before, behind = _at_end_of_options(words)
    options = _Options(parser, add_help=True)
    add_arguments(options)
    found, rest = options.parse_known_args(before)
    # As in argparse, a word with a space is not an option.
    unknown = [word for word in rest if word.startswith("-") and word != "-" and " " not in word]
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{_hint(unknown[0], options.names)}")
    positionals = _Positionals(parser, add_help=False)
    add_arguments(positionals)
    return positionals.parse_args([END_OF_OPTIONS, *rest, *behind], found)


def whole_number(least: int, most: int, *, expected: str = "") -> Callable[[str], int]:
    """Return the reader of an option that takes a number."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r}: expected {expected or f'a number from {least} to {most}'}")
        return int(text)

    return read


def asks_for_json(words: Sequence[str]) -> bool:
    """Tell if the words of a command have the option ``--json``, in full or abbreviated as argparse allows."""
    before, _ = _at_end_of_options(words)
    return any(word.startswith("--j") and "--json".startswith(word) for word in before)


def _at_end_of_options(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    end = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    return words[:end], words[end + 1 :]


def _hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence on an unknown option: a known option that is near, or the use of ``--``."""
    name, is_pair, _ = word.partition("=")
    long = {option.removeprefix("--"): option for option in known if option.startswith("--")}
    meant = nearest(name.lstrip("-"), list(long)) if len(name) > len("-x") else None
    if meant:
        return f"; did you mean {long[meant]}?"
    return "; put words that begin with - but are not options after --" if is_pair else ""


def _wrapped(lines: Iterable[str], width: int) -> str:
    """Return the lines, indented and wrapped between words; a line continues below its second column."""
    wrapped = []
    for line in lines:
        column = line.rfind("  ") + 2 if "  " in line.rstrip() else 0
        wrapped += textwrap.wrap(
            line,
            max(width, 20),
            initial_indent="  ",
            subsequent_indent=" " * (column + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(wrapped)


class _Half(argparse.ArgumentParser):
    """A parser of some of a command's arguments. The whole command's parser prints its help and errors."""

    def __init__(self, whole: argparse.ArgumentParser, *, add_help: bool) -> None:
        self.names: list[str] = []
        self._whole = whole
        super().__init__(prog=whole.prog, add_help=add_help)

    def print_help(self, file: Any = None) -> None:
        self._whole.print_help(file)

    def error(self, message: str) -> NoReturn:
        self._whole.error(message)


class _Options(_Half):
    def add_argument(self, *names: Any, **settings: Any) -> Any:
        if not names[0].startswith("-"):
            return None
        self.names += names
        return super().add_argument(*names, **settings)


class _Positionals(_Half):
    def add_argument(self, *names: Any, **settings: Any) -> Any:
        return None if names[0].startswith("-") else super().add_argument(*names, **settings)
