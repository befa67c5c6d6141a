"""JSON Schemas in which what repeats stands once, in ``$defs``, where that makes the whole smaller.

It also keeps the work linear: operations that spread a fragment in many places, which spreads others in turn, would
otherwise be written out once for every way to get there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from handler.bundle.model import JSONObject

WORTHWHILE_BYTES = 64
"""A reference that saves less costs its reader more, who has to look elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    name: str  # what to call it in ``$defs``, if nothing else is called that
    schema: JSONObject  # other parts in it stand as references to their keys


class SharedParts:
    """Collects the parts of one schema, which may be used in many places, inner ones first."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._parts: dict[str, _Part] = {}

    def add(self, name: str, schema: JSONObject) -> JSONObject:
        """A reference to ``schema``. Equal parts are the same part; the first one's ``name`` stays."""
        key = self._keys.setdefault(json.dumps(schema), str(len(self._keys)))
        self._parts.setdefault(key, _Part(name=name, schema=schema))
        return {"$ref": key}

    def write(self, schema: JSONObject) -> JSONObject:
        """``schema`` without the references that ``add`` gave: with the parts themselves, or with ``$defs``."""
        schemas = [part.schema for part in self._parts.values()]
        uses = Counter(key for each in [schema, *schemas] for key in _references(each))
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


def _references(schema: Any) -> Iterator[str]:
    match schema:
        case {"$ref": str(key)}:
            yield key
        case dict():
            for value in schema.values():
                yield from _references(value)
        case list():
            for value in schema:
                yield from _references(value)


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
    """A choice within a choice is one choice."""
    match schema:
        case {"anyOf": [*branches]}:
            return branches
        case _:
            return [schema]
