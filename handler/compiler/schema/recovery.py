"""Recovery of a schema with errors, so that operations can still be validated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from graphql import (
    DefinitionNode,
    DocumentNode,
    EnumTypeDefinitionNode,
    EnumTypeExtensionNode,
    GraphQLError,
    GraphQLSchema,
    InputObjectTypeDefinitionNode,
    InputObjectTypeExtensionNode,
    InterfaceTypeDefinitionNode,
    InterfaceTypeExtensionNode,
    NamedTypeNode,
    NameNode,
    ObjectTypeDefinitionNode,
    ObjectTypeExtensionNode,
    ScalarTypeDefinitionNode,
    ScalarTypeExtensionNode,
    TypeDefinitionNode,
    TypeExtensionNode,
    UnionTypeDefinitionNode,
    UnionTypeExtensionNode,
    build_ast_schema,
)

from handler.compiler.schema.vendor_directives import without_directives

DEFINITION_OF: Mapping[type, type] = {
    EnumTypeExtensionNode: EnumTypeDefinitionNode,
    InputObjectTypeExtensionNode: InputObjectTypeDefinitionNode,
    InterfaceTypeExtensionNode: InterfaceTypeDefinitionNode,
    ObjectTypeExtensionNode: ObjectTypeDefinitionNode,
    ScalarTypeExtensionNode: ScalarTypeDefinitionNode,
    UnionTypeExtensionNode: UnionTypeDefinitionNode,
}
EXTENSION_OF: Mapping[type, type] = {definition: extension for extension, definition in DEFINITION_OF.items()}


def mend(
    definitions: Sequence[DefinitionNode], errors: Iterable[GraphQLError]
) -> tuple[GraphQLSchema | None, frozenset[str]]:
    """Build a schema from definitions with ``errors``, already reported; also return the types that stay unclear.

    All directives are removed. A second definition of a type extends the first, an extension without a definition
    defines the type, and an undefined type becomes a scalar, which any value fits. The schema is ``None`` if it still
    cannot be built.
    """
    whole = [without_directives(node, lambda _: True) for node in definitions]
    kinds = _kinds(whole)
    missing = _named_in(errors) - kinds.keys()
    scalars = [ScalarTypeDefinitionNode(name=NameNode(value=name)) for name in sorted(missing)]
    others = [node for node in whole if not isinstance(node, TypeDefinitionNode | TypeExtensionNode)]
    document = DocumentNode(definitions=(*others, *_one_definition_each(whole, kinds), *scalars))
    several = {name for name, found in kinds.items() if len(set(found)) > 1}
    try:
        return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True), frozenset(missing | several)
    except (GraphQLError, TypeError, RecursionError):
        return None, frozenset()


def _types(nodes: Iterable[DefinitionNode]) -> list[Any]:
    """Return the definitions of types, then the extensions."""
    found = [node for node in nodes if isinstance(node, TypeDefinitionNode | TypeExtensionNode)]
    return sorted(found, key=lambda node: isinstance(node, TypeExtensionNode))


def _kind(node: Any) -> type:
    """Return the definition's class for a definition or an extension."""
    return DEFINITION_OF.get(type(node), type(node))


def _kinds(nodes: Iterable[DefinitionNode]) -> dict[str, list[type]]:
    """Return type -> the kinds of its parts, the definition's first. They differ only by mistake."""
    found: dict[str, list[type]] = {}
    for node in _types(nodes):
        found.setdefault(node.name.value, []).append(_kind(node))
    return found


def _named_in(errors: Iterable[GraphQLError]) -> set[str]:
    return {node.name.value for error in errors for node in error.nodes or () if isinstance(node, NamedTypeNode)}


def _one_definition_each(nodes: Iterable[DefinitionNode], kinds: Mapping[str, Sequence[type]]) -> Iterator[Any]:
    """Yield the parts of each type that have its first kind: one definition, then extensions."""
    begun: set[str] = set()
    for node in _types(nodes):
        name = node.name.value
        kind = kinds[name][0]
        if _kind(node) is kind:
            part = _converted(node, EXTENSION_OF[kind] if name in begun else kind)
            begun.add(name)
            yield _of_fitting_kinds(part, kinds)


def _converted(node: Any, kind: type) -> Any:
    """Convert a definition to an extension or back."""
    own = {field.name: getattr(node, field.name) for field in fields(kind) if hasattr(node, field.name)}
    return node if type(node) is kind else kind(**own)


def _of_fitting_kinds(node: Any, kinds: Mapping[str, Sequence[type]]) -> Any:
    """Remove from ``implements`` all but interfaces, and from a union all but object types."""
    for part, kind in (("interfaces", InterfaceTypeDefinitionNode), ("types", ObjectTypeDefinitionNode)):
        named = getattr(node, part, None) or ()
        kept = tuple(each for each in named if kind in kinds.get(each.name.value, ())[:1])
        node = replace(node, **{part: kept}) if len(kept) < len(named) else node
    return node
