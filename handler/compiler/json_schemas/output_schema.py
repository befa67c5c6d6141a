"""The ``outputSchema`` of a prescribed tool: the shape of its selection set in the GraphQL response envelope.

The schema states only facts that an API cannot change without breaking its clients. An API may add enum values, union
members and interface implementations: a response with one of them stays valid. A directive that the API defines
may omit a field or change its value, so a field with such a directive has an open schema.

Source: MCP 2026-07-28, server/tools ("Output Schema"); GraphQL specification, section 7.1 (Response Format).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, count
from types import MappingProxyType
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    is_abstract_type,
    is_leaf_type,
)

from handler.compiler.json_schemas.scalars import BUILT_IN
from handler.compiler.schema.vendor_directives import EXECUTABLE
from handler.graph.documents.operation import fragments_of
from handler.json_schema.input_types import references_in
from handler.policy.evaluation import OPEN, Mask, hidden_from_everybody
from handler.strict_json import JSONObject
from handler.text.sentences import some

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

WORTHWHILE_BYTES = 64
"""A definition must save more than this: for less, the look-up of the reference costs the reader more."""

CONDITIONS = frozenset({"skip", "include"})
"""The directives that may omit a field and do not change its value."""


def output_schema(
    document: DocumentNode,
    schema: GraphQLSchema,
    guards: Mapping[str, Mask] = MappingProxyType({}),
    *,
    mask: Mask = OPEN,
) -> JSONObject:
    """Return the schema of an operation's structured content. ``document`` is valid and has one operation.

    Enum values and possible types that ``guards`` hide from all callers are left out. If one of them needs more than
    the operation's ``mask``, the schema lists no names: callers without these conditions would read that name.
    """
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    root = schema.get_root_type(operation.operation)
    if root is None:
        raise ValueError(f"the schema has no {operation.operation.value} type")
    selections, hidden = Selections(document, schema), hidden_from_everybody(guards)

    def lists(coordinates: Iterable[str]) -> bool:
        """Return whether all callers that meet the mask may use the coordinates: such callers read the schema."""
        return all(guards.get(coordinate, OPEN) <= mask for coordinate in coordinates)

    shapes = _Shapes(schema, selections, hidden=hidden, lists=lists)
    data = _nullable(shapes.composite(root, [Part(operation.selection_set)]))
    envelope = {"type": "object", "properties": {"data": data, "errors": ERRORS}, "required": ["data"]}
    return shapes.shared.write(envelope)


def either(first: JSONObject, second: JSONObject) -> JSONObject:
    """Return the schema of structured content that fits one of two output schemas."""
    shared, contents = SharedParts(), list[JSONObject]()
    for schema in (first, second):
        references: JSONObject = {}
        for name, part in schema.get("$defs", {}).items():
            references[f"#/$defs/{name}"] = shared.add(name, _replaced(part, references))
        contents.append(_replaced({key: value for key, value in schema.items() if key != "$defs"}, references))
    # Clients of earlier revisions expect a type at the root.
    return {"type": "object", **shared.write({"anyOf": contents})}


@dataclass(slots=True)
class _Alike:
    """Types with an equal selection, and that selection by response key."""

    names: list[str]
    selected: dict[str, ResponseKey]
    takes_later: bool = False  # includes types that the API adds later


class _Shapes:
    """The shapes of one operation's objects."""

    def __init__(
        self,
        schema: GraphQLSchema,
        selections: Selections,
        *,
        hidden: Callable[[str], bool],
        lists: Callable[[Iterable[str]], bool],
    ) -> None:
        self.shared = SharedParts()
        self._schema = schema
        self._selections = selections
        self._hidden = hidden
        self._lists = lists
        self._depth = 0
        self._composites: dict[Hashable, JSONObject] = {}

    def composite(self, type_: GraphQLNamedType, parts: Sequence[Part]) -> JSONObject:
        """Return the shape of an object: ``anyOf`` if it differs by type."""
        if self._depth == MAX_DEPTH:
            return {"type": "object"}
        key = (type_.name, self._depth, *(part.likeness() for part in parts))
        if key not in self._composites:
            self._depth += 1
            self._composites[key] = self._any_of(type_, self._alike(type_, parts))
            self._depth -= 1
        return self._composites[key]

    def _any_of(self, type_: GraphQLNamedType, alike: Sequence[_Alike]) -> JSONObject:
        if not alike:
            return {"type": "object"}
        if len(alike) == 1:
            return self.shared.add(type_.name, self._object(alike[0]))
        # Closed: else a value that is wrong for its type could match another type's shape.
        shapes = [
            self.shared.add((each.names or [type_.name])[0], {**self._object(each), "additionalProperties": False})
            for each in alike
        ]
        return self.shared.add(type_.name, {"anyOf": shapes})

    def _alike(self, type_: GraphQLNamedType, parts: Sequence[Part]) -> list[_Alike]:
        groups: dict[Hashable, _Alike] = {}

        def group(each: GraphQLNamedType) -> _Alike:
            selected = self._selections.collect(each, parts)
            likeness = tuple((key, part.likeness()) for key, part in selected.items())
            return groups.setdefault(likeness, _Alike([], selected))

        if not is_abstract_type(type_):
            group(type_).names.append(type_.name)
            return list(groups.values())
        for each in self._schema.get_possible_types(type_):
            # A type whose fields are all hidden counts as hidden.
            if not self._hidden(each.name) and not all(self._hidden(f"{each.name}.{name}") for name in each.fields):
                group(each).names.append(each.name)
        if groups:
            group(type_).takes_later = True  # it represents object types that the API may add
        return list(groups.values())

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
                return dict(BUILT_IN[str(type_)].advertised) if str(type_) in BUILT_IN else {}
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
        self._fragments = fragments_of(document)

    def collect(self, type_: GraphQLNamedType, parts: Sequence[Part]) -> dict[str, ResponseKey]:
        """Return response key -> the field, merged over all the parts and the fragments that may apply."""
        keys: dict[str, ResponseKey] = {}
        visited: dict[int, bool] = {}
        for within, node, optional in [each for part in parts for each in self._fields(type_, type_, part, visited)]:
            # A union has no fields, and introspection fields are not those of a type.
            field = getattr(within, "fields", {}).get(node.name.value)
            type_of_field = field.type if field and not self._directives(node) - CONDITIONS else None
            selected = keys.setdefault((node.alias or node.name).value, ResponseKey(node.name.value, type_of_field))
            if str(selected.type) != str(type_of_field):  # two interfaces differ for a type that the API may add
                selected.type = None
            selected.add(node, optional=optional)
        return keys

    def _fields(
        self, type_: GraphQLNamedType, within: GraphQLNamedType, part: Part, visited: dict[int, bool]
    ) -> Iterator[tuple[GraphQLNamedType, FieldNode, bool]]:
        """Yield every selected field of a type: the type that defines it, the node, and if it may be absent.

        ``visited`` has selection sets, each with its optional flag: a second visit must make one required.
        """
        if not visited.get(id(part.selections), True) or (part.optional and id(part.selections) in visited):
            return
        visited[id(part.selections)] = part.optional
        for node in part.selections.selections:
            optional = part.optional or bool(self._directives(node))
            match node:
                case FieldNode():
                    yield within, node, optional
                case InlineFragmentNode() | FragmentSpreadNode():
                    fragment = self._fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
                    condition = fragment.type_condition
                    on = self._schema.type_map[condition.name.value] if condition else within
                    applies = on is type_ or (is_abstract_type(on) and self._schema.is_sub_type(on, type_))
                    # A later object type may implement any interface or join any union.
                    if is_abstract_type(on) if is_abstract_type(type_) else applies:
                        below = Part(fragment.selection_set, optional or not applies)
                        yield from self._fields(type_, on if is_abstract_type(type_) else type_, below, visited)

    def _directives(self, node: SelectionNode) -> set[str]:
        """Return the API's directives on a node, without those that cannot change its type."""
        names = {directive.name.value for directive in node.directives or ()} - EXECUTABLE.keys()
        return {name for name in names if self._schema.get_directive(name)}


