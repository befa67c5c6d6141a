"""GraphQL literals as JSON, and the ``default`` keywords of advertised schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
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
    StringValueNode,
    value_from_ast_untyped,
)

from handler.compiler.schema.name_patterns import is_found
from handler.json_schema.fast_path import QuickCheck
from handler.json_schema.formats import FORMATS
from handler.policy.evaluation import DEFAULT
from handler.strict_json import JSONObject

_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"

STRICT_FORMATS = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "date-time": rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt]{_TIME}",
    "time": _TIME,
    "uuid": r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
}
"""Forms stricter than those of ``json_schema/formats.py``: clients that assert formats accept only these.

Source: RFC 3339, section 5.6; RFC 9562, section 4.
"""


def default_of(node: ConstValueNode | None, type_: GraphQLInputType) -> JSONObject:
    """Return the ``default`` keyword of a literal; empty if the node is ``None`` or JSON cannot hold it (``1e999``)."""
    if node is None:
        return {}
    value = json_of(node, type_)
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return {}
    return {"default": value}


def with_fitting_defaults(schema: JSONObject, definitions: JSONObject | None = None) -> JSONObject:
    """Remove each ``default`` that the schema itself rejects: the API applies the default, but models would copy it.

    ``definitions`` are those of the whole schema, if this is a part of one.
    """
    result, shared = dict(schema), schema.get("$defs", {}) if definitions is None else definitions
    if "default" in result and not fits(result["default"], {**result, "$defs": shared}):
        del result["default"]
    for key in ("properties", "$defs"):
        if key in result:
            result[key] = {name: with_fitting_defaults(below, shared) for name, below in result[key].items()}
    if "items" in result:
        result["items"] = with_fitting_defaults(result["items"], shared)
    return result


def fits(value: Any, schema: JSONObject) -> bool:
    """Return whether a schema accepts a value. Formats and patterns are asserted; undeclared properties are invalid.

    A value that is nested too deeply to validate does not fit.
    """
    quick = QuickCheck(schema, doubtful_formats=FORMATS, patterns=is_found)
    if not isinstance(value, dict | list) and quick.surely_fits(value, schema):
        return True
    try:
        return bool(_strict_validator()(schema).is_valid(value))
    except RecursionError:
        return False


@cache
def _strict_validator() -> Any:
    """Return the validator of defaults."""
    # jsonschema takes a quarter of the time of loading the compiler, and most defaults are numbers.
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
        form, strict = FORMATS.get(name), STRICT_FORMATS.get(name, ".*")
        if isinstance(text, str) and ((form and not form.fits(text)) or not re.fullmatch(strict, text, re.DOTALL)):
            yield ValidationError("format")

    def check_pattern(_validator: Any, pattern: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(text, str) and not is_found(pattern, text):
            yield ValidationError("pattern")

    def check_properties(validator: Any, properties: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(value, dict) and not value.keys() <= properties.keys():
            yield ValidationError("additionalProperties")
        yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, value, schema)

    checks = {"format": check_format, "pattern": check_pattern, "properties": check_properties}
    return extend(Draft202012Validator, checks)  # type: ignore[no-untyped-call]


def coordinates_in(node: Any, type_: Any) -> Iterator[str]:
    """Yield the coordinates of the input fields, enum values and applied defaults in a literal, or ``None``."""
    match node, type_:
        case _, GraphQLNonNull():
            yield from coordinates_in(node, type_.of_type)
        case ListValueNode(), GraphQLList():
            for item in node.values:
                yield from coordinates_in(item, type_.of_type)
        case _, GraphQLList():
            yield from coordinates_in(node, type_.of_type)
        case ObjectValueNode(), GraphQLInputObjectType():
            given = {field.name.value for field in node.fields}
            yield from (f"{type_.name}.{name}{DEFAULT}" for name in type_.fields if name not in given)
            for field in node.fields:
                if field.name.value in type_.fields:
                    yield f"{type_.name}.{field.name.value}"
                    yield from coordinates_in(field.value, type_.fields[field.name.value].type)
        case EnumValueNode() | StringValueNode(), GraphQLEnumType():  # examples may be written as JSON
            yield f"{type_.name}.{node.value}"


def json_of(node: Any, type_: Any) -> Any:
    """Convert a literal to JSON of its type: a single item becomes a list of one, an integer ``ID`` becomes text.

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
            types = {name: field.type for name, field in type_.fields.items()}  # validation rejects unknown names later
            return {field.name.value: json_of(field.value, types.get(field.name.value)) for field in node.fields}
        case IntValueNode(), _ if type_ is GraphQLID:
            return node.value
        case _:
            return value_from_ast_untyped(node)
