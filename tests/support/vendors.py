"""What clients and vendors of models refuse in the input schema of a tool, gathered from their documents and issues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator

KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
COMBINED = ("anyOf", "oneOf", "allOf")
UNKNOWN_KEYWORDS = ("const", "oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "prefixItems")


def refusals(schema: Mapping[str, Any]) -> list[str]:
    """Every reason to refuse a schema that the compiler made."""
    return [*_at_the_root(schema), *_below(schema, "", schema)]


def untyped(schema: Mapping[str, Any]) -> list[str]:
    """The reasons among them that hold for schemas of authors, too."""
    return [each for each in refusals(schema) if each.endswith("without a type")]


def _at_the_root(schema: Mapping[str, Any]) -> Iterator[str]:
    Draft202012Validator.check_schema(schema)
    Draft7Validator.check_schema(schema)
    if schema.get("type") != "object" or any(keyword in schema for keyword in (*COMBINED, "enum", "not")):
        yield "the root is more than an object"
    for name, each in schema.get("$defs", {}).items():
        yield from _below(each, f"$defs/{name}", schema)


def _below(schema: Any, at: str, root: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{at}: without a type"
        return
    yield from _itself(schema, at, root)
    for name, each in schema.get("properties", {}).items():
        if not KEY.fullmatch(name):
            yield f"{at}: the key {name}"
        yield from _below(each, f"{at}/{name}", root)
    if schema.get("type") == "array":
        yield from _below(schema.get("items"), f"{at}/items", root)
    for keyword in COMBINED:
        for place, each in enumerate(schema.get(keyword, ())):
            yield from _below(each, f"{at}/{keyword}{place}", root)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _below(schema["additionalProperties"], f"{at}/additionalProperties", root)


def _itself(schema: Mapping[str, Any], at: str, root: Mapping[str, Any]) -> Iterator[str]:
    if not any(keyword in schema for keyword in ("type", "$ref", *COMBINED)):
        yield f"{at}: without a type"
    if isinstance(schema.get("type"), list):
        yield f"{at}: several types in a list"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if name not in root.get("$defs", {}):
            yield f"{at}: a reference to nothing"
        if schema.keys() - {"$ref", "description", "default"}:
            yield f"{at}: a reference beside other rules"
    if schema.get("type") == "object" and not schema.get("properties") and at:
        is_said = "additionalProperties" in schema or "properties" in schema
        if not is_said:
            yield f"{at}: an object that some take for an empty one"
    yield from (f"{at}: {keyword}" for keyword in UNKNOWN_KEYWORDS if keyword in schema)
