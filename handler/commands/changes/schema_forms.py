"""The forms of JSON Schemas that are compared: those that the compiler writes, and those of tools in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

ANY = "any"
"""The type of a schema that takes values of every type."""

TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
"""Type of a JSON value in Python -> its name in schemas."""

NOT_NULL = {"not": {"type": "null"}}
IS_LIST = {"type": "array"}

NULL = {"type": "null"}


def joined_by(schema: Mapping[str, Any]) -> str:
    """Return the keyword that joins alternatives, or that refers to one schema; empty string if there is none."""
    for keyword in ("anyOf", "oneOf", "allOf"):
        found = schema.get(keyword)
        if isinstance(found, list) and (keyword != "allOf" or len(found) == 1):
            return keyword
    return ""


def types_of(schema: Mapping[str, Any]) -> Sequence[str]:
    types, values = schema.get("type", ANY), enum_of(schema)
    if types == ANY and values:
        return list(dict.fromkeys(TYPES[type(each)] for each in values))
    return [types] if isinstance(types, str) else types


def enum_of(schema: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return the values that a schema takes, of which ``const`` has one; ``None`` if it has no list of them."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def is_coerced_list(schema: Any) -> bool:
    """Tell if a schema is the compiler's form of a list, for which an item of the list may stand."""
    return (
        isinstance(schema, dict)
        and schema.get("if") == IS_LIST
        and isinstance(schema.get("then"), dict)
        and "else" in schema
    )


def reference_of(schema: Any) -> str:
    """Return the definitions that a schema refers to, in each form that the compiler writes; empty for others."""
    match schema:
        case {"$ref": str() as reference} | {"then": {"$ref": str() as reference}}:
            return reference
        case {"anyOf": [*branches]}:
            found = [reference_of(branch) for branch in branches if branch != NULL]
            return " ".join(found) if all(found) else ""
        case _:
            return ""


def canonical(schema: Any) -> str:
    return json.dumps(schema, sort_keys=True, default=str)
