"""Search in one caller's view of a schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handler.graph.view import View
from handler.search.matches import Match
from handler.search.paths import Paths
from handler.search.ranking import Ranked, rank
from handler.search.words import Vocabulary


class SchemaSearch:
    """A view, ready to be searched. Every number that counts is the view's own."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._documents = list(_documents(view))
        self._vocabulary = Vocabulary()
        self._paths = Paths(view)

    def search(self, question: str, limit: int) -> Sequence[Match]:
        """Return what answers a question best, at most ``limit`` matches, the best first."""
        ranked = rank(self._documents, question, vocabulary=self._vocabulary)[:limit]
        return [Match(name, score, self._paths.to(name)) for name, score in ranked]


def _documents(view: View) -> Iterator[Ranked]:
    for name in view.members:
        entry = view.index[name]
        yield Ranked(name, (name,), (entry.description,))
        for member in view.members[name]:
            part = entry.fields.get(member) or entry.inputs.get(member)
            if part:
                yield Ranked(f"{name}.{member}", (name, member), (part.description,))
