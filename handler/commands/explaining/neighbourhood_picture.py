"""A picture of a coordinate's neighbourhood, as a caller reaches it: SVG text.

The text has one look in both themes, sends no request, runs no script, and is equal for equal inputs. Colours have a
sign and a line style beside them.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from rich.cells import cell_len, set_cell_size

from handler.commands.explaining.neighbourhood import Box, Neighbourhood, Row, find_neighbourhood
from handler.commands.explaining.standings import CoordinateStanding, CoordinateStandings
from handler.commands.explaining.wording import caller_in_words
from handler.commands.reach.reach import Reach, Visitor
from handler.commands.terminal.console import one_line
from handler.errors.authoring import UnknownCoordinate

STYLE = """
:root{color-scheme:light dark;--back:#fff;--box:#f6f8fa;--line:#8c959f;--text:#1f2328;--dim:#57606a}
.reached{--on:#116329}.ruled{--on:#a40e26}.unasked{--on:#57606a}
svg{background:var(--back)}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--text);white-space:pre;\
direction:ltr;unicode-bidi:isolate}
.h{font-size:15px;font-weight:600}.t{font-weight:600}.d{fill:var(--dim)}.c{fill:var(--on)}
.b{fill:var(--box);stroke:var(--on);stroke-width:1.2}.asked .b{stroke-width:3}.m{fill:var(--on);opacity:.14}
.e{fill:none;stroke:var(--on);stroke-width:1.4}.a{fill:var(--on)}
.ruled .e,.ruled>.b{stroke-dasharray:6 3}.unasked .e,.unasked>.b{stroke-dasharray:2 3}
@media (prefers-color-scheme:dark){
:root{--back:#0d1117;--box:#161b22;--line:#6e7681;--text:#e6edf3;--dim:#9198a1}
.reached{--on:#56d364}.ruled{--on:#ff7b72}.unasked{--on:#9198a1}
}
"""

PICTURE_HEADERS = {
    "content-type": "image/svg+xml; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; style-src 'sha256-"
    f"{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'",
    "x-content-type-options": "nosniff",
}
"""The headers with which a picture is served."""

NAMESPACE = "http://www.w3.org/2000/svg"

SIGNS = {"reached": "✓", "ruled": "✕", "unasked": "○"}

LEGEND = {
    "reached": "reached",
    "ruled": "hidden by a rule (file:line)",
    "unasked": "in no tool of this caller: patterns hide it, or no operation asks for it",
}

CHAR, LINE, HEAD, PAD = 7.3, 19, 27, 10
GAP_X, GAP_Y, TOP = 84, 16, 64
MOST_CELLS, MOST_NOTE_CELLS, MOST_TITLE_CELLS = 46, 34, 110

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow. Source: XML 1.0, "Char"."""


def neighbourhood_picture(reach: Reach, coordinate: str, visitor: Visitor) -> str:
    """Return the SVG of a coordinate's neighbourhood. ``coordinate`` is one that ``resolve_in`` has returned.

    Raises:
        UnknownCoordinate: the endpoint has no schema.
    """
    if reach.index is None:
        raise UnknownCoordinate("the endpoint has no schema")
    standings = CoordinateStandings(reach, reach.index, visitor)
    found = find_neighbourhood(reach.index, coordinate, standings)
    title = f"{coordinate} of {reach.compiled.bundle.endpoint}, for {_caller(visitor)}"
    return _Drawing(found, title=title, asked=standings.of(coordinate)).svg()


def _caller(visitor: Visitor) -> str:
    """Return a caller in words, with the name of a claims file and without its folders, and nothing beyond a 401."""
    words, file = caller_in_words(visitor).partition("; policies")[0], visitor.principal.name
    return words.replace(file, Path(file).name) if visitor.principal.kind == "token" and file else words


@dataclass(slots=True)
class _Placed:
    """A box with its place."""

    box: Box
    x: int
    y: int
    width: int
    height: int


class _Drawing:
    """Boxes in columns, each column in the middle of the height, and curves between them."""

    def __init__(self, found: Neighbourhood, *, title: str, asked: CoordinateStanding) -> None:
        self._found = found
        self._title = title
        self._asked = asked
        self._right = 0
        self._bottom = 0
        self._notes: list[tuple[int, int, str]] = []  # words for types that are not shown
        self._placed = {each.box.name: each for each in self._place()}

    def svg(self) -> str:
        """Return the picture."""
        legend = list(self._legend())
        width = max(self._right, _cells_wide(self._shown_title(), 9.2), 620) + 24
        height = self._bottom + 36 + LINE * len(LEGEND)
        parts = [
            f'<svg xmlns="{NAMESPACE}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"',
            ' aria-labelledby="title desc">',
            f'<title id="title">{_text(self._title)}</title>',
            f'<desc id="desc">{_text(self._description())}</desc>',
            f"<style>{STYLE}</style>",
            f'<text class="h" x="24" y="34">{_text(self._shown_title())}</text>',
            *self._edges(),
            *(part for each in self._placed.values() for part in _drawn(each)),
            *(f'<text class="d" x="{x}" y="{y}">{_text(words)}</text>' for x, y, words in self._notes),
            *legend,
            "</svg>\n",
        ]
        return "\n".join(parts)

    def _shown_title(self) -> str:
        return _fit(one_line(self._title), MOST_TITLE_CELLS)

    def _description(self) -> str:
        """Return the picture in words."""
        said = [f"{self._found.coordinate}: {_in_words(self._asked)}."]
        for box in self._found.boxes:
            rows = "; ".join(f"{row.text.strip()}, {_in_words(row.standing)}" for row in box.rows)
            more = f"; {box.more}" if box.more and rows else box.more
            said.append(f"{box.kind} {box.name}, {_in_words(box.standing)}: {rows}{more}.")
        return " ".join([*said, *(f"{words}." for words in self._found.more.values())])

    def _place(self) -> Iterator[_Placed]:
        """Yield the boxes with their places, columns from the left."""
        columns: dict[int, list[Box]] = {}
        for box in self._found.boxes:
            columns.setdefault(box.column, []).append(box)
        heights = {column: self._height(column, boxes) for column, boxes in columns.items()}
        tallest, x = max(heights.values()), 24
        self._bottom = TOP + tallest
        for column in sorted(columns):
            width = max(_width(box) for box in columns[column])
            y = TOP + (tallest - heights[column]) // 2
            for box in columns[column]:
                yield _Placed(box, x, y, width, _height(box))
                y += _height(box) + GAP_Y
            if column in self._found.more:
                self._notes.append((x, y + LINE - 6, self._found.more[column]))
                width = max(width, _cells_wide(self._found.more[column]))
            x += width + GAP_X
        self._right = x - GAP_X

    def _height(self, column: int, boxes: list[Box]) -> int:
        more = LINE + GAP_Y if column in self._found.more else 0
        return sum(map(_height, boxes)) + GAP_Y * (len(boxes) - 1) + more

    def _edges(self) -> Iterator[str]:
        for placed in self._placed.values():
            for number, row in enumerate(placed.box.rows):
                target = self._placed.get(row.target)
                if target and target.box.column > placed.box.column:
                    y = placed.y + HEAD + number * LINE + LINE // 2
                    yield _edge(row, placed.x + placed.width, y, target)

    def _legend(self) -> Iterator[str]:
        for number, (standing, words) in enumerate(LEGEND.items()):
            y = self._bottom + 24 + LINE * (number + 1)
            yield f'<g class="{standing}"><text class="c" x="24" y="{y}">{SIGNS[standing]} {words}</text></g>'


def _edge(row: Row, x: int, y: int, target: _Placed) -> str:
    end, at = target.x - 7, target.y + HEAD // 2
    bend = max((end - x) // 2, 24)
    curve = f"M{x} {y}C{x + bend} {y} {end - bend} {at} {end} {at}"
    arrow = f"M{end} {at - 4}L{end + 7} {at}L{end} {at + 4}Z"
    return f'<g class="{row.standing.standing}"><path class="e" d="{curve}"/><path class="a" d="{arrow}"/></g>'


def _drawn(placed: _Placed) -> Iterator[str]:
    box, x, y = placed.box, placed.x, placed.y
    asked = " asked" if box.asked else ""
    yield f'<g class="{box.standing.standing}{asked}"><title>{_text(f"{box.name}: {_in_words(box.standing)}")}</title>'
    yield f'<rect class="b" x="{x}" y="{y}" width="{placed.width}" height="{placed.height}" rx="6"/>'
    yield f'<text class="t" x="{x + PAD}" y="{y + 18}">{_text(_label_of(box))}</text>'
    note = _note(box.standing)
    if note:
        yield f'<text class="c" x="{x + placed.width - PAD}" y="{y + 18}" text-anchor="end">{_text(note)}</text>'
    yield "</g>"
    for number, row in enumerate(box.rows):
        yield from _drawn_row(row, placed, y + HEAD + number * LINE)
    if box.more:
        at = y + HEAD + len(box.rows) * LINE + 13
        yield f'<text class="d" x="{x + PAD}" y="{at}">{_text(box.more)}</text>'


def _drawn_row(row: Row, placed: _Placed, y: int) -> Iterator[str]:
    x, right = placed.x + PAD, placed.x + placed.width - PAD
    yield f'<g class="{row.standing.standing}">'
    yield f"<title>{_text(f'{row.coordinate}: {_in_words(row.standing)}')}</title>"
    if row.asked:
        yield f'<rect class="m" x="{placed.x + 3}" y="{y}" width="{placed.width - 6}" height="{LINE}" rx="3"/>'
    strong = ' class="t"' if row.asked else ""
    yield f'<text class="c" x="{x}" y="{y + 13}">{SIGNS[row.standing.standing]}</text>'
    yield f'<text{strong} x="{x + 16}" y="{y + 13}">{_text(_fit(row.text, MOST_CELLS))}</text>'
    note = _note(row.standing)
    if note:
        yield f'<text class="c" x="{right}" y="{y + 13}" text-anchor="end">{_text(note)}</text>'
    yield "</g>"


def _label_of(box: Box) -> str:
    return _fit(f"{box.name}  {box.kind}", MOST_CELLS)


def _note(standing: CoordinateStanding) -> str:
    more = f" +{standing.more}" if standing.more else ""
    is_place = standing.place != standing.text  # the line is at the end
    return f"{_fit(one_line(standing.place), MOST_NOTE_CELLS, keep_end=is_place)}{more}" if standing.place else ""


def _in_words(standing: CoordinateStanding) -> str:
    match standing.standing:
        case "reached":
            return "reached"
        case "ruled":
            more = f" and {standing.more} more" if standing.more else ""
            text = f" ({standing.text})" if standing.text and standing.text != standing.place else ""
            return f"hidden by {standing.place}{text}{more}"
        case _:
            return "in no tool of this caller"


def _height(box: Box) -> int:
    return HEAD + LINE * (len(box.rows) + bool(box.more)) + (6 if box.rows or box.more else 0)


def _width(box: Box) -> int:
    lines = [(_label_of(box), _note(box.standing)), (box.more, "")]
    lines += [(f"  {_fit(row.text, MOST_CELLS)}", _note(row.standing)) for row in box.rows]
    widest = max(cell_len(text) + (cell_len(note) + 3 if note else 0) for text, note in lines)
    return int(widest * CHAR) + 2 * PAD + 6


def _cells_wide(text: str, char: float = CHAR) -> int:
    return int(cell_len(text) * char)


def _fit(text: str, cells: int, *, keep_end: bool = False) -> str:
    """Cut a text to a width in cells of a monospaced font."""
    if cell_len(text) <= cells:
        return text
    if keep_end:
        return f"…{set_cell_size(text[::-1], cells - 1).rstrip()[::-1]}"
    return f"{set_cell_size(text, cells - 1).rstrip()}…"


def _text(text: str) -> str:
    """Escape a text for XML. Invisible characters, and those that XML does not allow, are spelt out."""
    return escape(NOT_XML.sub(lambda found: ascii(found[0])[1:-1], one_line(text)), {'"': "&quot;"})
