"""Questions to the person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from handler.commands.console import ERR


def can_ask() -> bool:
    """Return whether a person can answer: input and messages are on a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """Return the answer to a question, asked until there is one.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    while True:
        if answer := _answer(question):
            return answer


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
