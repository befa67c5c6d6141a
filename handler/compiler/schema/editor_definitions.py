"""The definitions by which GraphQL editors know the directives of Stile, and those of other systems."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from graphql import (
    DefinitionNode,
    DirectiveDefinitionNode,
    DirectiveNode,
    DocumentNode,
    GraphQLError,
    Source,
    TypeDefinitionNode,
    Visitor,
    parse,
    print_ast,
    print_schema,
    visit,
)

from handler.compiler.schema.directives import DEFINITIONS
from handler.compiler.schema.schema import parse_sdl
from handler.compiler.schema.vendor_directives import is_foreign, missing_definitions

UNUSED = "Query"
"""A type that ``DEFINITIONS`` has only because each schema needs a query type."""

ANYTHING = "Stile_JSON"
"""A scalar of ``DEFINITIONS`` that takes every constant."""

LOCATIONS = {
    "SchemaDefinitionNode": "SCHEMA",
    "FieldDefinitionNode": "FIELD_DEFINITION",
    "InputValueDefinitionNode": "ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION",
    "EnumValueDefinitionNode": "ENUM_VALUE",
    "InputObjectTypeDefinitionNode": "INPUT_OBJECT",
    **{f"{kind.title()}TypeDefinitionNode": kind for kind in ("SCALAR", "OBJECT", "INTERFACE", "UNION", "ENUM")},
}
"""Definition -> the location of its directives, which an extension has too."""


def definitions_for_editors(schemas: Iterable[str], *, stepzen: bool = False) -> str:
    """Return SDL that completes the endpoint's own ``schemas`` for an editor, without definitions that these have.

    A schema with a syntax error counts as empty. ``stepzen``: the project is StepZen's.
    """
    nodes: list[DefinitionNode] = []
    for text in schemas:
        with suppress(GraphQLError):
            nodes += parse_sdl(Source(text)).definitions
    defined = {UNUSED, *map(_name, nodes)}
    own = parse(print_schema(DEFINITIONS)).definitions
    added = [*own, *missing_definitions(nodes, stepzen=stepzen)]
    # Each directive of another system has the arguments and locations that the schemas use.
    uses = _Uses()
    visit(DocumentNode(definitions=tuple(nodes)), uses)
    for name, places in uses.places.items():
        arguments = ", ".join(f"{each}: {ANYTHING}" for each in uses.arguments[name])
        listed = f"({arguments})" if arguments else ""
        added += parse(f"directive @{name}{listed} repeatable on {' | '.join(places)}").definitions
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


class _Uses(Visitor):
    """Collector of other systems' directives: name -> locations, and name -> arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, dict[str, None]] = {}
        self.arguments: dict[str, dict[str, None]] = {}

    def enter_directive(self, node: DirectiveNode, _key: Any, _parent: Any, _path: Any, ancestors: Any) -> None:
        """Note one use."""
        owner = ancestors[-2 if isinstance(ancestors[-1], tuple) else -1]
        place = LOCATIONS.get(type(owner).__name__.replace("Extension", "Definition"))
        if place and is_foreign(node):
            self.places.setdefault(node.name.value, {})[place] = None
            arguments = self.arguments.setdefault(node.name.value, {})
            arguments |= dict.fromkeys(each.name.value for each in node.arguments or ())
