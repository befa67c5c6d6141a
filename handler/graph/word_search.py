"""The parts of a view that share words with a question, and the ways that lead to them. Pure data, no graphql-core."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from handler.graph.index_types import named
from handler.graph.view import BUILT_IN_SCALARS, View
from handler.records import record

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@record(frozen=True, slots=True)
class Match:
    """A definition that a search found. ``score``: from 0 to 1; ``paths``: coordinates from a root field to it."""

    coordinate: str
    score: float
    paths: Sequence[Sequence[str]]


class SchemaSearch:
    """The search of one view. Nothing outside of the view counts."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._words = {coordinate: _words_of(text) for coordinate, text in _texts(view)}
        self._ways = _ways(view)

    def search(self, question: str, limit: int) -> list[Match]:
        """Return the best matches of a question, the best first."""
        asked = _words_of(question)
        shared = {coordinate: len(asked & words) for coordinate, words in self._words.items()}
        ranked = sorted((each for each in shared if shared[each]), key=lambda each: (-shared[each], each))
        return [
            Match(coordinate, shared[coordinate] / len(asked), self._paths(coordinate)) for coordinate in ranked[:limit]
        ]

    def _paths(self, coordinate: str) -> list[list[str]]:
        type_name = coordinate.partition(".")[0]
        return [[*self._ways[type_name], coordinate]] if type_name in self._ways else []


def _words_of(text: str) -> frozenset[str]:
    return frozenset(word.lower().removesuffix("s") for word in WORD.findall(text))


def _texts(view: View) -> Iterator[tuple[str, str]]:
    for name in view.members:
        if name not in BUILT_IN_SCALARS:
            yield name, name
            if view.index.kind(name) not in ("union", "scalar"):
                yield from ((f"{name}.{member}", f"{name} {member}") for member in view.members[name])


def _ways(view: View) -> dict[str, list[str]]:
    """Return the shortest way of fields to each type that requests reach."""
    ways: dict[str, list[str]] = {view.index.roots[kind]: [] for kind in view.root_fields()}
    waiting = deque(ways)
    while waiting:
        name = waiting.popleft()
        if view.index.kind(name) not in ("object", "interface"):
            continue
        for member in view.members[name]:
            below = named(view.index[name].fields[member].type)
            if below not in ways:
                ways[below] = [*ways[name], f"{name}.{member}"]
                waiting.append(below)
    return ways
