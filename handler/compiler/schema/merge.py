"""Merging of repeated definitions of the schema, a root type or a scalar.

StepZen's projects have a ``type Query`` in each file. GraphQL allows one; graphql-core would keep only the last.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from graphql import (
    DefinitionNode,
    EnumValueDefinitionNode,
    FieldDefinitionNode,
    InputValueDefinitionNode,
    NamedTypeNode,
    ObjectTypeDefinitionNode,
    ObjectTypeExtensionNode,
    OperationType,
    OperationTypeDefinitionNode,
    ScalarTypeDefinitionNode,
    SchemaDefinitionNode,
    SchemaExtensionNode,
    TypeDefinitionNode,
    print_ast,
    specified_scalar_types,
)

from handler.compiler.problems import Problems, node_location, place_text
from handler.compiler.schema.directives import argument_items
from handler.compiler.schema.vendor_directives import types_named

USUAL_ROOTS = frozenset({"Query", "Mutation", "Subscription"})

ENTITY = "key"
"""Federation's directive on types that another subgraph may define, so that this one only extends them."""

ObjectPart = ObjectTypeDefinitionNode | ObjectTypeExtensionNode
SchemaPart = SchemaDefinitionNode | SchemaExtensionNode
Member = FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode

T = TypeVar("T")


def merge_definitions(
    definitions: Sequence[DefinitionNode], problems: Problems, *, stepzen: bool
) -> list[DefinitionNode]:
    """Merge the definitions that may be repeated.

    A repeated field of equal type is merged: silently in root types and entities, else with a warning, as published
    schemas have such fields. A field with different types is reported with both places. ``stepzen``: the project is
    StepZen's.
    """
    schema_parts = [node for node in definitions if isinstance(node, SchemaPart)]
    roots = {root.type.name.value for part in schema_parts for root in part.operation_types or ()}
    extensions = [node for node in definitions if isinstance(node, ObjectTypeExtensionNode)]
    entities = {node.name.value for node in extensions if ENTITY in [one.name.value for one in node.directives or ()]}
    mergeable = USUAL_ROOTS | roots | (entities - _type_names(definitions))
    members = _Members(mergeable, problems)
    groups: dict[tuple[str, str | int], list[Any]] = {}
    for place, node in enumerate(definitions):
        groups.setdefault(_group(node, mergeable) or ("", place), []).append(members.once(node))
    merged: list[DefinitionNode] = []
    for (kind, _), nodes in groups.items():
        if kind == "schema":
            merged.append(_one_schema(nodes, problems))
        else:
            merged.append(_one_type(nodes) if kind == "object" else nodes[0])
    more = _roots_of_files(merged, definitions, problems, stepzen=stepzen)
    names = _type_names(merged) | specified_scalar_types.keys()
    return [_with_defined_roots(node, names, problems, more=more) for node in merged]


def _type_names(definitions: Iterable[DefinitionNode]) -> set[str]:
    return {node.name.value for node in definitions if isinstance(node, TypeDefinitionNode)}


def _group(node: DefinitionNode, mergeable: Container[str]) -> tuple[str, str] | None:
    """Return a key that is equal for definitions to merge; ``None`` for all others."""
    match node:
        case SchemaDefinitionNode():
            return "schema", ""
        case ObjectTypeDefinitionNode() | ObjectTypeExtensionNode() if node.name.value in mergeable:
            return "object", node.name.value
        case ScalarTypeDefinitionNode():
            return "scalar", node.name.value
        case _:
            return None


def _one_schema(nodes: Sequence[SchemaDefinitionNode], problems: Problems) -> SchemaDefinitionNode:
    roots: dict[str, OperationTypeDefinitionNode] = {}
    for root in (root for node in nodes for root in node.operation_types):
        kind, name = root.operation.value, root.type.name.value
        first = roots.setdefault(kind, root)
        if first.type.name.value != name:
            sentence = (
                f'the {kind} type is "{name}" here and "{first.type.name.value}" at {place_text(node_location(first))}'
            )
            problems.add(root, sentence, code="conflicting-root-types")
    return replace(
        nodes[0],
        description=next((node.description for node in nodes if node.description), None),
        directives=_joined(node.directives for node in nodes),
        operation_types=tuple(roots.values()),
    )


def _one_type(parts: Sequence[ObjectPart]) -> ObjectTypeDefinitionNode:
    definitions = [part for part in parts if isinstance(part, ObjectTypeDefinitionNode)]
    interfaces = {node.name.value: node for part in parts for node in part.interfaces or ()}
    return ObjectTypeDefinitionNode(
        name=parts[0].name,
        description=next((part.description for part in definitions if part.description), None),
        interfaces=tuple(interfaces.values()),
        directives=_joined(part.directives for part in parts),
        fields=_joined(part.fields for part in parts),
        loc=(definitions or parts)[0].loc,
    )


