"""The definitions by which GraphQL editors know the directives of Stile, and those of other systems."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from graphql import (
    DefinitionNode,
    DirectiveDefinitionNode,
    ExecutableDefinitionNode,
    GraphQLError,
    Source,
    TypeDefinitionNode,
    parse,
    print_ast,
    print_schema,
)

from handler.compiler.schema.directives import DEFINITIONS
from handler.compiler.schema.schema import parse_sdl
from handler.compiler.schema.schema_building import declaration_of, directive_carriers
from handler.compiler.schema.vendor_directives import is_foreign, missing_definitions

UNUSED = "Query"
"""A type that ``DEFINITIONS`` has only because each schema needs a query type."""

ANYTHING = "Stile_JSON"
"""A scalar of ``DEFINITIONS`` that takes every constant."""


def definitions_for_editors(schemas: Iterable[str], *, stepzen: bool = False) -> str:
    """Return SDL that completes the endpoint's own ``schemas`` for an editor, without definitions that these have.

    A schema with a syntax error counts as empty. ``stepzen``: the project is StepZen's.
    """
    nodes: list[DefinitionNode] = []
    for text in schemas:
        with suppress(GraphQLError):
            definitions = parse_sdl(Source(text)).definitions
            nodes += [node for node in definitions if not isinstance(node, ExecutableDefinitionNode)]
    defined = {UNUSED, *map(_name, nodes)}
    own = parse(print_schema(DEFINITIONS)).definitions
    added = [*own, *missing_definitions(nodes, stepzen=stepzen)]
    # Each directive of another system has the arguments and locations that the schemas use.
    carriers = directive_carriers(*nodes)
    for name in dict.fromkeys(each.name.value for node in carriers for each in node.directives if is_foreign(each)):
        added += parse(declaration_of(name, carriers, type_of=lambda _: ANYTHING, repeatable=True)).definitions
    return "\n\n".join(print_ast(node) for node in added if _name(node) not in defined) + "\n"


def _name(node: DefinitionNode) -> str:
    """Return the name of a type, or that of a directive after ``@``; an empty string for other definitions."""
    match node:
        case DirectiveDefinitionNode():
            return f"@{node.name.value}"
        case TypeDefinitionNode():
            return node.name.value
        case _:
            return ""
