"""Texts in the schema index, read back from their printed form: descriptions and arguments of directives."""

from __future__ import annotations

from typing import cast

from graphql import StringValueNode, parse_const_value


def text_of(printed: str) -> str | None:
    """Return the text of a printed description; ``None`` if it is empty.

    Most descriptions are block strings as graphql-core prints them, which need no parser.
    """
    if not printed:
        return None
    body = printed[3:-3]
    if not printed.startswith('"""') or "\\" in body or "\r" in body:
        return cast("StringValueNode", parse_const_value(printed, no_location=True)).value
    # A printed block string has no common indentation; an empty first or last line is only there for the quotes.
    return body.removeprefix("\n").removesuffix("\n")


def argument_of(directives: str, name: str) -> str | None:
    """Return the text of a printed directive's only argument; ``None`` if it has no argument of this name."""
    _, found, literal = directives.partition(f"({name}: ")
    if not found:
        return None
    return cast("StringValueNode", parse_const_value(literal.removesuffix(")"), no_location=True)).value
