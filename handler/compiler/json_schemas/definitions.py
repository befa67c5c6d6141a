"""Definitions in JSON Schemas: repeated parts go into ``$defs`` if this saves bytes, and equal ones are one object.

Sharing also keeps the work linear: a fragment that is reached by many chains of fragment spreads would otherwise be
written out once for each chain.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain, count
from typing import Any

from handler.json_schema.input_types import references_in
from handler.strict_json import JSONObject

WORTHWHILE_BYTES = 64
"""A definition must save more than this: for less, the look-up of the reference costs the reader more."""


class SharedParts:
    """Collector of the reusable parts of one schema, inner parts first."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}  # by the JSON of a part
        self._parts: dict[str, tuple[str, JSONObject]] = {}  # name for ``$defs``, and schema with keys of other parts

    def add(self, name: str, schema: JSONObject) -> JSONObject:
        """Return a reference to ``schema``. Equal schemas become one part, which keeps the first ``name``."""
        key = self._keys.setdefault(json.dumps(schema), str(len(self._keys)))
        self._parts.setdefault(key, (name, schema))
        return {"$ref": key}

    def write(self, schema: JSONObject) -> JSONObject:
        """Resolve the references that ``add`` returned: inline the parts, or refer to them in ``$defs``."""
        schemas = [schema, *(part for _, part in self._parts.values())]
        uses = Counter(key for each in schemas for key in references_in(each))
        replacements: dict[str, Any] = {}
        definitions: JSONObject = {}
        for key, (name, part) in self._parts.items():
            whole = _replaced(part, replacements)
            names = chain([name], (f"{name}{number}" for number in count(2)))
            free = next(each for each in names if each not in definitions)
            reference, size = {"$ref": f"#/$defs/{free}"}, _size(whole)
            is_shared = uses[key] * (size - _size(reference)) - _size({free: whole}) > WORTHWHILE_BYTES
            definitions |= {free: whole} if is_shared else {}
            replacements[key] = reference if is_shared else whole
        result: JSONObject = _replaced(schema, replacements)
        return {**result, "$defs": definitions} if definitions else result


def _size(schema: JSONObject) -> int:
    return len(json.dumps(schema, separators=(",", ":")))


def _replaced(schema: Any, replacements: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(key)}:
            return replacements[key]
        case {"anyOf": [*branches]}:
            inner = [_replaced(branch, replacements) for branch in branches]
            return {"anyOf": [part for each in inner for part in each.get("anyOf", [each])]}  # without nesting
        case dict():
            return {key: _replaced(value, replacements) for key, value in schema.items()}
        case list():
            return [_replaced(value, replacements) for value in schema]
        case _:
            return schema


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
        group = {name: self._definitions.setdefault(json.dumps(each), each) for name, each in schema["$defs"].items()}
        key = tuple((name, id(each)) for name, each in group.items())
        return {**schema, "$defs": self._groups.setdefault(key, group)}
