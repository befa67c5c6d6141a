"""The JSON Schemas of a prescribed tool's arguments: one to advertise, one to enforce.

The advertised one is what models read: a nullable ``Int`` is ``{"type": "integer"}`` and not required. The enforced
one also takes ``null`` where GraphQL does, an integer for ``ID``, and refuses names that are not declared.

Source: JSON Schema 2020-12; GraphQL specification, section 6.1.2 (Coercing Variable Values).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLSchema,
    VariableDefinitionNode,
    get_named_type,
    type_from_ast,
)

from handler.bundle import JSONObject
from handler.compiler.default_values import default_of
from handler.compiler.operations import AuthorOperation

INT_MIN, INT_MAX = -(2**31), 2**31 - 1

ADVERTISED_SCALARS: Mapping[str, JSONObject] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
    "ID": {"type": "string"},
}
ENFORCED_SCALARS: Mapping[str, JSONObject] = {
    **ADVERTISED_SCALARS,
    "Int": {"type": "integer", "minimum": INT_MIN, "maximum": INT_MAX},
    "ID": {"type": ["string", "integer"]},
}


MAX_INLINE_DEPTH = 8
"""Input objects nested deeper than this are easier to read, and to write without end, by reference."""


def advertised_schema(
    operation: AuthorOperation, schema: GraphQLSchema, *, descriptions: Mapping[str, str], flat: bool
) -> JSONObject:
    """The ``inputSchema`` of a tool's list entry.

    ``flat``: the variables are the arguments (Cosmo's form); else they stand under ``variables`` (StepZen's).
    """
    writer = _Writer(schema, operation, enforced=False)
    variables = writer.variables(descriptions)
    if flat:
        return {"type": "object", **variables, **writer.definitions()}
    nested = {"type": "object", **_described(variables, descriptions.get("variables"))}
    required = {"required": ["variables"]} if "required" in variables else {}
    return {"type": "object", "properties": {"variables": nested}, **required, **writer.definitions()}


def enforced_schema(operation: AuthorOperation, schema: GraphQLSchema, *, flat: bool) -> JSONObject:
    """What arguments are checked against before anything is sent upstream."""
    writer = _Writer(schema, operation, enforced=True)
    closed = {"type": "object", **writer.variables({}), "additionalProperties": False}
    if flat:
        return {**closed, **writer.definitions()}
    required = {"required": ["variables"]} if "required" in closed else {}
    outer = {"type": "object", "properties": {"variables": closed}, **required, "additionalProperties": False}
    return {**outer, **writer.definitions()}


class _Writer:
    """Schemas for one operation's variables. Input objects that are shared, recursive or deep stand in ``$defs``."""

    def __init__(self, schema: GraphQLSchema, operation: AuthorOperation, *, enforced: bool) -> None:
        self._enforced = enforced
        self._scalars = ENFORCED_SCALARS if enforced else ADVERTISED_SCALARS
        self._variables = {
            node.variable.name.value: (node, _type_of(schema, node))
            for node in operation.node.variable_definitions or ()
        }
        self._defined = _not_inlined([type_ for _, type_ in self._variables.values()])
        self._referred: dict[str, GraphQLInputObjectType] = {}

    def variables(self, descriptions: Mapping[str, str]) -> JSONObject:
        properties: dict[str, JSONObject] = {}
        required: list[str] = []
        for name, (node, type_) in self._variables.items():
            default = default_of(node.default_value, type_)
            properties[name] = _described({**self._of(type_), **default}, descriptions.get(name))
            if isinstance(type_, GraphQLNonNull) and not node.default_value:
                required.append(name)
        return {"properties": properties, **({"required": required} if required else {})}

    def definitions(self) -> JSONObject:
        """What is referred to, and what that refers to in turn."""
        written: dict[str, JSONObject] = {}
        while missing := [type_ for name, type_ in self._referred.items() if name not in written]:
            written |= {type_.name: self._object(type_) for type_ in missing}
        return {"$defs": dict(sorted(written.items()))} if written else {}

    def _of(self, type_: GraphQLInputType) -> JSONObject:
        if isinstance(type_, GraphQLNonNull):
            return self._non_null(type_.of_type)
        return _nullable(self._non_null(type_)) if self._enforced else self._non_null(type_)

    def _non_null(self, type_: GraphQLInputType) -> JSONObject:
        match type_:
            case GraphQLList():
                return {"type": "array", "items": self._of(type_.of_type)}
            case GraphQLEnumType():
                return {"type": "string", "enum": list(type_.values)}
            case GraphQLInputObjectType() if type_.name in self._defined:
                self._referred[type_.name] = type_
                return {"$ref": f"#/$defs/{type_.name}"}
            case GraphQLInputObjectType():
                return self._object(type_)
            case _:
                return dict(self._scalars.get(str(type_), {}))

    def _object(self, type_: GraphQLInputObjectType) -> JSONObject:
        properties = {name: self._property(field, type_) for name, field in type_.fields.items()}
        required = [name for name, field in type_.fields.items() if _is_required(field)]
        return {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            **({"minProperties": 1, "maxProperties": 1} if type_.is_one_of else {}),
            **({"additionalProperties": False} if self._enforced else {}),
        }

    def _property(self, field: GraphQLInputField, type_: GraphQLInputObjectType) -> JSONObject:
        # The one field that is given of a @oneOf object cannot be null.
        schema = self._non_null(field.type) if type_.is_one_of else self._of(field.type)
        default = default_of(field.ast_node.default_value, field.type) if field.ast_node else {}
        return _described({**schema, **default}, None if self._enforced else field.description)


def _type_of(schema: GraphQLSchema, node: VariableDefinitionNode) -> Any:
    return type_from_ast(schema, node.type)


def _is_required(field: GraphQLInputField) -> bool:
    return isinstance(field.type, GraphQLNonNull) and not (field.ast_node and field.ast_node.default_value)


def _described(schema: JSONObject, description: str | None) -> JSONObject:
    return {**schema, "description": description} if description else schema


def _nullable(schema: JSONObject) -> JSONObject:
    if "enum" in schema:
        return {**schema, "type": [schema["type"], "null"], "enum": [*schema["enum"], None]}
    if "$ref" in schema:
        # Not anyOf: its violations would be those of all branches, gathered before the first is known.
        return {"if": {"not": {"type": "null"}}, "then": schema}
    if "type" not in schema:
        return schema
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}


def _not_inlined(types: Sequence[Any]) -> set[str]:
    """The input object types that are reached more than once, and those that stand deep in others."""
    depths: dict[str, int] = {}
    found: set[str] = set()
    waiting = deque((type_, 0) for type_ in _input_objects(types))
    while waiting:
        type_, depth = waiting.popleft()
        if type_.name in depths or depth >= MAX_INLINE_DEPTH:
            found.add(type_.name)
        if type_.name not in depths:
            depths[type_.name] = depth
            below = _input_objects([field.type for field in type_.fields.values()])
            waiting.extend((inner, depth + 1) for inner in below)
    return found


def _input_objects(types: Sequence[Any]) -> Iterator[GraphQLInputObjectType]:
    for type_ in types:
        below: GraphQLNamedType = get_named_type(type_)
        if isinstance(below, GraphQLInputObjectType):
            yield below
