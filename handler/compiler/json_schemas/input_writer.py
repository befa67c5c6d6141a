"""The common part of both schemas of an operation's variables: shared types, and the members that are required."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLScalarType,
    VariableDefinitionNode,
    get_named_type,
)

from handler.compiler.json_schemas.descriptions import enum_description
from handler.compiler.json_schemas.inputs import Inputs
from handler.compiler.json_schemas.scalars import Scalar
from handler.json_schema.input_types import leaves_first
from handler.strict_json import JSONObject

MAX_INLINE_DEPTH = 8
"""Input objects nested deeper than this are references: easier to read, and a recursive type needs one."""

LONG_ENUM_BYTES = 200
"""Shorter enums are repeated at each use: a reference costs the reader more than it saves."""


class InputWriter:
    """Writer of the schemas of one operation's variables. Shared, recursive and deep types go into ``$defs``."""

    def __init__(self, inputs: Inputs, nodes: Sequence[VariableDefinitionNode], scalars: Mapping[str, Scalar]) -> None:
        self._inputs = inputs
        self._scalars = scalars
        self._nodes = {node.variable.name.value: node for node in nodes}
        self._types: dict[str, Any] = {name: inputs.types[name] for name in self._nodes}
        self._defined = self._not_inlined()
        self._referred: dict[str, GraphQLNamedType] = {}

    def definitions(self) -> JSONObject:
        """Return ``$defs`` with every referenced type, transitively; empty if there are no references."""
        written: dict[str, JSONObject] = {}
        while missing := [type_ for name, type_ in self._referred.items() if name not in written]:
            written |= {type_.name: self._definition(type_) for type_ in missing}
        return {"$defs": leaves_first(written)} if written else {}

    def _not_inlined(self) -> set[str]:
        """Return the names of the types that are used more than once or nested too deep."""
        depths: dict[str, int] = {}
        found: set[str] = set()
        waiting = deque((type_, 0) for type_ in self._definable(self._types.values()))
        while waiting:
            type_, depth = waiting.popleft()
            is_object = isinstance(type_, GraphQLInputObjectType)
            if type_.name in depths or (is_object and depth >= MAX_INLINE_DEPTH):
                found.add(type_.name)
            if isinstance(type_, GraphQLInputObjectType) and type_.name not in depths:
                below = self._definable(field.type for field in self._inputs.fields(type_).values())
                waiting.extend((inner, depth + 1) for inner in below)
            depths.setdefault(type_.name, depth)
        return found

    def _definable(self, types: Iterable[Any]) -> Iterator[GraphQLNamedType]:
        for type_ in types:
            match get_named_type(type_):
                case GraphQLInputObjectType() as below:
                    yield below
                case GraphQLEnumType() as below if _is_long(self._inputs.values(below)):
                    yield below
                case GraphQLScalarType() as below if self._is_long_scalar(below):
                    yield below

    def _is_long_scalar(self, type_: GraphQLScalarType) -> bool:
        """Tell if a scalar's schema is long enough for ``$defs``."""
        raise NotImplementedError

    def _required_variables(self) -> JSONObject:
        return _required(
            [
                name
                for name, node in self._nodes.items()
                if isinstance(self._types[name], GraphQLNonNull) and not node.default_value
            ]
        )

    def _named(self, type_: Any) -> JSONObject:
        """Return the schema of a named type's values except ``null``: a reference or the definition."""
        if type_.name in self._defined:
            self._referred[type_.name] = type_
            return {"$ref": f"#/$defs/{type_.name}"}
        return self._definition(type_)

    def _definition(self, type_: Any) -> JSONObject:
        raise NotImplementedError


def field_rules(type_: GraphQLInputObjectType, fields: Mapping[str, GraphQLInputField]) -> JSONObject:
    """Return the keywords for the members that an input object needs."""
    needed = [
        name
        for name, field in fields.items()
        if isinstance(field.type, GraphQLNonNull) and not (field.ast_node and field.ast_node.default_value)
    ]
    return {**_required(needed), **({"minProperties": 1, "maxProperties": 1} if type_.is_one_of else {})}


def _required(names: Sequence[str]) -> JSONObject:
    return {"required": list(names)} if names else {}


def _is_long(values: Mapping[str, GraphQLEnumValue]) -> bool:
    return len(json.dumps([*values, enum_description(values)])) > LONG_ENUM_BYTES
