from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from graphql import (
    ConstValueNode,
    EnumValueNode,
    GraphQLEnumType,
    GraphQLID,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    value_from_ast_untyped,
)

from handler.bundle import JSONObject


def default_of(node: ConstValueNode | None, type_: GraphQLInputType) -> JSONObject:
    """The ``default`` of a JSON Schema, or nothing: where there is none, or none that JSON can say (``1e999``)."""
    if node is None:
        return {}
    value = json_of(node, type_)
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return {}
    return {"default": value}


def coordinates_in(node: Any, type_: Any) -> Iterator[str]:
    """The input fields and enum values that a literal of a type names. ``node`` may be ``None``."""
    match node, type_:
        case _, GraphQLNonNull():
            yield from coordinates_in(node, type_.of_type)
        case ListValueNode(), GraphQLList():
            for item in node.values:
                yield from coordinates_in(item, type_.of_type)
        case _, GraphQLList():
            yield from coordinates_in(node, type_.of_type)
        case ObjectValueNode(), GraphQLInputObjectType():
            for field in node.fields:
                if field.name.value in type_.fields:
                    yield f"{type_.name}.{field.name.value}"
                    yield from coordinates_in(field.value, type_.fields[field.name.value].type)
        case EnumValueNode(), GraphQLEnumType():
            yield f"{type_.name}.{node.value}"


def json_of(node: Any, type_: Any) -> Any:
    """A literal as the type's JSON: one item stands for a list of it, and a number for an ID is its text.

    Source: GraphQL specification, sections 3.5.5 (ID) and 3.11 (List), "Input Coercion".
    """
    match node, type_:
        case NullValueNode(), _:
            return None
        case _, GraphQLNonNull():
            return json_of(node, type_.of_type)
        case ListValueNode(), GraphQLList():
            return [json_of(item, type_.of_type) for item in node.values]
        case _, GraphQLList():
            return [json_of(node, type_.of_type)]
        case ObjectValueNode(), GraphQLInputObjectType():
            known = [field for field in node.fields if field.name.value in type_.fields]
            return {field.name.value: json_of(field.value, type_.fields[field.name.value].type) for field in known}
        case IntValueNode(), _ if type_ is GraphQLID:
            return node.value
        case _:
            return value_from_ast_untyped(node)
