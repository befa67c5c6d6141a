"""What the commands print: colour and tables on a terminal, plain text elsewhere.

Names and texts are an author's, a caller's or an API's, and may hold what a terminal obeys: all are escaped here.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from handler.errors import Problem
from handler.invisible import escaped, escaped_json

T = TypeVar("T")

PLAIN_WIDTH = 1_000
"""Wide enough that nothing wraps when the output goes to a file or another program."""

OUT = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=True)
ERR = Console(width=None if sys.stderr.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=True, stderr=True)


def say(text: str, style: str = "") -> None:
    """Print a text of our own lines, never read as markup."""
    OUT.print(Text(_lines(text), style=style))


def complain(text: str) -> None:
    """Print a text about something wrong."""
    ERR.print(Text(_lines(text), style="red"))


def one_line(text: str) -> str:
    """Text that cannot begin a line of its own."""
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def _lines(text: str) -> str:
    """Text of several lines, whichever way they end."""
    return escaped(text.replace("\r\n", "\n"))


class EscapingFormatter(logging.Formatter):
    """Formats records of the log as texts that a terminal shows as they are: an exception may quote a caller."""

    def format(self, record: logging.LogRecord) -> str:
        return _lines(super().format(record))


def located(problem: Problem, folder: Path, *, kind: str = "") -> str:
    """Return ``file:line:column: sentence [code]`` on one line, with a path that can be opened from here."""
    file, line, column = place_of(problem, folder)
    return " ".join(f"{file}:{line}:{column}: {kind}{problem.sentence} [{problem.code}]".split())


def place_of(problem: Problem, folder: Path) -> tuple[str, int, int]:
    """The path of a problem's file from here, with line and column. A whole file's problem is at its beginning."""
    file, here = folder / problem.file, Path.cwd()
    if Path(problem.file).is_absolute() and file.is_relative_to(here):  # an author's Python knows where it stands
        file = file.relative_to(here)
    return file.as_posix(), problem.line or 1, problem.column or 1


def show_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    """Print a table, its numbers to the right; without a terminal, aligned columns and no lines."""
    title = one_line(title)
    rows = [[cell if isinstance(cell, int) else one_line(cell) for cell in row] for row in rows]
    if not OUT.is_terminal:
        _show_columns(title, [headings, *rows])
        return
    table = Table(title=Text(title, style="bold"), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        cells = [row[place] for row in rows]
        justify: JustifyMethod = "right" if any(isinstance(cell, int) for cell in cells) else "left"
        words = any(" " in str(cell) for cell in cells)  # only these may be broken where the terminal is narrow
        table.add_column(heading, justify=justify, no_wrap=not words, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    OUT.print(table)


def show_json(value: Any) -> None:
    """Print JSON for another program, in escapes where the output's encoding has not every character."""
    text = escaped_json(json.dumps(value, ensure_ascii=False, indent=2))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    sys.stdout.write(text + "\n")


def track(items: Sequence[T], what: str, console: Console, *, name: Callable[[T], str]) -> Iterator[T]:
    """The items one by one, with a bar on a terminal that shows how far it is; of a single one, that it is at work."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(what, total=len(items) if len(items) > 1 else None)
        for item in items:
            progress.update(task, description=f"{what} {one_line(name(item))}")
            yield item
            progress.advance(task)


def _show_columns(title: str, rows: Sequence[Sequence[str | int]]) -> None:
    say(title)
    widths = [max(len(str(row[place])) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = (
            str(cell).rjust(width) if isinstance(cell, int) else str(cell).ljust(width)
            for cell, width in zip(row, widths, strict=True)
        )
        say("  ".join(cells).rstrip())
