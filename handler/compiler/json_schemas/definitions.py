"""Definitions in JSON Schemas: repeated parts go into ```` if this makes the schema smaller, equal ones are one object.

Sharing also keeps the work linear: a fragment that is reached by many chains of fragment spreads would otherwise be
written out once for each chain.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from handler.json_schema.input_types import references_in
from handler.strict_json import JSONObject

WORTHWHILE_BYTES = 64
"""A definition must save more than this: for less, the look-up of the reference costs the reader more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    name: str  # in ``$defs``, if not taken; else with a number
    schema: JSONObject  # with references to the keys of other parts


class SharedParts:
    """Collector of the reusable parts of one schema, inner parts first."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._parts: dict[str, _Part] = {}

    def add(self, name: str, schema: JSONObject) -> JSONObject:
        """Return a reference to ``schema``. Equal schemas become one part, which keeps the first ``name``."""
        key = self._keys.setdefault(json.dumps(schema), str(len(self._keys)))
        self._parts.setdefault(key, _Part(name=name, schema=schema))
        return {"$ref": key}

    def write(self, schema: JSONObject) -> JSONObject:
        """Resolve the references that ``add`` returned: inline the parts, or refer to them in ``$defs``."""
        schemas = [part.schema for part in self._parts.values()]
        uses = Counter(key for each in [schema, *schemas] for key in references_in(each))
        written: dict[str, Any] = {}
        definitions: JSONObject = {}
        for key, part in self._parts.items():
            whole = _replaced(part.schema, written)
            name = _free(part.name, definitions)
            written[key] = {"$ref": f"#/$defs/{name}"}
            if _saves(whole, name, written[key], uses=uses[key]):
                definitions[name] = whole
            else:
                written[key] = whole
        result: JSONObject = _replaced(schema, written)
        return {**result, "$defs": definitions} if definitions else result


def _saves(schema: JSONObject, name: str, reference: JSONObject, *, uses: int) -> bool:
    size = _size(schema)
    return uses * size - uses * _size(reference) - _size({name: schema}) > WORTHWHILE_BYTES


def _size(schema: JSONObject) -> int:
    return len(json.dumps(schema, separators=(",", ":")))


def _free(name: str, taken: JSONObject) -> str:
    number = 2
    wanted = name
    while name in taken:
        name = f"{wanted}{number}"
        number += 1
    return name


def _replaced(schema: Any, written: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(key)}:
            return written[key]
        case {"anyOf": [*branches]}:
            return {"anyOf": [inner for branch in branches for inner in _branches(_replaced(branch, written))]}
        case dict():
            return {key: _replaced(value, written) for key, value in schema.items()}
        case list():
            return [_replaced(value, written) for value in schema]
        case _:
            return schema


def _branches(schema: JSONObject) -> list[JSONObject]:
    """Flatten a nested ``anyOf``."""
    match schema:
        case {"anyOf": [*branches]}:
            return branches
        case _:
            return [schema]


class SharedDefinitions:
    """Keeps one object of all equal definitions: memory and the work of later steps do not grow with tools times types.

    Nothing may change a schema that it has returned.
    """

    def __init__(self) -> None:
        self._definitions: dict[str, Any] = {}  # by their JSON
        self._groups: dict[tuple[tuple[str, int], ...], JSONObject] = {}  # by names and identities of definitions

    def shared(self, schema: JSONObject) -> JSONObject:
        """Return an equal schema whose ``$defs`` are the objects that equal schemas have."""
        if "$defs" not in schema:
            return schema
        found = {name: self._definitions.setdefault(json.dumps(each), each) for name, each in schema["$defs"].items()}
        key = tuple((name, id(each)) for name, each in found.items())
        return {**schema, "$defs": self._groups.setdefault(key, found)}
