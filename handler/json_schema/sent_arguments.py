"""Arguments in the forms that clients send: ``null`` for an omitted name, JSON text for a list, an object or a number.

Strict conversions of tool schemas make every name required and use ``null`` for an omitted one. Neither JSON Schema nor
GraphQL has these forms, so only a value that its schema refuses is read in another way, and validated again.

Source: JSON Schema 2020-12; OpenAI, "Structured Outputs" ("All fields must be required").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from handler.json_schema.fast_path import REFERENCE, TYPES
from handler.strict_json import JSONObject, parse_json
from handler.text.sentences import pointer_of

ANY_TYPE = frozenset().union(*TYPES.values())

MAX_STEPS = 8
"""Depth of schemas that refer to each other for one value."""

BEGINNINGS: Mapping[str, str] = {"{": "object", "[": "array"}
STRUCTURES = frozenset(BEGINNINGS.values())

JSON_TYPES: Mapping[type, Sequence[str]] = {**TYPES, float: TYPES[int], str: ()}
"""Type of the JSON in a text -> its names in schemas. A text in a text stays, and 2.0 may be an integer."""


def has_null(value: Any) -> bool:
    """Return whether a value, whose nesting is bounded, contains a ``null`` at any depth."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(has_null, parts))


def without_refused_nulls(value: Any, schema: JSONObject) -> Any:
    """Return the value without ``null`` members whose schema neither accepts ``null`` nor requires the name.

    No alternative of a schema is chosen: a ``null`` stays if any of them accepts it.
    """
    return _Sent(schema, keeps_nulls=False).repaired(value, [schema])


def unstringified(value: Any, schema: JSONObject, *, kinds: frozenset[str] = ANY_TYPE) -> tuple[Any, list[str]]:
    """Return the value with JSON texts read where their schema takes no text, and violations of unreadable ones.

    Where GraphQL takes one item for a list, a text is read if it is the JSON of a list. No text inside a text is read.
    ``kinds``: the types of JSON to read.
    """
    values = _Sent(schema, kinds=kinds)
    return values.repaired(value, [schema]), values.unreadable


def read_text(text: str, types: Set[str]) -> Any:
    """Return the JSON in a text if its type is one of ``types``, or else the text.

    Raises:
        ValueError: a text that begins like a list or an object that is one of these types, and is not valid JSON.
    """
    if not types:
        return text
    try:
        value = parse_json(text.encode())
    except ValueError as exc:
        begins = BEGINNINGS.get(text.lstrip()[:1])
        if begins in types:
            raise ValueError(f"expected {begins}, got a text that is not valid JSON: {exc}") from exc
        return text
    return value if any(each in types for each in JSON_TYPES.get(type(value), ())) else text


def types_of(schema: Any, root: JSONObject, *, steps: int = MAX_STEPS) -> frozenset[str]:
    """Return the types that a schema may accept; all types if it does not say."""
    match schema:
        case {"type": str(name)}:
            return frozenset({name})
        case {"type": list(names)}:
            return frozenset(names)
        case {"anyOf": list(branches)} | {"oneOf": list(branches)} if steps:
            return frozenset().union(*(types_of(each, root, steps=steps - 1) for each in branches))
        case {"$ref": str(reference)} if steps:
            return types_of(_definition(reference, root), root, steps=steps - 1)
        # The compiler's two forms: one item may stand for a list of it, and null for a referenced definition.
        case {"if": {"type": "array"}, "else": single} if steps:
            return types_of(single, root, steps=steps - 1) | {"array"}
        case {"if": {"not": {"type": "null"}}, "then": other} if steps:
            return types_of(other, root, steps=steps - 1) | {"null"}
    return ANY_TYPE


def _definition(reference: str, root: JSONObject) -> Any:
    name = reference.removeprefix(REFERENCE)
    return root.get("$defs", {}).get(name) if name != reference else None


