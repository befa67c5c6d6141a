from __future__ import annotations

from dataclasses import dataclass

from graphql import GraphQLError, Node, Source, get_location

from handler.errors import CompileError, Problem


@dataclass(frozen=True, slots=True)
class Place:
    """Where in an author's file; line and column count from 1, 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0


At = Place | Node | GraphQLError


class Problems:
    """What is wrong with an endpoint folder. Gathers all of it, so that one run tells everything."""

    def __init__(self) -> None:
        self._errors: list[Problem] = []
        self._warnings: list[Problem] = []

    def add(self, at: At, sentence: str) -> None:
        """Report a mistake: the folder cannot be published."""
        self._errors.append(_problem(at, sentence))

    def warn(self, at: At, sentence: str) -> None:
        """Report a doubt: the folder can be published."""
        self._warnings.append(_problem(at, sentence))

    def raise_if_any(self) -> None:
        """Raise everything found so far, in file order.

        Raises:
            CompileError: there was something.
        """
        if self._errors:
            raise self.error()

    def error(self) -> CompileError:
        """Everything found so far, as the error to raise."""
        return CompileError(sorted(set(self._errors)))

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The doubts, in file order."""
        return tuple(sorted(set(self._warnings)))


def place_of(node: Node) -> Place:
    """Where a syntax tree node stands in its file."""
    if node.loc is None:
        return Place("index.graphql")
    at = get_location(node.loc.source, node.loc.start)
    return Place(node.loc.source.name, at.line, at.column)


def place_in(source: Source, position: int) -> Place:
    """Where a position in a file's text stands."""
    at = get_location(source, position)
    return Place(source.name, at.line, at.column)


def _problem(at: At, sentence: str) -> Problem:
    place = at if isinstance(at, Place) else _error_place(at) if isinstance(at, GraphQLError) else place_of(at)
    return Problem(file=place.file, line=place.line, column=place.column, sentence=sentence)


def _error_place(error: GraphQLError) -> Place:
    if error.source and error.positions:
        return place_in(error.source, next(iter(error.positions)))
    return place_of(next(iter(error.nodes))) if error.nodes else Place("index.graphql")
