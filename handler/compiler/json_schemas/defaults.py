"""GraphQL literals as JSON, and the ``default`` keywords of advertised schemas."""

from __future__ import annotations

import json
import re
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
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from handler.compiler.json_schemas.regex_safety import python_pattern
from handler.errors.authoring import PatternRefused
from handler.json_schema.formats import FORMATS, MAX_MATCHED_CHARS
from handler.strict_json import JSONObject


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


def with_fitting_defaults(schema: JSONObject) -> JSONObject:
    """Remove each ``default`` that the schema itself rejects: the API applies the default, but models would copy it."""
    return _with_fitting_defaults(schema, schema.get("$defs", {}))


def _with_fitting_defaults(schema: JSONObject, definitions: JSONObject) -> JSONObject:
    found = dict(schema)
    if "default" in found and not fits(found["default"], {**found, "$defs": definitions}):
        del found["default"]
    for key in ("properties", "$defs"):
        if key in found:
            found[key] = {name: _with_fitting_defaults(below, definitions) for name, below in found[key].items()}
    if "items" in found:
        found["items"] = _with_fitting_defaults(found["items"], definitions)
    return found


def fits(value: Any, schema: JSONObject) -> bool:
    """Tell if a value is valid against a schema. Formats and patterns are asserted; undeclared properties are invalid.

    A value that is nested too deeply to validate does not fit.
    """
    try:
        return bool(_Validator(schema).is_valid(value))
    except RecursionError:
        return False


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


def _check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(text, str):
        return
    known, strict = FORMATS.get(name), STRICT_FORMATS.get(name)
    if (known and not known.fits(text)) or (strict and not re.fullmatch(strict, text)):
        yield ValidationError("format")


def _check_pattern(_validator: Any, pattern: Any, text: Any, schema: Any) -> Iterator[ValidationError]:
    # An enforced schema has Python's pattern in ``pattern`` and the author's in ``$comment``.
    if isinstance(text, str) and not _matches(schema.get("$comment", pattern), text):
        yield ValidationError("pattern")


def _matches(pattern: str, text: str) -> bool:
    try:
        return len(text) <= MAX_MATCHED_CHARS and re.search(python_pattern(pattern), text, re.ASCII) is not None
    except PatternRefused:  # reported where the pattern is read
        return False


def _check_properties(validator: Any, properties: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, dict) and not value.keys() <= properties.keys():
        yield ValidationError("additionalProperties")
    yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, value, schema)


_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"format": _check_format, "pattern": _check_pattern, "properties": _check_properties}
)


def coordinates_in(node: Any, type_: Any) -> Iterator[str]:
    """Yield the coordinates of the input fields and enum values in a literal. ``node`` may be ``None``."""
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
