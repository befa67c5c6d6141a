"""The fields ``__search`` and ``__definitions`` of a query, answered from one view alone.

A cursor holds the position of its result and a digest of the question and of all results up to that position. The next
page is found again from the question; nothing is kept. A cursor of another question, or of a view that ranks other
definitions so far, is refused: it would skip or repeat results.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice

from handler.cold.records import record
from handler.graph.documents.coordinate_definitions import Definition, find_definition
from handler.graph.documents.introspection_fields import Introspected
from handler.graph.documents.locations import printable
from handler.graph.documents.partial_schema import ViewSchemas

MAX_QUESTION_CHARS = 1_000

MAX_RESULTS = 100
"""Results of one question over all of its pages. What ranks lower answers nothing."""

MAX_COORDINATES = 100
"""Coordinates of one ``__definitions``."""

DIGEST_BYTES = 12
PLACE_BYTES = 2

UNKNOWN_CURSOR = "after: expected the cursor of an earlier result of this very query, from this schema"


class ArgumentRefused(Exception):
    """An argument that its type allows and a rule does not. ``item`` is the position in the field's list, if any."""

    def __init__(self, message: str, *, item: int | None = None) -> None:
        super().__init__(message)
        self.item = item


@record(frozen=True, slots=True)
class SearchResult:
    """One ``__SearchResult``. The definition is found when it is asked for."""

    coordinate: str
    pathsToRoot: Sequence[Sequence[str]]  # noqa: N815 - as the field is named
    score: float
    cursor: str


def search(
    schemas: ViewSchemas,
    *,
    query: str,
    first: int,
    after: str | None = None,
    minScore: float | None = None,  # noqa: N803 - as the argument is named
) -> list[SearchResult]:
    """Return a page of the results of ``__search``.

    Raises:
        ArgumentRefused: ``query`` is too long, ``first`` is negative, or ``after`` is not a cursor of this search.
    """
    if len(query) > MAX_QUESTION_CHARS:
        raise ArgumentRefused(f"query: expected at most {MAX_QUESTION_CHARS:,} characters")
    if first < 0:
        raise ArgumentRefused("first: expected 0 or a greater number")
    start = 0 if after is None else _place(after) + 1
    matches = schemas.search().search(query, min(start + first, MAX_RESULTS))
    cursors = list(_cursors(query, [match.coordinate for match in matches]))
    if after is not None and cursors[start - 1 : start] != [after]:
        raise ArgumentRefused(UNKNOWN_CURSOR)
    page = islice(zip(matches, cursors, strict=True), start, None)
    return [
        SearchResult(match.coordinate, match.paths, match.score, cursor)
        for match, cursor in page
        if minScore is None or match.score >= minScore
    ]


def definitions(shown: Introspected, coordinates: Sequence[str]) -> Iterator[Definition]:
    """Yield the definitions of ``__definitions``, in the order of the coordinates.

    Raises:
        ArgumentRefused: too many coordinates, or a coordinate without a definition in this view.
    """
    if len(coordinates) > MAX_COORDINATES:
        raise ArgumentRefused(f"coordinates: expected at most {MAX_COORDINATES}")
    for item, coordinate in enumerate(coordinates):
        found = find_definition(shown, coordinate)
        if found is None:
            raise ArgumentRefused(f"Unknown schema coordinate '{printable(coordinate)}'.", item=item)
        yield found


def _cursors(query: str, coordinates: Sequence[str]) -> Iterator[str]:
    digest = hashlib.sha256(query.encode(errors="surrogatepass"))
    for place, coordinate in enumerate(coordinates):
        digest.update(f"\0{coordinate}".encode())
        raw = place.to_bytes(PLACE_BYTES, "big") + digest.digest()[:DIGEST_BYTES]
        yield base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _place(cursor: str) -> int:
    """Return the position that a cursor names. Its digest is compared with those of the results."""
    try:
        raw = base64.urlsafe_b64decode(f"{cursor}==")
    except ValueError:
        raw = b""
    place = int.from_bytes(raw[:PLACE_BYTES], "big")
    if len(raw) != PLACE_BYTES + DIGEST_BYTES or place >= MAX_RESULTS:
        raise ArgumentRefused(UNKNOWN_CURSOR)
    return place
