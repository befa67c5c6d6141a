"""The ``outputSchema`` of a prescribed tool: the shape of its selection set in the GraphQL response envelope.

The schema states only facts that an API cannot change without breaking its clients. An API may add enum values, union
members and interface implementations: a response with one of them stays valid. A directive that the API defines
may omit a field or change its value, so a field with such a directive has an open schema.

Source: MCP 2026-07-28, server/tools ("Output Schema"); GraphQL specification, section 7.1 (Response Format).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLAbstractType,
    GraphQLEnumType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    is_abstract_type,
    is_leaf_type,
)

from handler.compiler.json_schemas.definitions import SharedParts
from handler.compiler.schema.vendor_directives import EXECUTABLE
from handler.policy.evaluation import OPEN, Mask, hidden_from_everybody
from handler.sentences import some
from handler.strict_json import JSONObject

SCALARS: Mapping[str, JSONObject] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
}

ID: JSONObject = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
"""GraphQL serializes an ID as a string; several servers send a stored number."""

CONDITIONS = frozenset({"skip", "include"})
"""The directives that may omit a field and do not change its value."""

MAX_NAMED_BYTES = 160
"""The space in a description for the names of enum values or possible types."""

ERRORS: JSONObject = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "message": {"type": "string"},
            "path": {"type": "array"},
            "extensions": {"type": "object"},
        },
        "required": ["message"],
    },
}


MAX_DEPTH = 40
"""Deeper shapes stay open: nobody reads them, and any JSON parser must be able to read the bundle."""


def output_schema(
    document: DocumentNode,
    schema: GraphQLSchema,
    guards: Mapping[str, Mask] = MappingProxyType({}),
    *,
    mask: Mask = OPEN,
) -> JSONObject:
    """Return the schema of an operation's structured content. ``document`` is valid and has one operation.

    Enum values and possible types that ``guards`` hide from all callers are left out. If one of them needs more than
    the operation's ``mask``, the schema lists no names: callers who may not use that one would read its name.
    """
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    root = schema.get_root_type(operation.operation)
    if root is None:
        raise ValueError(f"the schema has no {operation.operation.value} type")
    shared = SharedParts()
    data = _nullable(
        _Shapes(document, schema, shared, _Guards(guards, mask)).composite(root, [_Part(operation.selection_set)])
    )
    return shared.write({"type": "object", "properties": {"data": data, "errors": ERRORS}, "required": ["data"]})


class _Guards:
    """The names that a tool's schema may mention: every caller who meets the tool's mask reads it."""

    def __init__(self, guards: Mapping[str, Mask], mask: Mask) -> None:
        self.hidden = hidden_from_everybody(guards)
        self._guards = guards
        self._mask = mask

    def lists(self, coordinates: Iterable[str]) -> bool:
        """Tell if every caller who meets the mask may use all coordinates."""
        return all(self._guards.get(coordinate, OPEN) <= self._mask for coordinate in coordinates)


@dataclass(frozen=True, slots=True)
class _Part:
    """A selection set; an object may have several."""

    selections: SelectionSetNode
    optional: bool = False  # the object may be present without it

    def likeness(self) -> Hashable:
        """Return a key for comparison, by identity of the nodes: ``==`` on nodes compares whole subtrees."""
        return id(self.selections), self.optional


@dataclass(slots=True)
class _Selected:
    """One response key, merged over all its selections."""

    name: str  # of the field; an alias makes the key differ
    type: GraphQLOutputType | None  # None for __typename, __schema and __type, and if unknown
    optional: bool = True
    below: dict[int, _Part] = field(default_factory=dict)  # by identity: a fragment may be spread more than once

    def add(self, node: FieldNode, *, optional: bool) -> None:
        self.optional = self.optional and optional
        if node.selection_set:
            before = self.below.get(id(node.selection_set))
            self.below[id(node.selection_set)] = _Part(
                node.selection_set, optional and (before is None or before.optional)
            )

    def parts(self) -> list[_Part]:
        """Return the selection sets below. A lone one is required; of several, each may be skipped."""
        parts = list(self.below.values())
        return parts if len(parts) > 1 else [_Part(part.selections) for part in parts]

    def likeness(self) -> Hashable:
        """Return a key that is equal for fields of equal shape."""
        return str(self.type), self.optional, *(part.likeness() for part in self.parts())


@dataclass(slots=True)
class _Alike:
    """Types with an equal selection, and that selection by response key."""

    names: list[str]
    selected: dict[str, _Selected]
    takes_later: bool = False  # includes types that the API adds later


class _Shapes:
    def __init__(self, document: DocumentNode, schema: GraphQLSchema, shared: SharedParts, guards: _Guards) -> None:
        self._schema = schema
        self._hidden = guards.hidden
        self._lists = guards.lists
        self._shared = shared
        self._depth = 0
        self._made: dict[Hashable, JSONObject] = {}
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }

    def composite(self, type_: GraphQLNamedType, parts: Sequence[_Part]) -> JSONObject:
        """Return the shape of an object: ``anyOf`` if it differs by type."""
        if self._depth == MAX_DEPTH:
            return {"type": "object"}
        key = (type_.name, self._depth, *(part.likeness() for part in parts))
        if key not in self._made:
            self._depth += 1
            self._made[key] = self._any_of(type_, self._alike(type_, parts))
            self._depth -= 1
        return self._made[key]

    def _any_of(self, type_: GraphQLNamedType, alike: Sequence[_Alike]) -> JSONObject:
        match alike:
            case []:
                return {"type": "object"}
            case [only]:
                return self._shared.add(type_.name, self._object(only))
            case _:
                # Closed: else a value that is wrong for its type could match another type's shape.
                closed = {"additionalProperties": False}
                shapes = [((each.names or [type_.name])[0], {**self._object(each), **closed}) for each in alike]
                return self._shared.add(type_.name, {"anyOf": [self._shared.add(*shape) for shape in shapes]})

    def _alike(self, type_: GraphQLNamedType, parts: Sequence[_Part]) -> list[_Alike]:
        possible = self._possible(type_) if is_abstract_type(type_) else [type_]
        groups: dict[Hashable, _Alike] = {}
        for each in possible:
            self._group(groups, each, parts).names.append(each.name)
        if possible and is_abstract_type(type_):
            self._group(groups, type_, parts).takes_later = True
        return list(groups.values())

    def _group(self, groups: dict[Hashable, _Alike], type_: GraphQLNamedType, parts: Sequence[_Part]) -> _Alike:
        """Return the group of a type. An abstract type represents object types that the API may add."""
        selected = self._collect(type_, parts)
        likeness = tuple((key, part.likeness()) for key, part in selected.items())
        return groups.setdefault(likeness, _Alike([], selected))

    def _possible(self, type_: GraphQLAbstractType) -> list[GraphQLObjectType]:
        """Return the visible object types. A type whose fields are all hidden counts as hidden."""
        return [
            each
            for each in self._schema.get_possible_types(type_)
            if not self._hidden(each.name) and not all(self._hidden(f"{each.name}.{name}") for name in each.fields)
        ]

    def _object(self, alike: _Alike) -> JSONObject:
        properties = {key: self._value(alike, part) for key, part in alike.selected.items()}
        required = [key for key, part in alike.selected.items() if not part.optional]
        return {
            "type": "object",
            **({"properties": properties} if properties else {}),
            **({"required": required} if required else {}),
        }

    def _value(self, alike: _Alike, part: _Selected) -> JSONObject:
        if part.type is not None:
            return self._typed(part.type, part.parts())
        if part.name != "__typename":
            return {}
        if not alike.names or not self._lists(alike.names):
            return {"type": "string"}
        return _one_of(alike.names) if alike.takes_later else {"type": "string", "enum": alike.names}

    def _typed(self, type_: GraphQLOutputType, below: Sequence[_Part]) -> JSONObject:
        if isinstance(type_, GraphQLNonNull):
            return self._non_null(type_.of_type, below)
        return _nullable(self._non_null(type_, below))

    def _non_null(self, type_: GraphQLOutputType, below: Sequence[_Part]) -> JSONObject:
        match type_:
            case GraphQLList():
                return {"type": "array", "items": self._typed(type_.of_type, below)}
            case GraphQLEnumType():
                values = [name for name in type_.values if not self._hidden(f"{type_.name}.{name}")]
                listed = values and self._lists(f"{type_.name}.{name}" for name in values)
                return self._shared.add(type_.name, _one_of(values) if listed else {"type": "string"})
            case _ if str(type_) == "ID":
                return self._shared.add("ID", ID)
            case _ if is_leaf_type(type_):
                return dict(SCALARS.get(str(type_), {}))
            case _:
                return self.composite(self._schema.type_map[str(type_)], below)

    def _collect(self, type_: GraphQLNamedType, parts: Sequence[_Part]) -> dict[str, _Selected]:
        found: dict[str, _Selected] = {}
        seen: dict[int, bool] = {}
        for within, node, optional in [each for part in parts for each in self._fields(type_, type_, part, seen)]:
            key = (node.alias or node.name).value
            type_of_field = None if self._directives(node) - CONDITIONS else _field_type(within, node)
            selected = found.setdefault(key, _Selected(node.name.value, type_of_field))
            if str(selected.type) != str(type_of_field):  # two interfaces differ for a type that the API may add
                selected.type = None
            selected.add(node, optional=optional)
        return found

    def _fields(
        self, type_: GraphQLNamedType, within: GraphQLNamedType, part: _Part, seen: dict[int, bool]
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
                        below = _Part(fragment.selection_set, optional or not self._applies(wanted, type_))
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


def _one_of(names: Sequence[str]) -> JSONObject:
    """Return a schema for any string, as the API may add names. The description has today's names that fit."""
    fitting = sum(size <= MAX_NAMED_BYTES for size in accumulate(len(f"{name}, ") for name in names))
    if not fitting:
        return {"type": "string"}
    return {"type": "string", "description": f"One of: {some(names, most=fitting)}, or one added later"}


def _nullable(schema: JSONObject) -> JSONObject:
    """Add ``null`` with ``anyOf``: some clients cannot read ``"type": [.., "null"]``, with two types in a schema."""
    if not schema:
        return schema
    return {"anyOf": [*schema.get("anyOf", [schema]), {"type": "null"}]}
