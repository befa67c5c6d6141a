"""Output schemas of GraphQL tools, in the form that ``answer_check.py`` uses.

``compiler/json_schemas/output_schema.py`` writes schemas with little of JSON Schema: a value is a leaf of some types, a
list of such values, or an object of one of some forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

ANY: frozenset[type] = frozenset({str, bool, int, float, dict, list, NoneType})
"""The types that a schema without rules accepts."""

LEAVES: Mapping[str, Iterable[type]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (NoneType,),
}

ANYTHING: Mapping[str, Any] = {}

REFERENCE = "#/$defs/"


def read_shape(schema: Mapping[str, Any]) -> Shape:
    """Return the shape of an output schema."""
    return _Reader(schema.get("$defs", {})).read(schema)


class Shape:
    """The values that fit a schema."""

    __slots__ = ("items", "names", "objects", "types")

    def __init__(self) -> None:
        self.types: frozenset[type] = frozenset()  # types of which every value fits
        self.names: Sequence[str] = ()  # the texts that fit, if not all do
        self.items: Shape | None = None  # shape of a list's items; None: a list does not fit
        self.objects: list[Form] = []

    @property
    def is_composite(self) -> bool:
        """True if a value that fits may have parts to check."""
        return bool(self.objects) or self.items is not None

    @property
    def expected(self) -> str:
        """The kinds of values that fit, in words."""
        if self.types >= ANY:
            return "a value"
        kinds = [name for name, types in LEAVES.items() if self.types.issuperset(types)]
        leaves = [name for name in kinds if name != "integer" or "number" not in kinds]
        composite = [kind for kind, there in (("object", self.objects), ("array", self.items)) if there]
        return " or ".join([*composite, *self.names, *leaves])


Members = Sequence[tuple[str, Shape]]


class Form:
    """One form of an object. Leaves are separate, because they distinguish forms without a look at deeper levels."""

    __slots__ = ("closed", "composites", "leaves", "names", "required")

    def __init__(self, properties: Mapping[str, Shape], required: frozenset[str], *, closed: bool) -> None:
        self.leaves: Members = [each for each in properties.items() if not each[1].is_composite]
        self.composites: Members = [each for each in properties.items() if each[1].is_composite]
        self.names = frozenset(properties)
        self.required = required
        self.closed = closed


class _Reader:
    """Makes shapes of schemas, once for each part: expanded at each reference, parts may be exponentially many."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._shapes: dict[int, Shape] = {}  # by the schema's identity
        self._forms: dict[int, Form] = {}  # by the schema's identity
        self._types: dict[frozenset[type], frozenset[type]] = {}

    def read(self, schema: Mapping[str, Any]) -> Shape:
        """Return the shape of a schema."""
        if id(schema) not in self._shapes:
            self._shapes[id(schema)] = self._shape(schema)
        return self._shapes[id(schema)]

    def _shape(self, schema: Mapping[str, Any]) -> Shape:
        shape, types = Shape(), set[type]()
        for branch in self._branches(schema):
            match branch:
                case {"type": "object"}:
                    shape.objects.append(self._form(branch))
                case {"type": "array"}:
                    shape.items = self.read(branch.get("items", ANYTHING))
                case {"type": "string", "enum": names}:
                    shape.names = names
                case {"type": leaf}:
                    types.update(LEAVES[leaf])
                case _:
                    types.update(ANY)
        found = frozenset(types)
        shape.types = self._types.setdefault(found, found)
        return shape

    def _branches(self, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        match schema:
            case {"anyOf": branches}:
                for branch in branches:
                    yield from self._branches(branch)
            case {"$ref": reference}:
                yield from self._branches(self._definitions[reference.removeprefix(REFERENCE)])
            case _:
                yield schema

    def _form(self, schema: Mapping[str, Any]) -> Form:
        if id(schema) not in self._forms:
            properties = {name: self.read(below) for name, below in schema.get("properties", {}).items()}
            closed = schema.get("additionalProperties") is False
            self._forms[id(schema)] = Form(properties, frozenset(schema.get("required", ())), closed=closed)
        return self._forms[id(schema)]