def _joined(lists: Iterable[tuple[T, ...] | None]) -> tuple[T, ...]:
    return tuple(each for some in lists for each in some or ())


def _roots_of_files(
    merged: Sequence[DefinitionNode], parts: Sequence[DefinitionNode], problems: Problems, *, stepzen: bool
) -> list[OperationTypeDefinitionNode]:
    """Return the root types of files without a schema definition, if the project has StepZen's form.

    ``schema @sdl(files: …)`` is that form, too: each included file is a schema with GraphQL's default root types.
    Other types with such a name are reported, if no definition refers to them.
    """
    schemas = [node for node in parts if isinstance(node, SchemaDefinitionNode)]
    files = {node_location(node).file for node in schemas}
    on_schema = (one for node in schemas for one in node.directives or () if one.name.value == "sdl")
    stepzen = stepzen or any(argument_items(one, "files") for one in on_schema)
    schema_parts = (node for node in merged if isinstance(node, SchemaPart))
    root_names = {
        root.operation.value: root.type.name.value for node in schema_parts for root in node.operation_types or ()
    }
    roots = []
    for name in sorted(USUAL_ROOTS - set(root_names.values())) if schemas else ():
        kind, others = name.lower(), [node for node in merged if _group(node, {name}) != ("object", name)]
        of_type = [part for part in parts if isinstance(part, ObjectPart) and part.name.value == name]
        if not any(len(part.fields or ()) for part in of_type) or name in types_named(others):
            continue
        if stepzen and kind not in root_names and any(node_location(part).file not in files for part in of_type):
            type_ = NamedTypeNode(name=of_type[0].name)
            roots.append(OperationTypeDefinitionNode(operation=OperationType(kind), type=type_, loc=of_type[0].loc))
        else:
            by = f"the schema definition at {place_text(node_location(schemas[0]))} does not name it ({kind}: {name})"
            problems.warn(of_type[0], f'"{name}" is not a root type: {by}', code="unnamed-root-type", about=[name])
    return roots


def _with_defined_roots(
    node: DefinitionNode, names: Container[str], problems: Problems, *, more: Sequence[OperationTypeDefinitionNode]
) -> DefinitionNode:
    """Remove undefined root types from a schema definition, as some projects name all three, and add ``more``."""
    if not isinstance(node, SchemaPart):
        return node
    more = more if node.kind == "schema_definition" else ()
    missing = [root for root in node.operation_types or () if root.type.name.value not in names]
    for root in missing:
        name = root.type.name.value
        sentence = f'the schema has no type "{name}", so it has no {root.operation.value} type'
        problems.warn(root, sentence, code="missing-root-type", about=[name])
    roots = (root for root in node.operation_types or () if root not in missing)
    return replace(node, operation_types=(*roots, *more))


class _Members:
    """The fields and enum values seen so far, by coordinate."""

    def __init__(self, mergeable: Container[str], problems: Problems) -> None:
        self._mergeable = mergeable
        self._problems = problems
        self._first: dict[str, Member] = {}

    def once(self, node: Any) -> DefinitionNode:
        """Remove the members that were already seen in the same type."""
        for part in ("fields", "values"):
            members = getattr(node, part, None)
            if members is not None:
                new = tuple(member for member in members if self._is_new(node.name.value, member))
                return cast("DefinitionNode", replace(node, **{part: new}))
        return cast("DefinitionNode", node)

    def _is_new(self, type_name: str, member: Member) -> bool:
        coordinate = f"{type_name}.{member.name.value}"
        first = self._first.setdefault(coordinate, member)
        if first is member:
            return True
        at = place_text(node_location(first))
        here, there = _signature(member), _signature(first)
        if here != there:
            sentence = f'"{coordinate}" is {here} here and {there} at {at}: expected one type'
            self._problems.add(member, sentence, code="conflicting-definitions")
        elif type_name not in self._mergeable:
            sentence = f'"{coordinate}" is already defined at {at}, and that definition counts'
            self._problems.warn(member, sentence, code="repeated-member", about=[coordinate])
        return False


def _signature(member: Member) -> str:
    """Return the parts of a member that may not differ: type, arguments, defaults."""
    match member:
        case FieldDefinitionNode():
            arguments = sorted(f"{each.name.value}: {_signature(each)}" for each in member.arguments or ())
            return (f"({', '.join(arguments)}): " if arguments else "") + print_ast(member.type)
        case InputValueDefinitionNode():
            default = f" = {print_ast(member.default_value)}" if member.default_value else ""
            return print_ast(member.type) + default
        case EnumValueDefinitionNode():
            return "a value"
