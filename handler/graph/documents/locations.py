"""Locations in a document, and a caller's own words, for messages to that caller."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from graphql import FieldNode, FragmentSpreadNode, GraphQLError, Node, Source, SourceLocation, get_location

from handler.errors.calls import Fault

MAX_SENTENCE_CHARS = 500


class DocumentText(Source):
    """A document's text whose lines are found once, not again for each location.

    Source: GraphQL specification, section 2.1.2 (Line Terminators).
    """

    @cached_property
    def _line_ends(self) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\r\n|[\n\r]", self.body)]

    def get_location(self, position: int) -> SourceLocation:
        """Return the line and column of a position, as graphql-core counts them."""
        line = bisect_left(self._line_ends, (position,))
        start = self._line_ends[line - 1][1] if line else 0
        return SourceLocation(line + 1, position + 1 - start)


def fault_at(node: Node, message: str) -> Fault:
    """Return a fault at the beginning of a node; without a location if the node has none."""
    if node.loc is None:
        return Fault(message)
    at = get_location(node.loc.source, node.loc.start)
    return Fault(message, at.line, at.column)


def name_of(node: Node) -> str:
    """Return a selection in a caller's terms: its name, with the alias before it."""
    match node:
        case FieldNode():
            return quoted_name(": ".join(name.value for name in (node.alias, node.name) if name))
        case FragmentSpreadNode():
            return quoted_name(f"...{node.name.value}")
        case _:
            return "..."


def quoted_name(name: str) -> str:
    """Return a name for an error, quoted and cut."""
    return f'"{printable(name)}"' if len(name) <= 60 else f'"{printable(name[:60])}…"'


def fault_of(error: GraphQLError, hint: str = "") -> Fault:
    """Return the message of graphql-core's error and a hint after it, with the error's first location."""
    message = "a number has too many digits" if "set_int_max_str_digits" in error.message else error.message
    sentence = f"{printable(message)} {hint}".rstrip()
    at = next(iter(error.locations or ()), None)
    return Fault(sentence, at.line, at.column) if at else Fault(sentence)


def printable(text: str) -> str:
    """Return a caller's own words, cut, and without characters that UTF-8 cannot encode."""
    encodable = text[:MAX_SENTENCE_CHARS].encode(errors="backslashreplace").decode()
    cut = len(text) > MAX_SENTENCE_CHARS or len(encodable) > MAX_SENTENCE_CHARS
    return encodable[: MAX_SENTENCE_CHARS - 1] + "…" if cut else encodable
