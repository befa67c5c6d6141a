"""The ``outputSchema`` of a prescribed tool: the shape of its selection set in the GraphQL response envelope.

The schema states only facts that an API cannot change without breaking its clients. An API may add enum values, union
members and interface implementations: a response with one of them stays valid. A directive that the API defines
may omit a field or change its value, so a field with such a directive has an open schema.

Source: MCP 2026-07-28, server/tools ("Output Schema"); GraphQL specification, section 7.1 (Response Format).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType

from graphql import (
    DocumentNode,
    GraphQLAbstractType,
    GraphQLEnumType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    OperationDefinitionNode,
    is_abstract_type,
    is_leaf_type,
)

from handler.compiler.json_schemas.definitions import SharedParts
from handler.compiler.json_schemas.selections import Part, ResponseKey, Selections
from handler.policy.evaluation import OPEN, Mask, hidden_from_everybody
from handler.strict_json import JSONObject, to_json_bytes
from handler.text.sentences import some

SCALARS: Mapping[str, JSONObject] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
}

ID: JSONObject = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
"""GraphQL serializes an ID as a string; several servers send a stored number."""

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
    max_bytes: int = 0,
) -> JSONObject:
    """Return the schema of an operation's structured content. ``document`` is valid and has one operation.

    A schema of more than ``max_bytes``, if given, loses its deepest levels: their objects have any members.

    Enum values and possible types that ``guards`` hide from all callers are left out. If one of them needs more than
    the operation's ``mask``, the schema lists no names: callers who may not use that one would read its name.
    """
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    root = schema.get_root_type(operation.operation)
    if root is None:
        raise ValueError(f"the schema has no {operation.operation.value} type")
    selections, names = Selections(document, schema), _Guards(guards, mask)

    def written(levels: int) -> tuple[JSONObject, int]:
        shapes = _Shapes(schema, selections, names, levels=levels)
        data = _nullable(shapes.composite(root, [Part(operation.selection_set)]))
        envelope = {"type": "object", "properties": {"data": data, "errors": ERRORS}, "required": ["data"]}
        return shapes.shared.write(envelope), shapes.deepest

    found, levels = written(MAX_DEPTH)
    while max_bytes and levels and len(to_json_bytes(found)) > max_bytes:
        levels -= 1
        found, _ = written(levels)
    return found


class _Guards:
    """The names that a tool's schema may mention: every caller who meets the tool's mask reads it."""

    def __init__(self, guards: Mapping[str, Mask], mask: Mask) -> None:
        self.hidden = hidden_from_everybody(guards)
        self._guards = guards
        self._mask = mask

    def lists(self, coordinates: Iterable[str]) -> bool:
        """Tell if every caller who meets the mask may use all coordinates."""
        return all(self._guards.get(coordinate, OPEN) <= self._mask for coordinate in coordinates)


@dataclass(slots=True)
class _Alike:
    """Types with an equal selection, and that selection by response key."""

    names: list[str]
    selected: dict[str, ResponseKey]
    takes_later: bool = False  # includes types that the API adds later


class _Shapes:
    def __init__(self, schema: GraphQLSchema, selections: Selections, guards: _Guards, *, levels: int) -> None:
        self.shared = SharedParts()
        self.deepest = 0  # level that was reached
        self._schema = schema
        self._hidden = guards.hidden
        self._lists = guards.lists
        self._levels = levels
        self._depth = 0
        self._made: dict[Hashable, JSONObject] = {}
        self._selections = selections

    def composite(self, type_: GraphQLNamedType, parts: Sequence[Part]) -> JSONObject:
        """Return the shape of an object: ``anyOf`` if it differs by type."""
        if self._depth == self._levels:
            return {"type": "object"}
        key = (type_.name, self._depth, *(part.likeness() for part in parts))
        if key not in self._made:
            self._depth += 1
            self.deepest = max(self.deepest, self._depth)
            self._made[key] = self._any_of(type_, self._alike(type_, parts))
            self._depth -= 1
        return self._made[key]

    def _any_of(self, type_: GraphQLNamedType, alike: Sequence[_Alike]) -> JSONObject:
        match alike:
            case []:
                return {"type": "object"}
            case [only]:
                return self.shared.add(type_.name, self._object(only))
            case _:
                # Closed: else a value that is wrong for its type could match another type's shape.
                closed = {"additionalProperties": False}
                shapes = [((each.names or [type_.name])[0], {**self._object(each), **closed}) for each in alike]
                return self.shared.add(type_.name, {"anyOf": [self.shared.add(*shape) for shape in shapes]})

    def _alike(self, type_: GraphQLNamedType, parts: Sequence[Part]) -> list[_Alike]:
        possible = self._possible(type_) if is_abstract_type(type_) else [type_]
        groups: dict[Hashable, _Alike] = {}
        for each in possible:
            self._group(groups, each, parts).names.append(each.name)
        if possible and is_abstract_type(type_):
            self._group(groups, type_, parts).takes_later = True
        return list(groups.values())

    def _group(self, groups: dict[Hashable, _Alike], type_: GraphQLNamedType, parts: Sequence[Part]) -> _Alike:
        """Return the group of a type. An abstract type represents object types that the API may add."""
        selected = self._selections.collect(type_, parts)
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

    def _value(self, alike: _Alike, part: ResponseKey) -> JSONObject:
        if part.type is not None:
            return self._typed(part.type, part.parts())
        if part.name != "__typename":
            return {}
        if not alike.names or not self._lists(alike.names):
            return {"type": "string"}
        return _one_of(alike.names) if alike.takes_later else {"type": "string", "enum": alike.names}

    def _typed(self, type_: GraphQLOutputType, below: Sequence[Part]) -> JSONObject:
        if isinstance(type_, GraphQLNonNull):
            return self._non_null(type_.of_type, below)
        return _nullable(self._non_null(type_, below))

    def _non_null(self, type_: GraphQLOutputType, below: Sequence[Part]) -> JSONObject:
        match type_:
            case GraphQLList():
                return {"type": "array", "items": self._typed(type_.of_type, below)}
            case GraphQLEnumType():
                values = [name for name in type_.values if not self._hidden(f"{type_.name}.{name}")]
                listed = values and self._lists(f"{type_.name}.{name}" for name in values)
                return self.shared.add(type_.name, _one_of(values) if listed else {"type": "string"})
            case _ if str(type_) == "ID":
                return self.shared.add("ID", ID)
            case _ if is_leaf_type(type_):
                return dict(SCALARS.get(str(type_), {}))
            case _:
                return self.composite(self._schema.type_map[str(type_)], below)


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