class _Sent:
    """Values as clients send them, of one root schema.

    Alternatives are found once for each list of schemas, because many values have the same. ``kinds``: the types of
    JSON that are read from texts.
    """

    def __init__(self, root: JSONObject, *, kinds: frozenset[str] = frozenset(), keeps_nulls: bool = True) -> None:
        self.unreadable: list[str] = []
        self._root = root
        self._kinds = kinds
        self._keeps_nulls = keeps_nulls
        self._cache: dict[tuple[int, ...], _Alternatives] = {}  # by the identities of schemas

    def repaired(self, value: Any, schemas: Sequence[Any], place: tuple[str | int, ...] = ()) -> Any:
        """Return a value that may have any of ``schemas``, with texts read, or without a ``null`` that none wants."""
        match value:
            case dict():
                alternatives = self._alternatives(schemas)
                return {
                    name: self.repaired(each, alternatives.members(name), (*place, name))
                    for name, each in value.items()
                    if each is not None or self._keeps_nulls or alternatives.wants_null(name)
                }
            case list():
                items = self._alternatives(schemas).items
                return [self.repaired(each, items, (*place, number)) for number, each in enumerate(value)]
            case str() if self._kinds and (types := self._alternatives(schemas).instead_of_text & self._kinds):
                try:
                    return read_text(value, types)
                except ValueError as exc:
                    self.unreadable.append(f"{pointer_of(place)}: {exc}")
        return value

    def _alternatives(self, schemas: Sequence[Any]) -> _Alternatives:
        key = tuple(map(id, schemas))
        if key not in self._cache:
            self._cache[key] = _Alternatives(schemas, self._root)
        return self._cache[key]


class _Alternatives:
    """The schemas that a value may have, and all schemas that these may apply to the same value."""

    def __init__(self, schemas: Sequence[Any], root: JSONObject) -> None:
        self._root = root
        self._schemas = schemas
        self._all: dict[int, JSONObject] = {}  # by identity
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, dict) and id(schema) not in self._all:
                self._all[id(schema)] = schema
                waiting += [_definition(schema["$ref"], root)] if "$ref" in schema else []
                waiting += [each for keyword in ("anyOf", "oneOf", "allOf") for each in schema.get(keyword, ())]
                waiting += [schema.get("then"), schema.get("else")]
        self._members: dict[str, Sequence[Any]] = {}
        self._wants: dict[str, bool] = {}
        self.items = _each_once(each["items"] for each in self._all.values() if "items" in each)

    @cached_property
    def instead_of_text(self) -> frozenset[str]:
        """The types that the JSON in a text may have."""
        types = frozenset[str]().union(*(types_of(each, self._root) for each in self._schemas))
        if "string" not in types:
            return types
        takes_lists = any(each.get("if") == {"type": "array"} for each in self._all.values())
        return frozenset({"array"} if takes_lists else ())

    def members(self, name: str) -> Sequence[Any]:
        """Return the schemas that the member of a name may have."""
        if name not in self._members:
            self._members[name] = _each_once(
                each.get("properties", {}).get(name, each.get("additionalProperties")) for each in self._all.values()
            )
        return self._members[name]

    def wants_null(self, name: str) -> bool:
        """Return whether a ``null`` of this name is to stay."""
        if name not in self._wants:
            declaring = [each for each in self._all.values() if name in each.get("properties", {})]
            # A null of a name that nothing declares stays, too.
            is_required = all(name in each.get("required", ()) for each in declaring)
            nullable = (_takes_null(each["properties"][name], self._root) for each in declaring)
            self._wants[name] = is_required or any(nullable)
        return self._wants[name]


def _each_once(schemas: Iterable[Any]) -> list[Any]:
    return list({id(each): each for each in schemas if each is not None}.values())


def _takes_null(schema: Any, root: JSONObject, steps: int = MAX_STEPS) -> bool:
    """Return whether a schema accepts ``null``. An unknown keyword accepts anything."""
    if not isinstance(schema, dict) or not steps:
        return schema is not False

    def takes(part: Any) -> bool:
        return _takes_null(part, root, steps - 1)

    is_then = "if" not in schema or takes(schema["if"])
    return (
        "null" in ([types] if isinstance(types := schema.get("type", "null"), str) else types)
        and None in schema.get("enum", (None,))
        and schema.get("const") is None
        and takes(_definition(schema["$ref"], root) if "$ref" in schema else True)
        and all(map(takes, schema.get("allOf", ())))
        and all(any(map(takes, schema[keyword])) for keyword in ("anyOf", "oneOf") if keyword in schema)
        and not ("not" in schema and takes(schema["not"]))
        and takes(schema.get("then" if is_then else "else"))
    )
