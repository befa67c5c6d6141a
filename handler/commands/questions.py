"""Questions to the person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from handler.commands.console import ERR


def can_ask() -> bool:
    """Tell if a person can answer: input and messages are on a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """Return the answer to a question, asked until there is one.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    while True:
        ERR.print(f"{question} ", end="", markup=False)
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        if line.strip():
            return line.strip()


def choose(question: str, choices: Sequence[str], *, default: str) -> str:
    """Return one of the choices; an empty answer is the default.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    while True:
        ERR.print(f"{question} ({', '.join(choices)}; default {default}) ", end="", markup=False)
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        if (line.strip() or default) in choices:
            return line.strip() or default


def agreed(question: str, *, yes: bool) -> bool:
    """Tell if the person at the terminal agrees, or has agreed with ``--yes``; ``False`` without a terminal.

    Raises:
        KeyboardInterrupt: the input ended.
    """
    if yes:
        return True
    return can_ask() and choose(question, ("y", "n"), default="n") == "y"
