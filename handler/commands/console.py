"""The output of the commands: colour and tables on a terminal, plain text elsewhere.

All text is escaped here: names and texts of authors, callers and APIs may contain control sequences of terminals.
"""

from __future__ import annotations

import codecs
import io
import json
import logging
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from rich.cells import cell_len, set_cell_size

from handler.commands.command_line import current_answer, note_complaint, with_own_name
from handler.errors.authoring import Problem
from handler.text.invisible import escaped, escaped_json

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

Row = Sequence[str | int]

PLAIN_WIDTH = 1_000
"""The width for output to a file or another program, where lines must not wrap."""

TERMINAL_ANYHOW = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""The variables by which rich takes a pipe for a terminal, as those that show the output of builds do."""

PLAIN_CHARACTERS = {"…": "...", "–": "-", "─": "-", "“": '"', "”": '"'}
"""What stands for a character of our own where the output's encoding lacks it. Other characters become escapes."""


class PlainOutput:
    """Output to a file or another program, by the attributes of rich's console: rich itself is for terminals alone."""

    is_terminal = False
    no_color = True
    color_system = None
    width = PLAIN_WIDTH

    def __init__(self, *, stderr: bool) -> None:
        self._stderr = stderr

    @property
    def _stream(self) -> TextIO:
        return sys.stderr if self._stderr else sys.stdout

    @property
    def encoding(self) -> str:
        return self._stream.encoding or "utf-8"

    def print(self, text: str, *, end: str = "\n", markup: bool = False) -> None:  # noqa: ARG002 - for rich
        """Print a text as it is. Its parameters are those of rich's console that are used here."""
        self._stream.write(text.expandtabs() + end)
        self._stream.flush()


def _console(*, stderr: bool) -> Console | PlainOutput:
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    if not is_terminal and not any(os.environ.get(name) for name in TERMINAL_ANYHOW):
        return PlainOutput(stderr=stderr)
    from rich.console import Console

    is_dumb = os.environ.get("TERM") == "dumb"
    width, height = shutil.get_terminal_size() if is_dumb else (None, None)  # rich takes any dumb terminal as 80 wide
    return Console(
        width=width if is_terminal else PLAIN_WIDTH,
        height=height,
        highlight=False,
        soft_wrap=True,
        stderr=stderr,
        color_system=None if is_dumb or os.environ.get("NO_COLOR") else "auto",
    )


OUT = _console(stderr=False)
ERR = _console(stderr=True)


def degrade_characters() -> None:
    """Let no character fail a terminal or a file whose encoding lacks it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="stile")


def _degraded(failure: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(failure, UnicodeEncodeError):
        character = failure.object[failure.start]
        if character in PLAIN_CHARACTERS:
            return PLAIN_CHARACTERS[character], failure.start + 1
    return codecs.backslashreplace_errors(failure)


codecs.register_error("stile", _degraded)


def say(text: str, style: str = "") -> None:
    """Print a text; it is never read as markup. With ``--json`` it is beside the document, on standard error."""
    _print(ERR if current_answer() else OUT, text, style)


def show_verbatim(text: str) -> None:
    """Print a text whose lines are never wrapped, such as SDL."""
    _put(ERR if current_answer() else OUT, _lines(text))


def warn(text: str) -> None:
    """Print a warning, and keep it for the document of ``--json``."""
    say(text, "yellow")
    answer = current_answer()
    if answer:
        answer.warnings.append(text)


def announce(text: str) -> None:
    """Print a text for a person beside output for machines."""
    _print(ERR, text, "dim")


def complain(text: str) -> None:
    """Print an error, and keep it for the document of ``--json``."""
    note_complaint(text)
    _print(ERR, text, "red")


def _print(console: Console | PlainOutput, text: str, style: str = "") -> None:
    """Print a text, wrapped between words on a terminal. No word is broken: a path stays whole."""
    lines = _encodable(console, with_own_name(_lines(text))).split("\n")  # before its width is taken
    if console.is_terminal:
        lines = [part for line in lines for part in wrapped(line, console.width)]
    _put(console, "\n".join(lines), "" if console.no_color else style)


def _encodable(console: Console | PlainOutput, text: str) -> str:
    """Return a text as it is shown where the output's encoding lacks its characters."""
    return text.encode(console.encoding, "stile").decode(console.encoding)


def _put(console: Console | PlainOutput, text: str, style: str = "") -> None:
    """Print a text as it is."""
    if isinstance(console, PlainOutput):
        console.print(text)
        return
    from rich.text import Text

    console.print(Text(text, style=style if console.color_system else ""))


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


def problem_line(problem: Problem, folder: Path, *, kind: str = "") -> str:
    """Return ``file:line:column: sentence [code]`` on one line, with a path from the current folder."""
    file, line, column = shown_place(problem, folder)
    return " ".join(f"{file}:{line}:{column}: {kind}{problem.sentence} [{problem.code}]".split())


def complain_of(problem: Problem, folder: Path) -> None:
    """Print a problem of an endpoint folder, and keep it for the document of ``--json``."""
    answer = current_answer()
    if answer:
        answer.problems.append(plain_problem(problem, folder))
    _print(ERR, problem_line(problem, folder), "red")


def plain_problem(problem: Problem, folder: Path) -> dict[str, Any]:
    """Return a problem or warning as JSON."""
    file, line, column = shown_place(problem, folder)
    return {
        "file": file,
        "line": line,
        "column": column,
        "code": problem.code,
        "sentence": problem.sentence,
        "coordinates": list(problem.about),
    }


