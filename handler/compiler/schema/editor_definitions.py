"""The definitions by which GraphQL editors know the directives of Stile, and those that Stile adds to an API's."""

from __future__ import annotations

from collections.abc import Iterable

from graphql import (
    DefinitionNode,
    DirectiveDefinitionNode,
    GraphQLError,
    Source,
    TypeDefinitionNode,
    parse,
    print_ast,
    print_schema,
)

from handler.compiler.schema.directives import DEFINITIONS
from handler.compiler.schema.sdl_parser import parse_sdl
from handler.compiler.schema.vendor_directives import EXECUTABLE

UNUSED = "Query"
"""A type that ``DEFINITIONS`` has only because each schema needs a query type."""


def definitions_for_editors(schemas: Iterable[str]) -> str:
    """Return the SDL of the directives, without definitions that the endpoint's own ``schemas`` have.

    A schema with a syntax error counts as empty.
    """
    defined = {UNUSED, *(_name(node) for text in schemas for node in _definitions(text))}
    own = [node for text in (print_schema(DEFINITIONS), *EXECUTABLE.values()) for node in parse(text).definitions]
    return "\n\n".join(print_ast(node) for node in own if _name(node) not in defined) + "\n"


def _definitions(text: str) -> tuple[DefinitionNode, ...]:
    try:
        return parse_sdl(Source(text)).definitions
    except GraphQLError:
        return ()


def _name(node: DefinitionNode) -> str:
    """Return the name of a type, or that of a directive after ``@``; an empty string for other definitions."""
    match node:
        case DirectiveDefinitionNode():
            return f"@{node.name.value}"
        case TypeDefinitionNode():
            return node.name.value
        case _:
            return ""
