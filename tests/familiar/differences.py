"""What list entries of other packages have otherwise, each a rule that makes of theirs what ours would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

JSONObject = dict[str, Any]
Rule = Callable[[JSONObject], JSONObject]


def without_titles(entry: JSONObject) -> JSONObject:
    """Schemas have the names of parameters and classes as titles."""
    return {key: _untitled(value) if key.endswith("Schema") else value for key, value in entry.items()}


def without_invented_title(entry: JSONObject) -> JSONObject:
    """A tool without a title gets its name, written as one."""
    return {key: value for key, value in entry.items() if key != "title"}


def without_meta_of_its_own(entry: JSONObject) -> JSONObject:
    """``_meta`` speaks of the package."""
    return {key: value for key, value in entry.items() if key != "_meta"}


def with_open_arguments(entry: JSONObject) -> JSONObject:
    """Arguments that are not declared are refused; with us ``extra="forbid"`` does that."""
    schema = {key: value for key, value in entry["inputSchema"].items() if key != "additionalProperties"}
    return {**entry, "inputSchema": schema}


def without_wrapped_texts(entry: JSONObject) -> JSONObject:
    """A text, or nothing, is wrapped in ``result``; with us ``structured_output=True`` does that."""
    wrapped = entry.get("outputSchema", {}).get("properties", {}).get("result", {}).get("type")
    return _without_output(entry) if wrapped in ("string", "null") else entry


def without_open_output(entry: JSONObject) -> JSONObject:
    """``-> dict`` lists an output schema that says nothing."""
    says_nothing = entry.get("outputSchema") == {"type": "object", "additionalProperties": True}
    return _without_output(entry) if says_nothing else entry


def without_mark_of_wrapping(entry: JSONObject) -> JSONObject:
    """The output schema of a wrapped value is marked as such."""
    if "outputSchema" not in entry:
        return entry
    schema = {key: value for key, value in entry["outputSchema"].items() if key != "x-fastmcp-wrap-result"}
    return {**entry, "outputSchema": schema}


def with_enums_in_place(entry: JSONObject) -> JSONObject:
    """An enum is a definition; with us it stands in place."""
    return _with_definitions_in_place(entry, lambda definition: "enum" in definition)


def with_definitions_in_place(entry: JSONObject) -> JSONObject:
    """Classes stand in place; with us they are definitions. This one is for our entry."""
    return _with_definitions_in_place(entry, lambda definition: True)


def with_any_json_without_a_hint(entry: JSONObject) -> JSONObject:
    """A parameter without a hint is a text; with us it may be any JSON."""
    if entry["name"] != "anything":
        return entry
    properties = entry["inputSchema"]["properties"]
    changed = {**properties, "other": {key: each for key, each in properties["other"].items() if key != "type"}}
    return {**entry, "inputSchema": {**entry["inputSchema"], "properties": changed}}


THEIRS: Mapping[str, tuple[Rule, ...]] = {
    "official-sdk": (without_titles, without_wrapped_texts, with_enums_in_place, with_any_json_without_a_hint),
    "fastmcp": (
        *(without_invented_title, without_meta_of_its_own, with_open_arguments),
        *(without_wrapped_texts, without_open_output, without_mark_of_wrapping),
    ),
}
"""By package, in the order in which they are applied."""

OURS: Mapping[str, tuple[Rule, ...]] = {"official-sdk": (), "fastmcp": (with_definitions_in_place,)}
"""What of ours is made theirs instead."""


def _without_output(entry: JSONObject) -> JSONObject:
    return {key: value for key, value in entry.items() if key != "outputSchema"}


def _untitled(schema: Any) -> Any:
    """Without titles; a property of that name is a schema and no text."""
    match schema:
        case dict():
            return {
                key: _untitled(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)
            }
        case list():
            return [_untitled(each) for each in schema]
    return schema


def _with_definitions_in_place(entry: JSONObject, chosen: Callable[[JSONObject], bool]) -> JSONObject:
    made = dict(entry)
    for key in ("inputSchema", "outputSchema"):
        if key in entry:
            definitions = entry[key].get("$defs", {})
            kept = {name: each for name, each in definitions.items() if not chosen(each)}
            schema = {name: each for name, each in entry[key].items() if name != "$defs"}
            made[key] = _in_place({**schema, **({"$defs": kept} if kept else {})}, definitions, chosen)
    return made


def _in_place(schema: Any, definitions: JSONObject, chosen: Callable[[JSONObject], bool]) -> Any:
    match schema:
        case {"$ref": str(reference), **rest} if chosen(definition := definitions[reference.removeprefix("#/$defs/")]):
            return {**_in_place(definition, definitions, chosen), **rest}
        case dict():
            return {key: _in_place(value, definitions, chosen) for key, value in schema.items()}
        case list():
            return [_in_place(each, definitions, chosen) for each in schema]
    return schema
