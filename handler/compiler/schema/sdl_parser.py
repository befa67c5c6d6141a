"""GraphQL's schema language with what published files have beside it: pairs of braces that hold nothing.

Source: GraphQL specification, before October 2016 ("FieldDefinitions"); Apollo Federation's and StepZen's examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from graphql import DocumentNode, Source, TokenKind, parse
from graphql.language.parser import Parser

T = TypeVar("T")


def parse_sdl(source: Source) -> DocumentNode:
    """Parse a file of definitions: ``type A {}`` is ``type A``, and ``extend type A {}`` adds nothing.

    Raises:
        GraphQLError: the file has a syntax error.
    """
    try:
        return _SdlParser(source).parse_document()
    except RecursionError:
        return parse(source)  # which makes a syntax error of it


class _SdlParser(Parser):
    def optional_many(
        self, open_kind: TokenKind, parse_fn: Callable[[], T], close_kind: TokenKind
    ) -> tuple[T, ...] | None:
        if open_kind is not TokenKind.BRACE_L or not self.peek(open_kind):
            return super().optional_many(open_kind, parse_fn, close_kind)
        return self.any(open_kind, parse_fn, close_kind) or _NoMembers()


class _NoMembers(tuple[Any, ...]):
    """True although it is empty: an extension that adds nothing is a syntax error for the parser."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True
