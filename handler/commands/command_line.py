"""The parser of command lines with options before, between and after positionals; ``--`` ends the options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

END_OF_OPTIONS = "--"

AddArguments = Callable[[argparse.ArgumentParser], None]


def parse_in_any_order(
    parser: argparse.ArgumentParser, add_arguments: AddArguments, words: Sequence[str]
) -> argparse.Namespace:
    """Parse the words of one command with the arguments that ``add_arguments`` adds to a parser.

    argparse takes an optional positional argument (``nargs="*"``) as empty at the first option, so options and
    positionals are parsed separately; argparse's own ``parse_intermixed_args`` loses the meaning of ``--``. ``parser``
    has all arguments, and prints help and errors.
    """
    end = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    options = _Options(parser, add_help=True)
    add_arguments(options)
    found, rest = options.parse_known_args(words[:end])
    # As in argparse, a word with a space is not an option.
    unknown = [word for word in rest if word.startswith("-") and word != "-" and " " not in word]
    if unknown:
        hint = "; put words that begin with - but are not options after --" if "=" in unknown[0] else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    positionals = _Positionals(parser, add_help=False)
    add_arguments(positionals)
    return positionals.parse_args([END_OF_OPTIONS, *rest, *words[end + 1 :]], found)


class _Half(argparse.ArgumentParser):
    """A parser of some of a command's arguments. The whole command's parser prints its help and errors."""

    def __init__(self, whole: argparse.ArgumentParser, *, add_help: bool) -> None:
        super().__init__(prog=whole.prog, add_help=add_help)
        self._whole = whole

    def print_help(self, file: Any = None) -> None:
        self._whole.print_help(file)

    def error(self, message: str) -> NoReturn:
        self._whole.error(message)


class _Options(_Half):
    def add_argument(self, *names: Any, **settings: Any) -> Any:
        return super().add_argument(*names, **settings) if names[0].startswith("-") else None


class _Positionals(_Half):
    def add_argument(self, *names: Any, **settings: Any) -> Any:
        return None if names[0].startswith("-") else super().add_argument(*names, **settings)
