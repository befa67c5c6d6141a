"""The fields that a document reads, as schema coordinates, for the log.

Unlike a check, this looks a field up in the whole schema: a refused document is logged by the names that exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    SelectionSetNode,
    parse,
    print_ast,
)

from handler.graph.documents.operation import MAX_CHARS
from handler.graph.index import SchemaIndex
from handler.graph.index_types import named

__all__ = ["Node", "OperationDefinitionNode", "fields_in", "fields_of_text", "fields_read", "parse", "print_ast"]
"""With the parts of graphql-core for code outside of this folder, which has to load it by this package."""

MAX_IMPLEMENTERS = 20
"""Implementing types by whose name a field of an interface is logged, too. With more, the interface is named alone."""


def fields_read(document: DocumentNode, index: SchemaIndex) -> frozenset[str]:
    """Return the coordinates of the known fields that a document selects, as ``Employee.salary``.

    ``@skip`` and ``@include`` are ignored. A field that is selected on an interface is there for each type that
    implements the interface, too, because it may be read from that type. Each fragment is walked once.
    """
    return frozenset(
        coordinate for parent, node in fields_in(document, index) for coordinate in _coordinates(index, parent, node)
    )


def fields_in(document: DocumentNode, index: SchemaIndex) -> Iterator[tuple[str, FieldNode]]:
    """Yield the selected fields, each with the type that it is selected on; an empty string if that is unknown."""
    waiting = [_root(node, index) for node in document.definitions if isinstance(node, _DEFINITIONS)]
    while waiting:
        selections, parent = waiting.pop()
        for each in selections.selections:
            match each:
                case FieldNode():
                    yield parent, each
                    if each.selection_set:
                        waiting.append((each.selection_set, _type_of(index, parent, each.name.value)))
                case InlineFragmentNode():
                    condition = each.type_condition
                    waiting.append((each.selection_set, condition.name.value if condition else parent))


_DEFINITIONS = (OperationDefinitionNode, FragmentDefinitionNode)


def _root(node: OperationDefinitionNode | FragmentDefinitionNode, index: SchemaIndex) -> tuple[SelectionSetNode, str]:
    """Return the selections of a definition, and the type that they are on."""
    if isinstance(node, FragmentDefinitionNode):
        return node.selection_set, node.type_condition.name.value
    return node.selection_set, index.roots.get(node.operation.value, "")


def _type_of(index: SchemaIndex, parent: str, field_name: str) -> str:
    """Return the named type of a field; an empty string if the schema has no such field."""
    if parent not in index or index.kind(parent) not in ("object", "interface"):
        return ""
    field = index[parent].fields.get(field_name)
    return named(field.type) if field else ""


def _coordinates(index: SchemaIndex, parent: str, node: FieldNode) -> Iterator[str]:
    """Yield the coordinates of a field, or none if the schema has no such field."""
    field_name = node.name.value
    if not _type_of(index, parent, field_name):
        return
    yield f"{parent}.{field_name}"
    implementers = index.implementers.get(parent, ()) if index.kind(parent) == "interface" else ()
    if len(implementers) <= MAX_IMPLEMENTERS:
        yield from (f"{name}.{field_name}" for name in implementers)


def fields_of_text(text: str, index: SchemaIndex, *, max_tokens: int | None) -> frozenset[str]:
    """Return the fields that a document reads, as ``fields_read``; none if it cannot be parsed."""
    with suppress(GraphQLError, RecursionError):
        if len(text) <= MAX_CHARS:
            return fields_read(parse(text, no_location=True, max_tokens=max_tokens), index)
    return frozenset()
