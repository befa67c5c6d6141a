"""A parser for GraphQL's schema language that also accepts empty braces, as published files have them.

Source: GraphQL specification, before October 2016 ("FieldDefinitions"); Apollo Federation's and StepZen's examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from graphql import DocumentNode, GraphQLSyntaxError, Lexer, Source, TokenKind, parse
from graphql.language.parser import Parser

T = TypeVar("T")

INTROSPECTION = (
    "this is the JSON of an introspection: expected SDL; `stile init FOLDER/NAME --from FILE` makes an endpoint of it"
)
MAX_JSON_BEGIN = 1_000
"""The characters at the beginning of a file in which an introspection is found."""


def parse_sdl(source: Source) -> DocumentNode:
    """Parse a file of definitions: ``type A {}`` is ``type A``, and ``extend type A {}`` adds nothing.

    Raises:
        GraphQLError: the file has a syntax error.
    """
    try:
        return _SdlParser(source).parse_document()
    except RecursionError:
        return parse(source)  # raises a syntax error instead


def is_empty(source: Source) -> bool:
    """Return whether a file has comments and white space only."""
    try:
        return Lexer(source).advance().kind is TokenKind.EOF
    except GraphQLSyntaxError:
        return False


def is_introspection(source: Source) -> bool:
    """Return whether a file is JSON with the answer to an introspection query."""
    begin = source.body[:MAX_JSON_BEGIN].lstrip()
    return begin.startswith("{") and '"__schema"' in begin


class _SdlParser(Parser):
    def optional_many(
        self, open_kind: TokenKind, parse_fn: Callable[[], T], close_kind: TokenKind
    ) -> tuple[T, ...] | None:
        if open_kind is not TokenKind.BRACE_L or not self.peek(open_kind):
            return super().optional_many(open_kind, parse_fn, close_kind)
        return self.any(open_kind, parse_fn, close_kind) or _NoMembers()


class _NoMembers(tuple[Any, ...]):
    """An empty tuple that is true: graphql-core's parser rejects an extension without members by truth value."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True
