"""The fields that an operation selects of an object, merged by response key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLNamedType,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    SelectionNode,
    SelectionSetNode,
    is_abstract_type,
)

from handler.compiler.schema.vendor_directives import EXECUTABLE

CONDITIONS = frozenset({"skip", "include"})
"""The directives that may omit a field and do not change its value."""


@dataclass(frozen=True, slots=True)
class Part:
    """A selection set; an object may have several."""

    selections: SelectionSetNode
    optional: bool = False  # the object may be present without it

    def likeness(self) -> Hashable:
        """Return a key for comparison, by identity of the nodes: ``==`` on nodes compares whole subtrees."""
        return id(self.selections), self.optional


@dataclass(slots=True)
class ResponseKey:
    """One response key, merged over all its selections."""

    name: str  # of the field; an alias makes the key differ
    type: GraphQLOutputType | None  # None for __typename, __schema and __type, and if unknown
    optional: bool = True
    below: dict[int, Part] = field(default_factory=dict)  # by identity: a fragment may be spread more than once

    def add(self, node: FieldNode, *, optional: bool) -> None:
        self.optional = self.optional and optional
        if node.selection_set:
            before = self.below.get(id(node.selection_set))
            self.below[id(node.selection_set)] = Part(
                node.selection_set, optional and (before is None or before.optional)
            )

    def parts(self) -> list[Part]:
        """Return the selection sets below. A lone one is required; of several, each may be skipped."""
        parts = list(self.below.values())
        return parts if len(parts) > 1 else [Part(part.selections) for part in parts]

    def likeness(self) -> Hashable:
        """Return a key that is equal for fields of equal shape."""
        return str(self.type), self.optional, *(part.likeness() for part in self.parts())


class Selections:
    """The selections of one document, with its fragments."""

    def __init__(self, document: DocumentNode, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }

    def collect(self, type_: GraphQLNamedType, parts: Sequence[Part]) -> dict[str, ResponseKey]:
        """Return response key -> the field, merged over all the parts and the fragments that may apply."""
        found: dict[str, ResponseKey] = {}
        seen: dict[int, bool] = {}
        for within, node, optional in [each for part in parts for each in self._fields(type_, type_, part, seen)]:
            key = (node.alias or node.name).value
            type_of_field = None if self._directives(node) - CONDITIONS else _field_type(within, node)
            selected = found.setdefault(key, ResponseKey(node.name.value, type_of_field))
            if str(selected.type) != str(type_of_field):  # two interfaces differ for a type that the API may add
                selected.type = None
            selected.add(node, optional=optional)
        return found

    def _fields(
        self, type_: GraphQLNamedType, within: GraphQLNamedType, part: Part, seen: dict[int, bool]
    ) -> Iterator[tuple[GraphQLNamedType, FieldNode, bool]]:
        """Yield every selected field of a type: the type that defines it, the node, and if it may be absent.

        ``seen`` has the visited selection sets, each with its optional flag: a second visit must make one required.
        """
        if not seen.get(id(part.selections), True) or (part.optional and id(part.selections) in seen):
            return
        seen[id(part.selections)] = part.optional
        for node in part.selections.selections:
            optional = part.optional or bool(self._directives(node))
            match node:
                case FieldNode():
                    yield within, node, optional
                case InlineFragmentNode() | FragmentSpreadNode():
                    fragment = self._fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
                    wanted = self._condition_of(fragment) or within
                    if self._may_apply(wanted, type_):
                        below = Part(fragment.selection_set, optional or not self._applies(wanted, type_))
                        yield from self._fields(type_, wanted if is_abstract_type(type_) else type_, below, seen)

    def _directives(self, node: SelectionNode) -> set[str]:
        """Return the API's directives on a node, without those that cannot change its type."""
        names = {directive.name.value for directive in node.directives or ()} - EXECUTABLE.keys()
        return {name for name in names if self._schema.get_directive(name)}

    def _condition_of(self, fragment: FragmentDefinitionNode | InlineFragmentNode) -> GraphQLNamedType | None:
        condition = fragment.type_condition
        return self._schema.type_map[condition.name.value] if condition else None

    def _may_apply(self, wanted: GraphQLNamedType, type_: GraphQLNamedType) -> bool:
        """Tell if a type condition may match. A later object type may implement any interface or join any union."""
        return is_abstract_type(wanted) if is_abstract_type(type_) else self._applies(wanted, type_)

    def _applies(self, wanted: GraphQLNamedType, type_: GraphQLNamedType) -> bool:
        return wanted is type_ or (is_abstract_type(wanted) and self._schema.is_sub_type(wanted, type_))


def _field_type(type_: GraphQLNamedType, field: FieldNode) -> GraphQLOutputType | None:
    """Return the type of a field; ``None`` for introspection fields."""
    name, fields = field.name.value, getattr(type_, "fields", {})  # a union has no fields
    return fields[name].type if name in fields else None
