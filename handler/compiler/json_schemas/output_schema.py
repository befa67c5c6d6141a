"""The ``outputSchema`` of a prescribed tool: what its selection set can answer, in the GraphQL response envelope.

The schema says only what an API may not change without breaking its clients. Values may be added to an enum, members
to a union, and types that implement an interface: an answer with one of them fits. A directive of the API's own may
leave a field out or change its value, so nothing is said of a field that carries one.

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

from handler.bundle.model import JSONObject
from handler.compiler.json_schemas.definitions import SharedParts
from handler.compiler.schema.vendor_directives import EXECUTABLE
from handler.policy.evaluation import OPEN, Mask, hidden_from_everybody
from handler.sentences import some

SCALARS: Mapping[str, JSONObject] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
}

ID: JSONObject = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
"""GraphQL writes an ID as a string; several servers send the number that they keep."""

CONDITIONS = frozenset({"skip", "include"})
"""The directives that leave a field out, and do nothing else to it."""

MAX_NAMED_BYTES = 160
"""How much a description may name of the values of an enum, or of the types of an object."""

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
"""Deeper than this a shape is left open: nobody reads it, and the bundle has to stay readable for any JSON parser."""


def output_schema(
    document: DocumentNode,
    schema: GraphQLSchema,
    guards: Mapping[str, Mask] = MappingProxyType({}),
    *,
    mask: Mask = OPEN,
) -> JSONObject:
    """The schema of the structured content of an operation's answer. ``document`` is valid and has one operation.

    Enum values and possible types that ``guards`` hide from everybody are left out. If some are for callers only who
    meet more than the operation's ``mask``, none are named: the others would read of them.
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
    """What may be said in the schema of a tool that callers see who meet its mask."""

    def __init__(self, guards: Mapping[str, Mask], mask: Mask) -> None:
        self.hidden = hidden_from_everybody(guards)
        self._guards = guards
        self._mask = mask

    def lists(self, coordinates: Iterable[str]) -> bool:
        """Whether all of them are for all of these callers."""
        return all(self._guards.get(coordinate, OPEN) <= self._mask for coordinate in coordinates)


@dataclass(frozen=True, slots=True)
class _Part:
    """A selection set, or one of several that stand for the same object."""

    selections: SelectionSetNode
    optional: bool = False  # the object may be there without it

    def likeness(self) -> Hashable:
        """Nodes are told apart by identity: comparing them would compare all that is in them."""
        return id(self.selections), self.optional


@dataclass(slots=True)
class _Selected:
    """One key of the response, merged over all its selections."""

    name: str  # of the field; differs from the key under an alias
    type: GraphQLOutputType | None  # None for __typename, __schema, __type, and where it is not known
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
        """What is selected below. Of several selections those that are skipped leave the object to the others."""
        parts = list(self.below.values())
        return parts if len(parts) > 1 else [_Part(part.selections) for part in parts]

    def likeness(self) -> Hashable:
        """Equal for fields that have the same shape."""
        return str(self.type), self.optional, *(part.likeness() for part in self.parts())


@dataclass(slots=True)
class _Alike:
    """Types of which the same is selected, and the selection by key."""

    names: list[str]
    selected: dict[str, _Selected]
    takes_later: bool = False  # types that the API adds later are among them


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
        """The shape of an object; ``anyOf`` where it differs by type."""
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
                # Closed, or a value that is wrong for its type would pass for another's, with keys nobody asked for.
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
        """The group of a type. An abstract one stands for the objects that may be of it one day."""
        selected = self._collect(type_, parts)
        likeness = tuple((key, part.likeness()) for key, part in selected.items())
        return groups.setdefault(likeness, _Alike([], selected))

    def _possible(self, type_: GraphQLAbstractType) -> list[GraphQLObjectType]:
        """A type without a field that somebody may use is as hidden as one that is hidden itself."""
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
            if str(selected.type) != str(type_of_field):  # two interfaces say it of a type that is not there yet
                selected.type = None
            selected.add(node, optional=optional)
        return found

    def _fields(
        self, type_: GraphQLNamedType, within: GraphQLNamedType, part: _Part, seen: dict[int, bool]
    ) -> Iterator[tuple[GraphQLNamedType, FieldNode, bool]]:
        """Every field that is selected of a type: the type that says what it is, and whether a directive may skip it.

        ``seen`` has what was visited, and whether only under a directive: nothing is visited again to learn nothing.
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
        """The directives that the API follows, and not a client, but for those that change no type."""
        names = {directive.name.value for directive in node.directives or ()} - EXECUTABLE.keys()
        return {name for name in names if self._schema.get_directive(name)}

    def _condition_of(self, fragment: FragmentDefinitionNode | InlineFragmentNode) -> GraphQLNamedType | None:
        condition = fragment.type_condition
        return self._schema.type_map[condition.name.value] if condition else None

    def _may_apply(self, wanted: GraphQLNamedType, type_: GraphQLNamedType) -> bool:
        """Of an object it is known. Objects to come may be of any interface and in any union."""
        return is_abstract_type(wanted) if is_abstract_type(type_) else self._applies(wanted, type_)

    def _applies(self, wanted: GraphQLNamedType, type_: GraphQLNamedType) -> bool:
        return wanted is type_ or (is_abstract_type(wanted) and self._schema.is_sub_type(wanted, type_))


def _field_type(type_: GraphQLNamedType, field: FieldNode) -> GraphQLOutputType | None:
    """``None`` for the fields of the specification itself."""
    name, fields = field.name.value, getattr(type_, "fields", {})  # a union has none
    return fields[name].type if name in fields else None


def _one_of(names: Sequence[str]) -> JSONObject:
    """Any text, as the API may add names. The description has those of today, as far as there is room for them."""
    fitting = sum(size <= MAX_NAMED_BYTES for size in accumulate(len(f"{name}, ") for name in names))
    if not fitting:
        return {"type": "string"}
    return {"type": "string", "description": f"One of: {some(names, most=fitting)}, or one added later"}


def _nullable(schema: JSONObject) -> JSONObject:
    """A choice rather than ``"type": [.., "null"]``, which clients that know one type per schema cannot read."""
    if not schema:
        return schema
    return {"anyOf": [*schema.get("anyOf", [schema]), {"type": "null"}]}
