"""Gather the diagnostics of an endpoint folder: errors and warnings, each at its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from graphql import GraphQLError, Node, Source, get_location

from handler.errors.authoring import CompileError, Problem
from handler.text.sentences import cut_text

MAX_SENTENCE_CHARS = 500


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an author's file. Line and column count from 1; 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0


class EmbeddedText(Source):
    """A text inside a file of the author, such as a string of JSON. Its positions are places in that file."""

    __slots__ = ("place_at",)

    def __init__(self, body: str, name: str, place_at: Callable[[int], Place]) -> None:
        super().__init__(body, name)
        self.place_at = place_at


NOWHERE = Place("index.graphql")
"""The place of a node that is in no file of the author."""

At = Place | Node | GraphQLError


class Problems:
    """The diagnostics of an endpoint folder, gathered so that one run reports all of them."""

    def __init__(self) -> None:
        self._errors: list[Problem] = []
        self._warnings: list[Problem] = []

    def add(self, at: At, sentence: str, *, code: str) -> None:
        """Report an error: the folder cannot be published. ``code`` is one of ``codes.CODES``."""
        self._errors.append(_problem(at, sentence, code=code))

    def warn(self, at: At, sentence: str, *, code: str, about: Iterable[str] = ()) -> None:
        """Report a warning: the folder can be published. ``about`` has the coordinates and names that it concerns."""
        self._warnings.append(_problem(at, sentence, code=code, about=about))

    def warned(self, code: str, names: Collection[str]) -> str:
        """Return the sentence of a warning about one of some names, behind a colon; empty string if there is none."""
        about = set(names)
        sentences = (each.sentence for each in self._warnings if each.code == code and about & set(each.about))
        return next((f": {sentence}" for sentence in sentences), "")

    def take(self, others: Problems) -> None:
        """Add all diagnostics of another part."""
        self._errors += others._errors
        self._warnings += others._warnings

    def warn_again(self, warnings: Iterable[Problem]) -> None:
        """Report warnings of an earlier run."""
        self._warnings += warnings

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of errors and warnings found so far."""
        return len(self._errors), len(self._warnings)

    def warnings_after(self, counts: tuple[int, int]) -> tuple[Problem, ...] | None:
        """Return the warnings found since there were so many; ``None`` if there are errors since."""
        errors, warnings = counts
        return tuple(self._warnings[warnings:]) if len(self._errors) == errors else None

    def raise_if_any(self) -> None:
        """Raise all errors found so far, in file order.

        Raises:
            CompileError: there is at least one error.
        """
        if self._errors:
            raise self.error()

    def error(self) -> CompileError:
        """Return all errors found so far as one ``CompileError``."""
        return CompileError(sorted(set(self._errors)))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The errors, as they were found."""
        return tuple(self._errors)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings, in file order."""
        return tuple(sorted(set(self._warnings)))


def node_location(node: Node) -> Place:
    """Return the place of a syntax tree node in its file."""
    if node.loc is None:
        return NOWHERE
    first = node.loc.start_token
    if isinstance(node.loc.source, EmbeddedText):
        return node.loc.source.place_at(first.start)
    return Place(node.loc.source.name, first.line, first.column)


def where(at: At) -> Place:
    """Return the place of a problem."""
    if isinstance(at, Place):
        return at
    if isinstance(at, Node):
        return node_location(at)
    if at.nodes:
        return node_location(next(iter(at.nodes)))
    return place_in(at.source, next(iter(at.positions))) if at.source and at.positions else NOWHERE


def place_text(place: Place) -> str:
    """Format a place for a sentence."""
    return f"{place.file}:{place.line}:{place.column}" if place.line else place.file


def place_in(source: Source, position: int) -> Place:
    """Return the place of a position in a file's text."""
    if isinstance(source, EmbeddedText):
        return source.place_at(position)
    at = get_location(source, position)
    return Place(source.name, at.line, at.column)


_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u\{[^}]*\}|\\u....|\\.|.", re.DOTALL)
"""A character of a literal of GraphQL or JSON, as written."""


def offset_in_literal(text: str, start: int, position: int) -> int:
    """Return the offset of a character of a literal whose text begins, behind the quotation mark, at ``start``."""
    return start + sum(len(match[0]) for match in islice(_CHARACTER.finditer(text, start), position))


def author_place(at: At, *, otherwise: Place) -> At:
    """Return ``at`` if it is in a file of the author, else the other place."""
    return otherwise if where(at) == NOWHERE else at


def _problem(at: At, sentence: str, *, code: str, about: Iterable[str] = ()) -> Problem:
    place = where(at)
    if isinstance(at, GraphQLError):
        places = [node_location(node) for node in at.nodes or ()]
        other = next((each for each in places if each != places[0]), None)  # the second node of a conflict
        sentence += f" See also {place_text(other)}." if other else ""
    return Problem(
        file=_printable(place.file),
        line=place.line,
        column=place.column,
        sentence=_printable(sentence),
        code=code,
        about=tuple(about),
    )


def _printable(text: str) -> str:
    """Escape and cut a text to one printable line: authors' files may hold control and half characters."""
    line = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    return cut_text(line, MAX_SENTENCE_CHARS)
