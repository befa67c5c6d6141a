"""The ``outputSchema`` of a prescribed tool: what its selection set can answer, in the GraphQL response envelope.

Source: MCP 2026-07-28, server/tools ("Output Schema"); GraphQL specification, section 7.1 (Response Format).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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


def output_schema(document: DocumentNode, schema: GraphQLSchema) -> JSONObject:
    """The schema of the structured content of an operation's answer. ``document`` is valid and has one operation."""
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    root = schema.get_root_type(operation.operation)
    if root is None:
        raise ValueError(f"the schema has no {operation.operation.value} type")
    data = _nullable(_Shapes(document, schema).composite(root, [operation.selection_set]))
    return {"type": "object", "properties": {"data": data, "errors": ERRORS}, "required": ["data"]}


@dataclass(slots=True)
class _Selected:
    """One key of the response, merged over all its selections."""

    type: GraphQLOutputType | None  # None: __typename
    below: list[SelectionSetNode]
    optional: bool


class _Shapes:
    def __init__(self, document: DocumentNode, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }

    def composite(self, type_: GraphQLNamedType, selections: Sequence[SelectionSetNode]) -> JSONObject:
        """The shape of an object; ``anyOf`` where it differs by type."""
        if not is_abstract_type(type_):
            return self._object([type_.name], type_, selections)
        alike: dict[str, list[str]] = {}
        for possible in self._schema.get_possible_types(type_):
            shape = json.dumps(self._object([], possible, selections))
            alike.setdefault(shape, []).append(possible.name)
        shapes = [self._object(names, self._schema.type_map[names[0]], selections) for names in alike.values()]
        return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}

    def _object(self, names: list[str], type_: GraphQLNamedType, selections: Sequence[SelectionSetNode]) -> JSONObject:
        selected = self._collect(type_, selections)
        properties = {key: self._value(names, part) for key, part in selected.items()}
        required = [key for key, part in selected.items() if not part.optional]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def _value(self, names: list[str], part: _Selected) -> JSONObject:
        if part.type is None:
            return {"type": "string", "enum": names}
        return self._typed(part.type, part.below)

    def _typed(self, type_: GraphQLOutputType, below: Sequence[SelectionSetNode]) -> JSONObject:
        match type_:
            case GraphQLNonNull():
                return self._non_null(type_.of_type, below)
            case _:
                return _nullable(self._non_null(type_, below))

    def _non_null(self, type_: GraphQLOutputType, below: Sequence[SelectionSetNode]) -> JSONObject:
        match type_:
            case GraphQLList():
                return {"type": "array", "items": self._typed(type_.of_type, below)}
            case GraphQLEnumType():
                return {"type": "string", "enum": list(type_.values)}
            case _ if is_leaf_type(type_):
                return dict(SCALARS.get(str(type_), {}))
            case _:
                return self.composite(self._schema.type_map[str(type_)], below)

    def _collect(self, type_: GraphQLNamedType, selections: Sequence[SelectionSetNode]) -> dict[str, _Selected]:
        found: dict[str, _Selected] = {}
        for field, optional in self._fields(type_, selections):
            key = (field.alias or field.name).value
            part = found.setdefault(key, _Selected(_field_type(type_, field), [], optional))
            part.optional = part.optional and optional
            if field.selection_set:
                part.below.append(field.selection_set)
        return found

    def _fields(
        self, type_: GraphQLNamedType, selections: Sequence[SelectionSetNode], *, optional: bool = False
    ) -> Iterator[tuple[FieldNode, bool]]:
        for node in [node for selection in selections for node in selection.selections]:
            maybe = optional or _is_conditional(node)
            match node:
                case FieldNode():
                    yield node, maybe
                case InlineFragmentNode():
                    if node.type_condition is None or self._applies(node.type_condition.name.value, type_):
                        yield from self._fields(type_, [node.selection_set], optional=maybe)
                case FragmentSpreadNode():
                    fragment = self._fragments[node.name.value]
                    if self._applies(fragment.type_condition.name.value, type_):
                        yield from self._fields(type_, [fragment.selection_set], optional=maybe)

    def _applies(self, condition: str, type_: GraphQLNamedType) -> bool:
        wanted = self._schema.type_map[condition]
        return wanted is type_ or (is_abstract_type(wanted) and self._schema.is_sub_type(wanted, type_))


def _field_type(type_: GraphQLNamedType, field: FieldNode) -> GraphQLOutputType | None:
    """``None`` for ``__typename``. Other meta fields stand on the query type only, and their types are open."""
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
