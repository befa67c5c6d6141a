"""The types in an advertised input schema, and the references between them.

The compiler writes ``stile:type``, the name of the GraphQL type, into the schema of each input object and enum,
wherever it stands. No client sees that member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from handler.json_schema.fast_path import REFERENCE
from handler.lru import Lru
from handler.strict_json import JSONObject, objects_in, to_json_bytes

TYPE = "stile:type"

SHORT_ENUM_BYTES = 200
"""Enums with shorter lists of values are not types of their own, but repeated at each use."""

MAX_READ_DEFINITIONS = 2_000


def with_type_name(schema: JSONObject, name: str) -> JSONObject:
    """Return the schema of a type with the name of the type."""
    return {**schema, TYPE: name}


def plain(schema: JSONObject) -> JSONObject:
    """Return a schema without the names of types, as clients see it."""
    return each_below(schema, plain)


class Use(NamedTuple):
    """One reference to a type: its name, the place as names of properties, and the properties of the place."""

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
    def uses(self) -> tuple[Use, ...]:
        """The references to other types, in the order of the schema."""
        return tuple(uses_in(self.schema))

    @property
    def can_be_open(self) -> bool:
        """True if clients may be shown any object or text instead."""
        return "properties" in self.schema or "enum" in self.schema

    @property
    def members(self) -> tuple[str, ...]:
        """The names of an object's fields, or an enum's values; empty for a scalar."""
        return tuple(self.schema.get("properties") or self.schema.get("enum") or ())


class SharedTypes:
    """The types of schemas that share definitions, each read once. Nothing may change a schema that it was given."""

    def __init__(self) -> None:
        self._read: Lru[tuple[str, tuple[int, ...]], _Read] = Lru(most=MAX_READ_DEFINITIONS)

    def types_in(self, schema: JSONObject) -> tuple[JSONObject, dict[str, InputType]]:
        """Return the schema of the arguments with references to types, and the types by name."""
        definitions = schema.get("$defs", {})
        short = {name: each for name, each in definitions.items() if _is_short_enum(each)}
        arguments = _Read(schema, short)
        types = dict(arguments.types)
        for name, each in definitions.items():
            if name not in short:
                key = name, (id(each), *map(id, short.values()))  # scalars of different names may share a definition
                types |= self._read.use_or_make(key, partial(_Read, each, short, name)).types
        return arguments.schema, types


class _Read:
    """A schema with references in place of types, and the types that are written out in it.

    ``short`` are definitions to repeat at each use. ``name`` is that of the schema's own type. The objects by whose
    identity it is known are kept alive.
    """

    __slots__ = ("_short", "_source", "schema", "types")

    def __init__(self, source: JSONObject, short: Mapping[str, JSONObject], name: str = "") -> None:
        self._source = source
        self._short = short
        self.types: dict[str, InputType] = {}
        self.schema = self._referring({key: value for key, value in source.items() if key not in ("$defs", TYPE)})
        if name:
            self.types[name] = InputType(name, self.schema)

    def _referring(self, schema: JSONObject) -> JSONObject:
        bare = each_below(schema, self._referring)
        name = bare.pop("$ref", "").removeprefix(REFERENCE)
        if name:
            return {**plain(self._short[name]), **bare} if name in self._short else {"$ref": name, **bare}
        if TYPE not in schema or _is_short_enum(schema):
            return bare
        of_place: JSONObject = {key: bare.pop(key) for key in ("description", "default", "examples") if key in bare}
        self.types[schema[TYPE]] = InputType(schema[TYPE], bare)
        return {"$ref": schema[TYPE], **of_place}


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


def _is_short_enum(schema: JSONObject) -> bool:
    return "enum" in schema and len(to_json_bytes(schema["enum"])) <= SHORT_ENUM_BYTES


def schemas_below(schema: JSONObject) -> list[JSONObject]:
    """Return the schemas right below a schema."""
    items = [schema["items"]] if "items" in schema else []
    return [*schema.get("properties", {}).values(), *items, *schema.get("anyOf", ())]


def each_below(schema: JSONObject, change: Callable[[JSONObject], JSONObject]) -> JSONObject:
    """Return a schema with each schema right below it changed, and without the name of a type."""
    changed: JSONObject = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            changed[key] = {name: change(below) for name, below in value.items()}
        elif key == "anyOf":
            changed[key] = [change(below) for below in value]
        elif key != TYPE:
            changed[key] = change(value) if key == "items" else value
    return changed


def references_in(schema: Any) -> Iterator[str]:
    """Yield the references in any part of a schema."""
    return (each["$ref"] for each in objects_in(schema) if isinstance(each.get("$ref"), str))


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
        below = {each.removeprefix(REFERENCE) for each in references_in(definitions[name])}
        waiting += sorted((below & definitions.keys()) - begun, reverse=True)
    return ordered


def reached(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return the names reachable from a name; the name itself if it is on a circle."""
    names: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - names
        names |= new
        waiting += new
    return names
