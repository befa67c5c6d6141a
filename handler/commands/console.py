"""The output of the commands: colour and tables on a terminal, plain text elsewhere.

All text is escaped here: names and texts of authors, callers and APIs may contain control sequences of terminals.
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

from handler.commands.json_answer import current_answer, note_complaint
from handler.errors.authoring import Problem
from handler.invisible import escaped, escaped_json

T = TypeVar("T")

PLAIN_WIDTH = 1_000
"""The width for output to a file or another program, where lines must not wrap."""

OUT = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=True)
ERR = Console(width=None if sys.stderr.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=True, stderr=True)


def say(text: str, style: str = "") -> None:
    """Print a text; it is never read as markup. With ``--json`` it is beside the document, on standard error."""
    (ERR if current_answer() else OUT).print(Text(_lines(text), style=style))


def warn(text: str) -> None:
    """Print a warning, and keep it for the document of ``--json``."""
    say(text, "yellow")
    answer = current_answer()
    if answer:
        answer.warnings.append(text)


def announce(text: str) -> None:
    """Print a text for a person beside output for machines."""
    ERR.print(Text(_lines(text), style="dim"))


def complain(text: str) -> None:
    """Print an error, and keep it for the document of ``--json``."""
    note_complaint(text)
    ERR.print(Text(_lines(text), style="red"))


def one_line(text: str) -> str:
    """Escape a text, line breaks and tabs included, to stay on one line."""
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def _lines(text: str) -> str:
    """Escape a text of several lines; CRLF becomes LF."""
    return escaped(text.replace("\r\n", "\n"))


class EscapingFormatter(logging.Formatter):
    """A formatter that escapes log records for a terminal: an exception may quote a caller."""

    def format(self, record: logging.LogRecord) -> str:
        return _lines(super().format(record))


def located(problem: Problem, folder: Path, *, kind: str = "") -> str:
    """Return ``file:line:column: sentence [code]`` on one line, with a path from the current folder."""
    file, line, column = place_of(problem, folder)
    return " ".join(f"{file}:{line}:{column}: {kind}{problem.sentence} [{problem.code}]".split())


def complain_of(problem: Problem, folder: Path) -> None:
    """Print a problem of an endpoint folder, and keep it for the document of ``--json``."""
    answer = current_answer()
    if answer:
        answer.problems.append(plain_problem(problem, folder))
    ERR.print(Text(_lines(located(problem, folder)), style="red"))


def plain_problem(problem: Problem, folder: Path) -> dict[str, Any]:
    """Return a problem or warning as JSON."""
    file, line, column = place_of(problem, folder)
    return {
        "file": file,
        "line": line,
        "column": column,
        "code": problem.code,
        "sentence": problem.sentence,
        "coordinates": list(problem.about),
    }


def place_of(problem: Problem, folder: Path) -> tuple[str, int, int]:
    """Return a problem's path from the current folder, line and column. A problem of a whole file is at 1:1."""
    file, here = folder / problem.file, Path.cwd()
    if Path(problem.file).is_absolute() and file.is_relative_to(here):  # a problem in an author's Python
        file = file.relative_to(here)
    return file.as_posix(), problem.line or 1, problem.column or 1


def show_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    """Print a table with numbers aligned right; without a terminal, aligned columns and no lines."""
    title = one_line(title)
    rows = [[cell if isinstance(cell, int) else one_line(cell) for cell in row] for row in rows]
    if not OUT.is_terminal:
        _show_columns(title, [headings, *rows])
        return
    table = Table(title=Text(title, style="bold"), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        cells = [row[place] for row in rows]
        justify: JustifyMethod = "right" if any(isinstance(cell, int) for cell in cells) else "left"
        words = any(" " in str(cell) for cell in cells)  # only words may wrap on a narrow terminal
        table.add_column(heading, justify=justify, no_wrap=not words, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    OUT.print(table)


def show_json(value: Any) -> None:
    """Print JSON for another program, as ASCII with escapes if the output's encoding lacks a character."""
    text = escaped_json(json.dumps(value, ensure_ascii=False, indent=2))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    answer = current_answer()
    if answer:
        answer.is_printed = True
    sys.stdout.write(text + "\n")


def track(items: Sequence[T], what: str, console: Console, *, name: Callable[[T], str]) -> Iterator[T]:
    """Yield the items, with a progress bar on a terminal; for a single item, the bar only shows activity."""
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
