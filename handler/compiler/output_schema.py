"""The ``outputSchema`` of a prescribed tool: what its selection set can answer, in the GraphQL response envelope.

Source: MCP 2026-07-28, server/tools ("Output Schema"); GraphQL specification, section 7.1 (Response Format).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
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

from handler.bundle import JSONObject

SCALARS: Mapping[str, JSONObject] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
    "ID": {"type": "string"},
}

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


def output_schema(document: DocumentNode, schema: GraphQLSchema) -> JSONObject:
    """The schema of the structured content of an operation's answer. ``document`` is valid and has one operation."""
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    root = schema.get_root_type(operation.operation)
    if root is None:
        raise ValueError(f"the schema has no {operation.operation.value} type")
    data = _nullable(_Shapes(document, schema).composite(root, [_Part(operation.selection_set, optional=False)]))
    return {"type": "object", "properties": {"data": data, "errors": ERRORS}, "required": ["data"]}


@dataclass(frozen=True, slots=True)
class _Part:
    """A selection set, or one of several that stand for the same object."""

    selections: SelectionSetNode
    optional: bool  # the object may be there without it


@dataclass(slots=True)
class _Selected:
    """One key of the response, merged over all its selections."""

    name: str  # of the field; differs from the key under an alias
    type: GraphQLOutputType | None  # None for a field of the specification: __typename, __schema, __type
    below: list[_Part]
    optional: bool

    def parts(self) -> list[_Part]:
        """What is selected below. Of several selections those that are skipped leave the object to the others."""
        if len(self.below) > 1:
            return self.below
        return [_Part(part.selections, optional=False) for part in self.below]

    def likeness(self) -> tuple[object, ...]:
        """Equal for fields that have the same shape."""
        return self.name, str(self.type), self.optional, *((id(part.selections), part.optional) for part in self.below)


class _Shapes:
    def __init__(self, document: DocumentNode, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._depth = 0
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }

    def composite(self, type_: GraphQLNamedType, parts: Sequence[_Part]) -> JSONObject:
        """The shape of an object; ``anyOf`` where it differs by type."""
        if self._depth == MAX_DEPTH:
            return {"type": "object"}
        self._depth += 1
        shapes = [self._object(names, selected) for names, selected in self._alike(type_, parts)]
        self._depth -= 1
        return shapes[0] if len(shapes) == 1 else {"anyOf": shapes} if shapes else {"type": "object"}

    def _alike(
        self, type_: GraphQLNamedType, parts: Sequence[_Part]
    ) -> Iterable[tuple[list[str], dict[str, _Selected]]]:
        """The possible types, those together of which the same is selected."""
        possible = self._schema.get_possible_types(type_) if is_abstract_type(type_) else [type_]
        groups: dict[object, tuple[list[str], dict[str, _Selected]]] = {}
        for each in possible:
            selected = self._collect(each, parts)
            likeness = tuple((key, part.likeness()) for key, part in selected.items())
            groups.setdefault(likeness, ([], selected))[0].append(each.name)
        return groups.values()

    def _object(self, names: list[str], selected: Mapping[str, _Selected]) -> JSONObject:
        properties = {key: self._value(names, part) for key, part in selected.items()}
        required = [key for key, part in selected.items() if not part.optional]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def _value(self, names: list[str], part: _Selected) -> JSONObject:
        if part.type is not None:
            return self._typed(part.type, part.parts())
        return {"type": "string", "enum": names} if part.name == "__typename" else {}

    def _typed(self, type_: GraphQLOutputType, below: Sequence[_Part]) -> JSONObject:
        if isinstance(type_, GraphQLNonNull):
            return self._non_null(type_.of_type, below)
        return _nullable(self._non_null(type_, below))

    def _non_null(self, type_: GraphQLOutputType, below: Sequence[_Part]) -> JSONObject:
        match type_:
            case GraphQLList():
                return {"type": "array", "items": self._typed(type_.of_type, below)}
            case GraphQLEnumType():
                return {"type": "string", "enum": list(type_.values)}
            case _ if is_leaf_type(type_):
                return dict(SCALARS.get(str(type_), {}))
            case _:
                return self.composite(self._schema.type_map[str(type_)], below)

    def _collect(self, type_: GraphQLNamedType, parts: Sequence[_Part]) -> dict[str, _Selected]:
        found: dict[str, _Selected] = {}
        for field, optional in self._fields(type_, parts):
            key = (field.alias or field.name).value
            selected = found.setdefault(key, _Selected(field.name.value, _field_type(type_, field), [], optional))
            selected.optional = selected.optional and optional
            if field.selection_set:
                selected.below.append(_Part(field.selection_set, optional))
        return found

    def _fields(self, type_: GraphQLNamedType, parts: Sequence[_Part]) -> Iterator[tuple[FieldNode, bool]]:
        """Every field that is selected of a type, with whether a condition may skip it."""
        for below, node in [(part, node) for part in parts for node in part.selections.selections]:
            optional = below.optional or _is_conditional(node)
            match node:
                case FieldNode():
                    yield node, optional
                case InlineFragmentNode():
                    if node.type_condition is None or self._applies(node.type_condition.name.value, type_):
                        yield from self._fields(type_, [_Part(node.selection_set, optional)])
                case FragmentSpreadNode():
                    fragment = self._fragments[node.name.value]
                    if self._applies(fragment.type_condition.name.value, type_):
                        yield from self._fields(type_, [_Part(fragment.selection_set, optional)])

    def _applies(self, condition: str, type_: GraphQLNamedType) -> bool:
        wanted = self._schema.type_map[condition]
        return wanted is type_ or (is_abstract_type(wanted) and self._schema.is_sub_type(wanted, type_))


def _field_type(type_: GraphQLNamedType, field: FieldNode) -> GraphQLOutputType | None:
    """``None`` for the fields of the specification itself."""
    name = field.name.value
    return type_.fields[name].type if isinstance(type_, GraphQLObjectType) and name in type_.fields else None


def _is_conditional(node: SelectionNode) -> bool:
    return any(directive.name.value in ("skip", "include") for directive in node.directives or ())


def _nullable(schema: JSONObject) -> JSONObject:
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "type" not in schema:
        return schema
    enum = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **enum}
