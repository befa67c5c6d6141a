"""Hints, made of a seed, that plain types may understand, and JSON that mostly fits them."""

from __future__ import annotations

import copy
import dataclasses
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any, ClassVar, Literal, Optional, Union

import pydantic

from handler.code_tools.field import LightField
from handler.code_tools.signature import NO_DEFAULT, Parameter


class Color(Enum):
    """The colours of a thing."""

    RED = "red"
    BLUE = "blue"
    AZURE = "blue"  # noqa: PIE796 - another name of BLUE


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Size(str, Enum):  # noqa: UP042 - as authors write it
    SMALL = "s"


@dataclass
class Point:
    """A place."""

    x: int
    y: Annotated[float, LightField({"ge": 0, "description": "Up"})] = 0.5
    kind: ClassVar[str] = "point"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    name: str = "oak"
    color: Color = Color.RED
    children: list[Tree] = field(default_factory=list)
    at: Point | None = None


@dataclass
class Late(Point):
    z: int = field(default=1, kw_only=True)
    tags: dict[str, Any] = field(default_factory=dict)
    a: str = "a"


SCALARS: Sequence[Any] = (str, int, float, bool, None, Any, Color, Level, Size, Literal["a", "b"], Literal[1, 2])
CLASSES: Sequence[Any] = (Point, Tree, Late)
DEFAULTS: Sequence[Any] = (None, 1, 1.0, "a", True, Color.RED, Level.LOW, -0.5)
BOUNDS: Any = {
    int: ("ge", "lt", "multiple_of"),
    float: ("gt", "le"),
    str: ("min_length", "max_length", "pattern"),
    list: ("min_length", "max_length"),
    dict: ("min_length", "max_length"),
}
TEXTS: Sequence[dict[str, Any]] = ({"description": "it"}, {"title": "It", "examples": [1]})
ANNOTATIONS = {"Color": Color, "list[Tree]": list[Tree], "Point | None": Point | None, "str": str, "int": int}
"""What the hints of the classes say."""

VALUES: Any = {
    str: ("", "a", "abc", "é", "a\n", "12"),
    int: (0, 1, 3, -7, 10**30),
    float: (0.5, 3, -2.0, 1e300, 2**53, 2**53 + 1),
    bool: (True, False),
    None: (None,),
    type(None): (None,),
}
NOISE: Sequence[Any] = (
    *(None, True, 0, 1, 1.0, 2.5, "1", "true", "red", "", [], [1], {}, {"x": 1}, "\ud800", {"\ud800": 1}),
    *(math.nan, math.inf, 10**400, (1, 2), {1}, Color.RED, Level.HIGH, Size.SMALL, Point(1), b"a", {1: 1}),
)
"""Values of any kind, some of them not JSON."""