class SharedParts:
    """Collector of the reusable parts of one schema, inner parts first, for ``$defs`` if this saves bytes.

    Sharing also keeps the work linear: a fragment that is reached by many chains of fragment spreads would otherwise be
    written out once for each chain.
    """

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}  # by the JSON of a part
        self._parts: dict[str, tuple[str, JSONObject]] = {}  # name for ``$defs``, and schema with keys of other parts

    def add(self, name: str, schema: JSONObject) -> JSONObject:
        """Return a reference to ``schema``. Equal schemas become one part, which keeps the first ``name``."""
        key = self._keys.setdefault(json.dumps(schema), str(len(self._keys)))
        self._parts.setdefault(key, (name, schema))
        return {"$ref": key}

    def write(self, schema: JSONObject) -> JSONObject:
        """Resolve the references that ``add`` returned: inline the parts, or refer to them in ``$defs``."""
        schemas = [schema, *(part for _, part in self._parts.values())]
        uses = Counter(key for each in schemas for key in references_in(each))
        replacements: dict[str, Any] = {}
        definitions: JSONObject = {}
        for key, (name, part) in self._parts.items():
            whole = _replaced(part, replacements)
            names = chain([name], (f"{name}{number}" for number in count(2)))
            free = next(each for each in names if each not in definitions)
            reference, size = {"$ref": f"#/$defs/{free}"}, _size(whole)
            is_shared = uses[key] * (size - _size(reference)) - _size({free: whole}) > WORTHWHILE_BYTES
            definitions |= {free: whole} if is_shared else {}
            replacements[key] = reference if is_shared else whole
        result: JSONObject = _replaced(schema, replacements)
        return {**result, "$defs": definitions} if definitions else result


def _size(schema: JSONObject) -> int:
    return len(json.dumps(schema, separators=(",", ":")))


def _replaced(schema: Any, replacements: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(key)}:
            return replacements[key]
        case {"anyOf": [*branches]}:
            inner = [_replaced(branch, replacements) for branch in branches]
            return {"anyOf": [part for each in inner for part in each.get("anyOf", [each])]}  # without nesting
        case dict():
            return {key: _replaced(value, replacements) for key, value in schema.items()}
        case list():
            return [_replaced(value, replacements) for value in schema]
        case _:
            return schema
