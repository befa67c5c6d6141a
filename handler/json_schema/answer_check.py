"""Check of an API's answer against the output schema of its tool, bounded, and without values in the messages.

jsonschema would take longer to load than the call takes. It also gathers all errors of a choice before it yields the
first, and cannot be interrupted. ``compiler/json_schemas/output_schema.py`` writes schemas with little of JSON Schema:
a value is a leaf of some types, a list of such values, or an object of one of some forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

from handler.cold.records import record

MAX_STEPS = 2_000_000
"""Members and items examined in one answer, counted at each examination. An answer that needs more is a misfit."""

KINDS: Mapping[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    dict: "an object",
    list: "an array",
    NoneType: "null",
}


@record(frozen=True, slots=True, kw_only=True)
class Misfit:
    """The place and rule of an answer's difference from its schema, without values of the answer."""

    path: tuple[str | int, ...] = ()  # keys that the operation selects, and places in lists
    rule: str
    foreign: bool = False  # True: the object was hardly meant for the form that it was compared with

    def below(self, part: str | int) -> Misfit:
        """Return the misfit as one of the value that has the misfit at this key or place."""
        return Misfit(path=(part, *self.path), rule=self.rule, foreign=self.foreign)

    def __str__(self) -> str:
        return f"{self._place('[{}]')}: {self.rule}"

    @property
    def coordinate(self) -> str:
        """The path without places in lists: the same for each item that differs."""
        return self._place("[]")

    def _place(self, item: str) -> str:
        parts = (item.format(part) if isinstance(part, int) else f".{part}" for part in self.path)
        return "".join(parts).removeprefix(".") or "the answer"


class AnswerChecker:
    """The output schema of one tool, prepared for checking answers."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._shape = _Reader(schema.get("$defs", {})).read(schema)

    def misfit(self, answer: Any, *, max_steps: int = MAX_STEPS) -> Misfit | None:
        """Find a place where a JSON value differs from the schema; ``None`` if the value fits."""
        try:
            return _Judge(max_steps).value(answer, self._shape)
        except _TooMuch:
            return Misfit(rule=f"more than {max_steps:,} values to hold against the schema")


class _TooMuch(Exception):
    """An answer that needs more steps than allowed."""


_ABSENT: Any = object()
"""An absent member, whose type is that of no JSON."""


class _Judge:
    """The check of one answer."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def value(self, value: Any, shape: Shape) -> Misfit | None:
        """Find a place where a value differs from its shape; ``None`` if the value fits."""
        kind = type(value)
        if kind in shape.types or (kind is str and value in shape.names):
            return None
        if kind is dict and shape.objects:
            return self._object(value, shape.objects)
        if kind is list and shape.items:
            return self._list(value, shape.items)
        if kind is float and int in shape.types and value.is_integer():  # JSON has one kind of numbers
            return None
        is_name = kind is str and bool(shape.names)
        got = "another name" if is_name else KINDS[kind]
        return Misfit(rule=f"expected {shape.expected}, the API sent {got}", foreign=is_name)

    def _list(self, items: list[Any], shape: Shape) -> Misfit | None:
        if shape.types.issuperset(map(type, items)):
            return None
        self._spend(len(items))
        for place, item in enumerate(items):
            if misfit := self.value(item, shape):
                return misfit.below(place)
        return None

    def _object(self, value: dict[str, Any], forms: Sequence[Form]) -> Misfit | None:
        # Forms whose required members are missing cost nothing, unless all of them are.
        candidates = [form for form in forms if form.required <= value.keys()] or forms if len(forms) > 1 else forms
        misfits: list[Misfit] = []
        for form in candidates:
            misfit = self._in_form(value, form)
            if misfit is None:
                return None
            misfits.append(misfit)
        return misfits[0] if len(forms) == 1 else _nearest(misfits)

    def _in_form(self, value: dict[str, Any], form: Form) -> Misfit | None:
        self._spend(len(form.names) + 1)
        misfit = self._in_members(value, form.leaves, form)
        if misfit is None and form.closed and not value.keys() <= form.names:
            rule = "expected no field but those that are selected, the API sent others"
            misfit = Misfit(rule=rule, foreign=True)
        # Composites come last: checked earlier, a value nested in values of its kind would be checked 2 ** depth times.
        return misfit or self._in_members(value, form.composites, form)

    def _in_members(self, value: dict[str, Any], members: Members, form: Form) -> Misfit | None:
        for name, shape in members:
            member = value.get(name, _ABSENT)
            if type(member) in shape.types:
                continue
            if member is not _ABSENT:
                if misfit := self.value(member, shape):
                    return misfit.below(name)
            elif name in form.required:
                return Misfit(path=(name,), rule=f"expected {shape.expected}, the API sent nothing")
        return None

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise _TooMuch


def _nearest(misfits: Sequence[Misfit]) -> Misfit:
    """Return the misfit of the form that an object was meant for; if that is unclear, one about all forms."""
    own = [each for each in misfits if not each.foreign or len(each.path) > 1]
    furthest = max(own or misfits, key=lambda each: len(each.path))
    if len(own) == 1 or len(furthest.path) > 1:
        return furthest
    return Misfit(rule="expected an object of a type that is selected, the API sent another one")


ANY: frozenset[type] = frozenset({str, bool, int, float, dict, list, NoneType})
"""The types that a schema without rules accepts."""

_ANYTHING: Mapping[str, Any] = {}

LEAVES: Mapping[str, Iterable[type]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (NoneType,),
}


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

    def __init__(self, properties: Mapping[str, Shape], schema: Mapping[str, Any]) -> None:
        self.leaves: Members = [each for each in properties.items() if not each[1].is_composite]
        self.composites: Members = [each for each in properties.items() if each[1].is_composite]
        self.names = frozenset(properties)
        self.required = frozenset(schema.get("required", ()))
        self.closed = schema.get("additionalProperties") is False


class _Reader:
    """Makes shapes of schemas, once for each part: expanded at each reference, parts may be exponentially many."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._shapes: dict[int, Shape] = {}  # by the schema's identity
        self._forms: dict[int, Form] = {}  # by the schema's identity
        self._types: dict[frozenset[type], frozenset[type]] = {}

    def read(self, schema: Mapping[str, Any]) -> Shape:
        """Return the shape of a schema."""
        if id(schema) in self._shapes:
            return self._shapes[id(schema)]
        shape, types = Shape(), set[type]()
        for branch in self._branches(schema):
            match branch:
                case {"type": "object"}:
                    if id(branch) not in self._forms:
                        properties = {name: self.read(below) for name, below in branch.get("properties", {}).items()}
                        self._forms[id(branch)] = Form(properties, branch)
                    shape.objects.append(self._forms[id(branch)])
                case {"type": "array"}:
                    shape.items = self.read(branch.get("items", _ANYTHING))
                case {"type": "string", "enum": names}:
                    shape.names = names
                case {"type": leaf}:
                    types.update(LEAVES[leaf])
                case _:
                    types.update(ANY)
        shape.types = self._types.setdefault(frozenset(types), frozenset(types))
        return self._shapes.setdefault(id(schema), shape)

    def _branches(self, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        match schema:
            case {"anyOf": branches}:
                for branch in branches:
                    yield from self._branches(branch)
            case {"$ref": reference}:
                yield from self._branches(self._definitions[reference.removeprefix("#/$defs/")])
            case _:
                yield schema