class MadeHint:
    """A hint, and values that may fit it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.hint = self._hint(3)

    def parameters(self) -> list[Parameter]:
        """Return parameters, the first of which has the hint."""
        hints = [self.hint, *(self._hint(1) for _ in range(self.random.randint(0, 2)))]
        return [Parameter(name=f"p{at}", hint=hint, default=self._default(at)) for at, hint in enumerate(hints)]

    def value(self) -> Any:
        """Return JSON that mostly fits the hint."""
        return self.value_of(self.hint)

    def arguments(self, parameters: Sequence[Parameter]) -> dict[str, Any]:
        """Return JSON that mostly fits the parameters."""
        return {each.name: self.value_of(each.hint) for each in parameters if self._is(0.9)}

    def value_of(self, hint: Any, depth: int = 6) -> Any:
        if not depth or self._is(0.08):
            return self._noise()
        if hasattr(hint, "__metadata__"):
            return self.value_of(hint.__origin__, depth)
        if dataclasses.is_dataclass(hint):
            return self._object_of(hint, depth)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return self.random.choice([each.value for each in hint])
        if hint in VALUES:
            return self.random.choice(VALUES[hint])
        return self._value_of_form(_origin(hint), getattr(hint, "__args__", ()), depth)

    def _value_of_form(self, origin: Any, parts: Sequence[Any], depth: int) -> Any:
        count = self.random.randint(0, 3)
        if origin in (list, set):
            return [self.value_of(parts[0] if parts else Any, depth - 1) for _ in range(count)]
        if origin is dict:
            return {name: self.value_of(parts[1] if parts else Any, depth - 1) for name in "abcé"[:count]}
        if origin is tuple:
            kinds = [parts[0]] * count if parts[1] is Ellipsis else parts
            return [self.value_of(each, depth - 1) for each in kinds]
        if origin is Literal:
            return self.random.choice(parts)
        return self.value_of(self.random.choice(parts), depth) if parts else self._noise()

    def _object_of(self, cls: Any, depth: int) -> dict[str, Any]:
        hints = {each.name: ANNOTATIONS.get(str(each.type), each.type) for each in dataclasses.fields(cls)}
        given = {name: self.value_of(each, depth - 1) for name, each in hints.items() if self._is(0.9)}
        return {**given, **({"more": 1} if self._is(0.1) else {})}

    def _hint(self, depth: int) -> Any:
        if not depth or self._is(0.3):
            return self._bounded(self.random.choice((*SCALARS, *CLASSES)))
        inner: Any = self._hint(depth - 1)
        scalars: Any = self.random.sample((str, int, float, bool, None), 3)
        forms = (
            lambda: self._bounded(_of(list, inner)),
            lambda: self._bounded(_of(dict, str, inner)),
            lambda: _of(tuple, inner, self._hint(depth - 1)),
            lambda: _of(tuple, inner, ...),
            lambda: _of(set, self.random.choice((str, int, float, Level))),
            lambda: self._bounded(_of(Optional, inner)),
            lambda: _of(Union, *scalars),
            lambda: self.random.choice((list, dict)),
            lambda: self._class(depth - 1),
        )
        return self.random.choice(forms)()

    def _bounded(self, hint: Any) -> Any:
        """Add options that fit the hint, at times."""
        names = BOUNDS.get(_origin(hint), ()) if self._is(0.4) else ()
        limits = {name: self.random.randint(1, 4) for name in names if self._is(0.5)}
        options = {name: "^[a-c]*$" if name == "pattern" else limit for name, limit in limits.items()}
        options |= self.random.choice(TEXTS) if self._is(0.2) else {}
        if not options:
            return hint
        return _of(Annotated, hint, self._field(options))

    def _field(self, options: dict[str, Any]) -> Any:
        return LightField(options) if self._is(0.5) else pydantic.Field(**options)

    def _class(self, depth: int) -> Any:
        required = [(f"f{at}", self._hint(depth)) for at in range(self.random.randint(0, 3))]
        defaults = [self.random.choice(DEFAULTS) for _ in range(self.random.randint(0, 2))]
        optional = [(f"o{at}", self._hint(0), field(default=default)) for at, default in enumerate(defaults)]
        name = self.random.choice(("Box", "Crate", "Point"))
        return dataclasses.make_dataclass(name, [*required, *optional], frozen=self._is(0.3))

    def _default(self, at: int) -> Any:
        if not at or self._is(0.4):
            return NO_DEFAULT
        options: Any = ({"default": self.random.choice(DEFAULTS)}, {"description": "d"}, {"default_factory": list})
        assigned = self._field(self.random.choice(options))
        return self.random.choice((self.random.choice(DEFAULTS), assigned, [1, {"a": []}], {}))

    def _noise(self) -> Any:
        return copy.deepcopy(self.random.choice(NOISE))

    def _is(self, share: float) -> bool:
        return self.random.random() < share


def _of(form: Any, *parts: Any) -> Any:
    return form[parts if len(parts) > 1 else parts[0]]


def _origin(hint: Any) -> Any:
    return getattr(hint, "__origin__", hint)


def told(value: Any) -> Any:
    """Return a value with the types of all its parts, to compare."""
    if isinstance(value, dict):
        return type(value), [(told(name), told(each)) for name, each in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [told(each) for each in value]
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
        others = getattr(value, "__dict__", {}).keys() - names
        return type(value), [(name, told(getattr(value, name))) for name in names], others
    return type(value), sorted(map(repr, value)) if isinstance(value, set) else repr(value)
