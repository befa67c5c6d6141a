"""What the commands print: colour and tables on a terminal, plain text elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from handler.errors import Problem

PLAIN_WIDTH = 1_000
"""Wide enough that nothing wraps when the output goes to a file or another program."""

OUT = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=True)
ERR = Console(width=None if sys.stderr.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=True, stderr=True)


def say(text: str, style: str = "") -> None:
    """Print one line, never read as markup."""
    OUT.print(Text(text, style=style))


def complain(text: str) -> None:
    """Print one line about something wrong."""
    ERR.print(Text(text, style="red"))


def show_problems(problems: Iterable[Problem], folder: Path, *, style: str = "red", prefix: str = "") -> None:
    """Print each as ``file:line:column: sentence``, with paths that can be opened from here."""
    for problem in problems:
        ERR.print(Text(f"{prefix}{located(problem, folder)}", style=style))


def located(problem: Problem, folder: Path) -> str:
    """A problem with its endpoint's folder in front of the file."""
    return f"{folder.as_posix()}/{problem}"


def show_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; without a terminal, aligned columns and no lines."""
    plain = not OUT.is_terminal
    table = Table(title=title or None, title_justify="left", box=None if plain else SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=plain, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    OUT.print(table)


def show_json(value: Any) -> None:
    """Print JSON for another program."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that something is under way."""
    if ERR.is_terminal:
        with ERR.status(what):
            yield
    else:
        yield
