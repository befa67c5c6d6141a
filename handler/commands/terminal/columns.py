"""Lines and tables within the width of a terminal. No word is broken, so that a path can be opened or copied."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

GAP = "  "
LEAST_CUT = 12
"""The width below which a cell is not cut: its row takes several lines instead."""

Row = Sequence[str | int]


def wrapped(line: str, width: int) -> list[str]:
    """Return a line as lines of at most ``width`` cells, if its words allow; each has the indentation of the first."""
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


def aligned(rows: Sequence[Row], width: int | None, *, more: str = "…") -> list[list[str]]:
    """Return the lines of each row of a table, aligned by column. The first row has the headings.

    In ``width`` cells, the widest column of texts with spaces is cut; ``more`` stands for the rest of a cell. If too
    little is left of the column, or another column is wide, each row takes several lines: its first cell alone, then
    the others, each with its heading; then the first row has no lines.
    """
    widths = _widths(rows)
    if width is None or sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        return [[_line(row, widths, rows, more=more)] for row in rows]
    over = sum(widths) + len(GAP) * (len(widths) - 1) - width
    cut = _widest_of_words(rows, widths)
    if cut is not None and widths[cut] - over >= LEAST_CUT:
        widths[cut] -= over
        return [[_line(row, widths, rows, more=more)] for row in rows]
    return _in_blocks(rows, width)


def _widths(rows: Sequence[Row]) -> list[int]:
    return [max(cell_len(str(row[place])) for row in rows) for place in range(len(rows[0]))]


def _widest_of_words(rows: Sequence[Row], widths: Sequence[int]) -> int | None:
    """Return the column that may be cut: the widest whose cells have spaces, and no place in a file."""
    places = [place for place in range(len(widths)) if any(" " in str(row[place]) for row in rows[1:])]
    places = [place for place in places if not any(_PLACE.search(str(row[place])) for row in rows)]
    return max(places, key=lambda place: widths[place], default=None)


_PLACE = re.compile(r"\S:\d")


def _in_blocks(rows: Sequence[Row], width: int) -> list[list[str]]:
    """Return each row as its first cell, and below it the other cells with their headings, wrapped."""
    headings, *others = rows
    blocks: list[list[str]] = [[]]
    for row in others:
        facts = [f"{heading} {cell}" for heading, cell in zip(headings[1:], row[1:], strict=True) if str(cell)]
        blocks.append([str(row[0]), *_filled(facts, width)])
    return blocks


def _filled(facts: Sequence[str], width: int) -> list[str]:
    """Return the facts in indented lines, several in a line if they fit, and wrapped if one alone does not."""
    lines: list[str] = []
    for fact in facts:
        longer = f"{lines[-1]}{GAP}{fact}" if lines else ""
        if longer and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines += wrapped(f"{GAP}{fact}", width)
    return lines


def _line(row: Row, widths: Sequence[int], rows: Sequence[Row], *, more: str) -> str:
    cells = []
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        is_number = any(isinstance(other[place], int) for other in rows)
        text = _cut(str(cell), width, more)
        padding = " " * (width - cell_len(text))
        cells.append(padding + text if is_number and (row is rows[0] or isinstance(cell, int)) else text + padding)
    return GAP.join(cells).rstrip()


def _cut(text: str, width: int, more: str) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - len(more)).rstrip()}{more}"
