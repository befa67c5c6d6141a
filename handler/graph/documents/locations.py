"""Where in a document something stands, and a caller's own words, for messages to that caller."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from graphql import FieldNode, FragmentSpreadNode, GraphQLError, Node, Source, SourceLocation, get_location

from handler.errors import Fault

MAX_SENTENCE_CHARS = 500


LINE_BREAK = re.compile(r"\r\n|[\n\r]")
"""Source: GraphQL specification, section 2.1.2 (Line Terminators)."""


class Text(Source):
    """A document's text that goes through its lines once, and not once for each place that is asked for."""

    @cached_property
    def _line_ends(self) -> list[tuple[int, int]]:
        return [match.span() for match in LINE_BREAK.finditer(self.body)]

    def get_location(self, position: int) -> SourceLocation:
        """The line and column of a place, as graphql-core counts them."""
        line = bisect_left(self._line_ends, (position,))
        start = self._line_ends[line - 1][1] if line else 0
        return SourceLocation(line + 1, position + 1 - start)


def fault_at(node: Node, message: str) -> Fault:
    """A fault at the beginning of a node; at no place for one without a location."""
    if node.loc is None:
        return Fault(message)
    at = get_location(node.loc.source, node.loc.start)
    return Fault(message, at.line, at.column)


def name_of(node: Node) -> str:
    """A selection as a caller would find it: its name, or the alias before it."""
    match node:
        case FieldNode(alias=None):
            return shown(node.name.value)
        case FieldNode():
            return shown(f"{node.alias.value}: {node.name.value}" if node.alias else "")
        case FragmentSpreadNode():
            return shown(f"...{node.name.value}")
        case _:
            return "..."


def shown(name: str) -> str:
    """A name in an error: quoted, and not at any length."""
    return f'"{printable(name)}"' if len(name) <= 60 else f'"{printable(name[:60])}…"'


def fault_of(error: GraphQLError, hint: str = "") -> Fault:
    """The words of graphql-core's error and a hint behind them, with the first place that it names."""
    message = "a number has too many digits" if "set_int_max_str_digits" in error.message else error.message
    sentence = f"{printable(message)} {hint}".rstrip()
    at = next(iter(error.locations or ()), None)
    return Fault(sentence, at.line, at.column) if at else Fault(sentence)


def printable(text: str) -> str:
    """A caller's own words: not at any length, and without what UTF-8 cannot encode."""
    encodable = text[:MAX_SENTENCE_CHARS].encode(errors="backslashreplace").decode()
    cut = len(text) > MAX_SENTENCE_CHARS or len(encodable) > MAX_SENTENCE_CHARS
    return encodable[: MAX_SENTENCE_CHARS - 1] + "…" if cut else encodable
