"""The types in an advertised input schema, and the references between them.

The compiler writes ``stile:type``, the name of the GraphQL type, into the schema of each input object and enum,
wherever it stands. No client sees that member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from handler.lru import Lru
from handler.strict_json import JSONObject, to_json_bytes

TYPE = "stile:type"

DEFINITIONS = "#/$defs/"

SHORT_ENUM_BYTES = 200
"""Enums with shorter lists of values are not types of their own, but repeated at each use."""

MAX_READ_DEFINITIONS = 2_000

_OF_THE_PLACE = ("description", "default", "examples")
"""Members of an inlined type's schema that belong to the property that holds it."""


def named(schema: JSONObject, name: str) -> JSONObject:
    """Return the schema of a type with the name of the type."""
    return {**schema, TYPE: name}


def plain(schema: JSONObject) -> JSONObject:
    """Return a schema without the names of types, as clients see it."""
    return each_below(schema, plain)


class Use(NamedTuple):
    """One reference to a type: its name, the place as names of properties, and what the schema says of the place."""

    type: str
    place: tuple[str, ...]
    required: bool
    described: bool


@dataclass(frozen=True)
class InputType:
    """A type. References name types, whatever becomes of these: ``{"$ref": "OrderFilter"}``."""

    name: str
    schema: JSONObject

    @cached_property
    def bare(self) -> JSONObject:
        """The schema without descriptions."""
        return without_descriptions(self.schema)

    @cached_property
    def bare_size(self) -> int:
        """The bytes of the schema without descriptions, with references by the names of types."""
        return len(to_json_bytes(self.bare))

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The references to other types, in the order of the schema."""
        return tuple(uses_in(self.schema))

    @property
    def can_be_open(self) -> bool:
        """True if clients may be told of any object or text instead."""
        return "properties" in self.schema or "enum" in self.schema

    @property
    def members(self) -> tuple[str, ...]:
        """The names of an object's fields, or an enum's values; empty for a scalar."""
        return tuple(self.schema.get("properties") or self.schema.get("enum") or ())


def types_in(schema: JSONObject) -> tuple[JSONObject, dict[str, InputType]]:
    """Return the schema of the arguments with references to types, and the types by name."""
    return SharedTypes().types_in(schema)


class SharedTypes:
    """The types of schemas that share definitions, each read once. Nothing may change a schema that it was given."""

    def __init__(self) -> None:
        self._read: Lru[tuple[str, tuple[int, ...]], _Read] = Lru(most=MAX_READ_DEFINITIONS)

    def types_in(self, schema: JSONObject) -> tuple[JSONObject, dict[str, InputType]]:
        """Return what the function ``types_in`` does."""
        definitions = schema.get("$defs", {})
        short = {name: each for name, each in definitions.items() if _is_short_enum(each)}
        found = _Found(short)
        arguments = found.referring({key: value for key, value in schema.items() if key != "$defs"})
        types = found.as_types()
        for name, each in definitions.items():
            if name not in short:
                key = name, (id(each), *map(id, short.values()))  # scalars of different names may share a definition
                types |= self._read.use_or_make(key, partial(_Read, name, each, short)).types
        return arguments, types


class _Read:
    """The types in a definition: its own, and those that are written out in it.

    The objects by whose identity it is known are kept alive.
    """

    __slots__ = ("_of", "types")

    def __init__(self, name: str, definition: JSONObject, short: Mapping[str, JSONObject]) -> None:
        self._of = definition, short
        found = _Found(short)
        found.types[name] = found.referring({key: value for key, value in definition.items() if key != TYPE})
        self.types = found.as_types()


def uses_in(
    schema: JSONObject, place: tuple[str, ...] = (), *, required: bool = False, described: bool = False
) -> Iterator[Use]:
    """Yield the references in a schema, in its order."""
    if "$ref" in schema:
        yield Use(schema["$ref"], place, required, described)
    needed = schema.get("required", ())
    for name, each in schema.get("properties", {}).items():
        yield from uses_in(each, (*place, name), required=name in needed, described="description" in each)
    for below in (*([schema["items"]] if "items" in schema else ()), *schema.get("anyOf", ())):
        yield from uses_in(below, place, required=required, described=described)


def without_descriptions(schema: JSONObject) -> JSONObject:
    """Return a schema without its descriptions and those of its properties."""
    return {key: each for key, each in each_below(schema, without_descriptions).items() if key != "description"}


class _Found:
    """The types found so far. ``short`` are definitions to repeat at each use."""

    def __init__(self, short: Mapping[str, JSONObject]) -> None:
        self.short = short
        self.types: dict[str, JSONObject] = {}

    def as_types(self) -> dict[str, InputType]:
        """Return the types by name."""
        return {name: InputType(name, each) for name, each in self.types.items()}

    def referring(self, schema: JSONObject) -> JSONObject:
        """Return a schema with references in place of types."""
        found = each_below(schema, self.referring)
        name = found.pop("$ref", "").removeprefix(DEFINITIONS)
        if name:
            return {**plain(self.short[name]), **found} if name in self.short else {"$ref": name, **found}
        if TYPE not in schema or _is_short_enum(schema):
            return found
        of_place = {key: found.pop(key) for key in _OF_THE_PLACE if key in found}
        self.types[schema[TYPE]] = found
        return {"$ref": schema[TYPE], **of_place}


def _is_short_enum(schema: JSONObject) -> bool:
    return "enum" in schema and len(to_json_bytes(schema["enum"])) <= SHORT_ENUM_BYTES


def schemas_below(schema: JSONObject) -> Iterator[JSONObject]:
    """Yield each schema below a schema."""
    for below in (
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else ()),
        *schema.get("anyOf", ()),
    ):
        yield below
        yield from schemas_below(below)


def each_below(schema: JSONObject, change: Callable[[JSONObject], JSONObject]) -> JSONObject:
    """Return a schema with each schema right below it changed, and without the name of a type."""
    found: JSONObject = {}
    for key, value in schema.items():
        match key:
            case "properties" | "$defs":
                found[key] = {name: change(below) for name, below in value.items()}
            case "items":
                found[key] = change(value)
            case "anyOf":
                found[key] = [change(below) for below in value]
            case _ if key != TYPE:
                found[key] = value
    return found


def references_in(schema: Any) -> Iterator[str]:
    """Yield the references in any part of a schema."""
    match schema:
        case {"$ref": str(key)}:
            yield key
        case dict():
            for value in schema.values():
                yield from references_in(value)
        case list():
            for value in schema:
                yield from references_in(value)


def leaves_first(definitions: Mapping[str, JSONObject]) -> dict[str, JSONObject]:
    """Order ``$defs`` by name, and each after those that it refers to, unless they form a circle.

    Some clients make types in this order, and lose all tools at a reference to a type that follows.
    """
    ordered: dict[str, JSONObject] = {}
    begun: set[str] = set()
    waiting = sorted(definitions, reverse=True)
    while waiting:
        name = waiting[-1]
        if name in begun:
            ordered.setdefault(waiting.pop(), definitions[name])
            continue
        begun.add(name)
        below = {each.removeprefix(DEFINITIONS) for each in references_in(definitions[name])}
        waiting += sorted((below & definitions.keys()) - begun, reverse=True)
    return ordered


def users_of(types: Mapping[str, InputType]) -> dict[str, set[str]]:
    """Return type -> the types that refer to it."""
    found: dict[str, set[str]] = {name: set() for name in types}
    for name, each in types.items():
        for use in each.uses:
            found[use.type].add(name)
    return found


def reached(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return the names reachable from a name; the name itself if it is on a circle."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found
