"""Coordinates of schema drift, completed by the published schema, and drift in the values of variables.

Stile sends only values that the published schema allows. So an API that refuses an enum value or an input field of them
has another schema. This module loads graphql-core, so it is imported only after such an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from handler.graph.documents.used_fields import Node, OperationDefinitionNode, fields_in, parse, print_ast
from handler.graph.index import SchemaIndex, named
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.server.upstream.named_coordinates import COMPLAINTS, WORD, without_suggestions

OF_VALUES = re.compile(
    rf"{COMPLAINTS.pattern}|does not contain the value|is not a valid|is not defined|no value found|not found", re.I
)
"""Phrases about values that do not fit the schema."""

QUOTED = re.compile(r"[\"'`](\w+)[\"'`]")
REQUIRED = re.compile(r"[\"'`](\w+)[\"'`] of required type\b|\brequired field [\"'`](\w+)[\"'`]")
OTHER_TYPE = re.compile(r" at [\"'`][\w.\[\]]{1,1000}\.(\w+)[\[\]\d]{0,99}[\"'`]; (\w+) cannot represent")
BUILT_IN = frozenset({"Boolean", "Float", "ID", "Int", "String"})


def in_document(coordinate: str, error: Mapping[str, Any], text: str, index: SchemaIndex) -> str:
    """Complete a coordinate whose owner the API does not name: by the error's locations, or if only one is possible."""
    name = coordinate.partition("(")[0]
    if not name or "." in name or name.startswith("@") or name in index:
        return coordinate
    found: dict[str, bool] = {}  # coordinate -> the error is about this place
    stated = error.get("locations")
    locations = [each for each in stated if isinstance(each, dict)] if isinstance(stated, list) else []
    at = [
        (each["line"], each["column"])
        for each in locations
        if type(each.get("line")) is type(each.get("column")) is int
    ]
    for parent, node in fields_in(parse(text), index):
        places: dict[str, Node] = {f"{parent}.{coordinate}": node} if node.name.value == name else {}
        if name.startswith("$"):
            uses = [each for each in node.arguments or () if re.search(rf"\{name}\b", print_ast(each))]
            places = {f"{parent}.{node.name.value}({each.name.value}:)": each for each in uses}
        for full, place in places.items():
            start, end = place.loc.start_token, place.loc.end_token  # type: ignore[union-attr] # parsed with locations
            last = (end.line, end.column) if place is not node else (start.line, start.column)
            found[full] = any((start.line, start.column) <= each <= last for each in at) or found.get(full, False)
    likely = [full for full, is_there in found.items() if is_there] or [*found]
    return likely[0] if len(likely) == 1 else coordinate


def in_values(message: str, operation: GraphQLRequest, index: SchemaIndex) -> str:
    """Return the coordinate that an API's refusal of a variable's value is about; empty string if it is not drift."""
    said = without_suggestions(message)
    rule = said.rpartition("; ")[2]  # behind graphql-js's echo of the value
    given = set(_given_in(operation, index))
    if required := REQUIRED.search(rule):
        owners = {owner for owner, name in given if not name}
        name = required[1] or required[2]
        return f"{owners.pop()}.{name}" if len(owners) == 1 else name
    if other := OTHER_TYPE.search(said):
        types = {f"{owner}.{name}": named(index[owner].inputs[name].type) for owner, name in given if name == other[1]}
        return next((each for each, type_ in types.items() if other[2] != type_ in BUILT_IN), "")
    if not OF_VALUES.search(rule):
        return ""
    words, quoted = set(WORD.findall(rule)), set(QUOTED.findall(rule))
    used = ((owner, name) for owner, name in given if name in (words if index.kind(owner) == "enum" else quoted))
    return next((f"{owner}.{name}" for owner, name in sorted(used) if owner in words), "")


def _given_in(operation: GraphQLRequest, index: SchemaIndex) -> Iterator[tuple[str, str]]:
    for node in parse(operation.text).definitions:
        for each in (node.variable_definitions or ()) if isinstance(node, OperationDefinitionNode) else ():
            value = operation.variables.get(each.variable.name.value)
            yield from _given(value, named(print_ast(each.type)), index)


def _given(value: Any, type_name: str, index: SchemaIndex) -> Iterator[tuple[str, str]]:
    """Yield the enum values and input fields in a value, each with its type, and each input type with no field."""
    kind = index.kind(type_name) if type_name in index else ""
    if isinstance(value, list):
        for each in value:
            yield from _given(each, type_name, index)
    elif kind == "enum" and isinstance(value, str):
        yield type_name, value
    elif kind == "input" and isinstance(value, dict):
        yield type_name, ""
        inputs = index[type_name].inputs
        for name in value.keys() & inputs.keys():
            yield type_name, name
            yield from _given(value[name], named(inputs[name].type), index)