def shown_place(problem: Problem, folder: Path) -> tuple[str, int, int]:
    """Return a problem's path from the current folder, line and column. A problem of a whole file is at 1:1."""
    file, here = folder / problem.file, Path.cwd()
    if Path(problem.file).is_absolute() and file.is_relative_to(here):  # a problem in an author's Python
        file = file.relative_to(here)
    return file.as_posix(), problem.line or 1, problem.column or 1


def show_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    """Print a table with numbers aligned right, within the width of a terminal, and with a rule there."""
    console = ERR if current_answer() else OUT
    cells = [[cell if isinstance(cell, int) else _encodable(console, one_line(cell)) for cell in row] for row in rows]
    _print(console, one_line(title), "bold")
    width = console.width if console.is_terminal else None
    first, *others = aligned([list(headings), *cells], width, more=_encodable(console, "…"))
    lines = [line for block in others for line in block]
    if first:
        _put(console, "\n".join(first), "bold")
    if first and console.is_terminal:
        _put(console, "─" * max(map(cell_len, [*first, *lines])), "dim")
    _put(console, "\n".join([*lines, ""] if console.is_terminal else lines))


def wrapped(line: str, width: int) -> list[str]:
    """Return a line as lines of at most ``width`` cells, if its words allow; each has the indentation of the first.

    No word is broken, so that a path can be opened or copied.
    """
    if cell_len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    lines: list[str] = []
    current = ""
    for word in re.split(" +", line.strip()):
        longer = f"{current} {word}" if current else f"{indent}{word}"
        if current and cell_len(longer) > width:
            lines.append(current)
            longer = f"{indent}{word}"
        current = longer
    return [*lines, current]


GAP = "  "
LEAST_CUT = 12
"""The width below which a cell is not cut: its row takes several lines instead."""

_PLACE = re.compile(r"\S:\d")


def aligned(rows: Sequence[Row], width: int | None, *, more: str = "…") -> list[list[str]]:
    """Return the lines of each row of a table, aligned by column. The first row has the headings.

    In ``width`` cells, the widest column of texts with spaces and without places in files is cut; ``more`` stands for
    the rest of a cell. If too little is left of the column, or another column is wide, each row takes several lines:
    its first cell alone, then the others, each with its heading; then the first row has no lines.
    """
    columns = [[str(row[place]) for row in rows] for place in range(len(rows[0]))]
    widths = [max(map(cell_len, cells)) for cells in columns]
    over = sum(widths) + len(GAP) * (len(widths) - 1) - (width or 0)
    if width is not None and over > 0:
        texts = [
            place
            for place, (_, *cells) in enumerate(columns)
            if any(" " in cell for cell in cells) and not any(map(_PLACE.search, columns[place]))
        ]
        cut = max(texts, key=lambda place: widths[place], default=None)
        if cut is None or widths[cut] - over < LEAST_CUT:
            return _in_blocks(rows, width)
        widths[cut] -= over
    numeric = [any(isinstance(row[place], int) for row in rows) for place in range(len(widths))]
    return [[_line(row, widths, numeric, is_heading=row is rows[0], more=more)] for row in rows]


def _in_blocks(rows: Sequence[Row], width: int) -> list[list[str]]:
    """Return each row as its first cell, and below it the other cells with their headings, several in a line."""
    headings, *others = rows
    blocks: list[list[str]] = [[]]
    for row in others:
        lines: list[str] = [""]  # no fact joins the line of the first cell
        for heading, cell in zip(headings[1:], row[1:], strict=True):
            fact = f"{heading} {cell}"
            if str(cell) and lines[-1] and cell_len(f"{lines[-1]}{GAP}{fact}") <= width:
                lines[-1] += f"{GAP}{fact}"
            elif str(cell):
                lines += wrapped(f"{GAP}{fact}", width)
        blocks.append([str(row[0]), *lines[1:]])
    return blocks


def _line(row: Row, widths: Sequence[int], numeric: Sequence[bool], *, is_heading: bool, more: str) -> str:
    cells = []
    for cell, width, is_number in zip(row, widths, numeric, strict=True):
        text = str(cell)
        if cell_len(text) > width:
            text = f"{set_cell_size(text, width - len(more)).rstrip()}{more}"
        padding = " " * (width - cell_len(text))
        cells.append(padding + text if is_number and (is_heading or isinstance(cell, int)) else text + padding)
    return GAP.join(cells).rstrip()


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


def show_document(document: Mapping[str, Any], code: int) -> int:
    """Print the document of a run with ``--json``, with its warnings and errors, and return the exit code."""
    answer = current_answer()
    if answer:
        error = {"error": answer.error(code)} if code else {}
        show_json({**document, "warnings": answer.warnings, **error})
    return code


def track(items: Sequence[T], what: str, console: Console | PlainOutput, *, name: Callable[[T], str]) -> Iterator[T]:
    """Yield the items, with a progress bar on a terminal; for a single item, the bar only shows activity."""
    if isinstance(console, PlainOutput) or not console.is_terminal or not console.color_system:
        yield from items
        return
    # Half of the time of loading this module, for terminals alone.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=len(items) if len(items) > 1 else None)
        for item in items:
            progress.update(task, description=f"{what} {one_line(name(item))}")
            yield item
            progress.advance(task)


QUIET_S = 1.0


@contextmanager
def slow_work(sentence: str, *, when: bool = True) -> Iterator[None]:
    """Announce the work of the block if it takes longer than a second, and ``when``."""
    if not when:
        yield
        return
    timer = threading.Timer(QUIET_S, announce, [f"{one_line(sentence)} …"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
