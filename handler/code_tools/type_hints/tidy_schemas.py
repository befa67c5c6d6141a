"""The form in which pydantic's JSON Schemas are listed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handler.code_tools.functions.signature import Parameter
from handler.strict_json import JSONObject


def arguments_schema(schema: JSONObject, parameters: Mapping[str, Parameter]) -> JSONObject:
    """Return the tidied schema of a function's arguments, described as its docstring describes the parameters."""
    for name, parameter in parameters.items():
        if parameter.description and name in schema["properties"]:
            schema["properties"][name].setdefault("description", parameter.description)
    return tidy_schema({"properties": {}, **schema})


def tidy_schema(schema: JSONObject) -> JSONObject:
    """Remove titles that are class names, inline enums, and replace a ``$ref`` at the root by its definition."""
    definitions = {name: _untitled(each, name) for name, each in schema.pop("$defs", {}).items()}
    schema = _untitled(schema, "")
    enums = {f"#/$defs/{name}": each for name, each in definitions.items() if "enum" in each or "const" in each}
    root = schema.pop("$ref", "")
    if root:  # a recursive type
        schema = {**definitions[root.removeprefix("#/$defs/")], **schema}
    kept = {name: _in_place(each, enums) for name, each in definitions.items() if f"#/$defs/{name}" not in enums}
    tidied: JSONObject = _in_place(schema, enums)
    return {**tidied, "$defs": kept} if kept else tidied


def _untitled(definition: JSONObject, name: str) -> JSONObject:
    title = re.sub(r"\W", "_", str(definition.get("title", "")))
    is_class_name = not name or name == title or name.endswith(f"__{title}")
    return {key: value for key, value in definition.items() if not (key == "title" and is_class_name)}


def _in_place(schema: Any, enums: Mapping[str, JSONObject]) -> Any:
    match schema:
        case {"$ref": str(reference)} if reference in enums:
            return {**enums[reference], **{key: value for key, value in schema.items() if key != "$ref"}}
        case dict():
            return {key: _in_place(value, enums) for key, value in schema.items()}
        case list():
            return [_in_place(each, enums) for each in schema]
    return schema
