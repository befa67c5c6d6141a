"""A result of a search."""

from __future__ import annotations

from handler.cold.records import record


@record(frozen=True, slots=True)
class Match:
    """A part of a schema that a search found."""

    coordinate: str  # "Order", "Order.total", "Query.orders(first:)", "Status.OPEN"
    score: float  # 0 to 1
    paths: tuple[tuple[str, ...], ...]  # the shortest first; each from a root field's coordinate to the match's own
