"""Questions to the person at a terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from handler.commands.console import ERR, complain

T = TypeVar("T")


def can_ask() -> bool:
    """Return whether a person can answer: input and messages are on a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_user(question: str, parse: Callable[[str], T]) -> T:
    """Return the answer to a question, asked until there is one that can be parsed.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    while True:
        if answer := _answer(question):
            try:
                return parse(answer)
            except argparse.ArgumentTypeError as exc:
                complain(str(exc))


def choose(question: str, choices: Sequence[str], *, default: str) -> str:
    """Return one of the choices; an empty answer is the default.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    while True:
        answer = _answer(f"{question} ({', '.join(choices)}; default {default})") or default
        if answer in choices:
            return answer


def _answer(question: str) -> str:
    ERR.print(f"{question} ", end="", markup=False)
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip()


def agreed(question: str, *, yes: bool) -> bool:
    """Return whether the person at the terminal agrees, or has agreed with ``--yes``; ``False`` without a terminal.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    return yes or (can_ask() and choose(question, ("y", "n"), default="n") == "y")
