"""Plain types: JSON Schemas of hints, and values of these types from and to JSON, without pydantic.

Loading pydantic and building its models takes as long as two cold starts of an empty function. A plain type accepts
only values that need no conversion, or one that is certain. Any other value is a ``Doubt``: pydantic then judges it,
and words the error. Nothing is accepted that pydantic refuses (tests/code_tools/test_plain_types.py).
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import NoneType
from typing import Any, Protocol

from handler.cold.records import record
from handler.json_schema.formats import matches
from handler.strict_json import JSONObject

MAX_EXACT = 2**53
"""The largest integer up to which each integer has a float of its own."""

REFERENCE = "#/$defs/"


class Doubt(Exception):
    """A hint or a value that only pydantic may judge."""


def require(is_certain: bool) -> None:  # noqa: FBT001 - an assertion
    """Leave a hint or a value to pydantic unless it is certain.

    Raises:
        Doubt: it is not certain.
    """
    if not is_certain:
        raise Doubt


class PlainType(Protocol):
    """One type."""

    def schema(self) -> JSONObject:
        """Return the JSON Schema, with references to the definitions of classes."""
        ...

    def cast(self, value: Any) -> Any:
        """Convert JSON to a value of the type.

        Raises:
            Doubt: pydantic may refuse the value, or convert it.
        """
        ...

    def dump(self, value: Any) -> Any:
        """Convert a value of the type to JSON.

        Raises:
            Doubt: the value is of another type.
        """
        ...


class Anything:
    """Any JSON."""

    def schema(self) -> JSONObject:
        return {}

    def cast(self, value: Any) -> Any:
        return value

    def dump(self, value: Any) -> Any:
        require(is_json(value, is_text=is_unicode))
        return value


class JsonScalar:
    """A type whose values JSON has: text, integer, boolean or null."""

    NAMES: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def schema(self) -> JSONObject:
        return {"type": self.NAMES[self.kind]}

    def cast(self, value: Any) -> Any:
        require(type(value) is self.kind and (self.kind is not str or is_unicode(value)))
        return value

    dump = cast


class Float:
    """A number that is finite. An integer becomes a float if it has one of its own."""

    kind = float

    def schema(self) -> JSONObject:
        return {"type": "number"}

    def cast(self, value: Any) -> Any:
        if type(value) is int and abs(value) <= MAX_EXACT:
            return float(value)
        require(type(value) is float and math.isfinite(value))
        return value

    dump = cast


class Choice:
    """A ``Literal`` or an ``Enum`` of texts or of integers. ``values``: what JSON has -> the value in Python."""

    def __init__(self, values: Mapping[Any, Any], schema: JSONObject) -> None:
        self._values = values
        self._schema = schema
        self._kind = type(next(iter(values)))

    def schema(self) -> JSONObject:
        return self._schema

    def cast(self, value: Any) -> Any:
        require(type(value) is self._kind and value in self._values)
        return self._values[value]

    def dump(self, value: Any) -> Any:
        plain = value.value if isinstance(value, Enum) else value
        require(self.cast(plain) is value)
        return plain


class Items:
    """A list of items of one type, which becomes a ``list``, ``tuple`` or ``set``."""

    def __init__(self, kind: Callable[[Iterator[Any]], Any], item: PlainType) -> None:
        self.kind = kind
        self._item = item

    def schema(self) -> JSONObject:
        unique = {"uniqueItems": True} if self.kind is set else {}
        return {"type": "array", "items": self._item.schema(), **unique}

    def cast(self, value: Any) -> Any:
        require(type(value) is list)
        try:
            return self.kind(map(self._item.cast, value))
        except TypeError as exc:  # an item of a set that is not hashable
            raise Doubt from exc

    def dump(self, value: Any) -> Any:
        require(type(value) is self.kind and self.kind is not set)
        return list(map(self._item.dump, value))


class Positions:
    """A tuple with a type for each position."""

    def __init__(self, items: Sequence[PlainType]) -> None:
        self._items = items

    def schema(self) -> JSONObject:
        count = len(self._items)
        items = [item.schema() for item in self._items]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}

    def cast(self, value: Any) -> tuple[Any, ...]:
        require(type(value) is list and len(value) == len(self._items))
        return tuple(item.cast(each) for item, each in zip(self._items, value, strict=True))

    def dump(self, value: Any) -> Any:
        require(type(value) is tuple and len(value) == len(self._items))
        return [item.dump(each) for item, each in zip(self._items, value, strict=True)]


class Table:
    """An object whose members are all of one type."""

    kind = dict

    def __init__(self, item: PlainType) -> None:
        self._item = item

    def schema(self) -> JSONObject:
        item = {name: rule for name, rule in self._item.schema().items() if name != "title"}  # pydantic lists none here
        return {"type": "object", "additionalProperties": item or True}

    def cast(self, value: Any) -> Any:
        require(type(value) is dict and all(map(is_unicode, value)))
        return {name: self._item.cast(each) for name, each in value.items()}

    def dump(self, value: Any) -> Any:
        require(type(value) is dict and all(map(is_unicode, value)))
        return {name: self._item.dump(each) for name, each in value.items()}


class Nullable:
    """A type or ``None``."""

    def __init__(self, inner: PlainType) -> None:
        self.inner = inner

    def schema(self) -> JSONObject:
        return {"anyOf": [self.inner.schema(), {"type": "null"}]}

    def cast(self, value: Any) -> Any:
        return None if value is None else self.inner.cast(value)

    def dump(self, value: Any) -> Any:
        return None if value is None else self.inner.dump(value)


class ScalarUnion:
    """Scalars of different types. A value of no such type is a doubt."""

    def __init__(self, members: Sequence[JsonScalar | Float]) -> None:
        self._members = {member.kind: member for member in members}

    def schema(self) -> JSONObject:
        return {"anyOf": [member.schema() for member in self._members.values()]}

    def cast(self, value: Any) -> Any:
        require(type(value) in self._members)
        return self._members[type(value)].cast(value)

    dump = cast


class Bounded:
    """A type with bounds and texts. ``rules``: the keywords of the schema."""

    def __init__(self, inner: PlainType, rules: JSONObject) -> None:
        self._rules = rules
        self._inner = inner
        self.dump = inner.dump

    def schema(self) -> JSONObject:
        return {**self._inner.schema(), **self._rules}

    def cast(self, value: Any) -> Any:
        plain = self._inner.cast(value)
        for name, limit in self._rules.items():
            require(name not in BOUNDS or BOUNDS[name](plain, limit))
        return plain


BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, limit: value >= limit,
    "maximum": lambda value, limit: value <= limit,
    "exclusiveMinimum": lambda value, limit: value > limit,
    "exclusiveMaximum": lambda value, limit: value < limit,
    "multipleOf": lambda value, limit: value % limit == 0,
    **dict.fromkeys(("minLength", "minItems", "minProperties"), lambda value, limit: len(value) >= limit),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), lambda value, limit: len(value) <= limit),
    "pattern": lambda text, pattern: matches(pattern, text),
}


class PlainClass:
    """A class of the author's, which schemas define once. It may hold itself, so ``inner`` is set when it is read."""

    inner: PlainType

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def schema(self) -> JSONObject:
        return {"$ref": f"{REFERENCE}{self.cls.__name__}"}

    def definition(self) -> JSONObject:
        """Return the schema that ``schema`` refers to, with the docstring unless it is a dataclass's own signature."""
        text = self.cls.__doc__ or ""
        text = "" if text.startswith(f"{self.cls.__name__}(") else inspect.cleandoc(text)
        return {**self.inner.schema(), **({"description": text} if text else {})}

    def cast(self, value: Any) -> Any:
        return self.inner.cast(value)

    def dump(self, value: Any) -> Any:
        return self.inner.dump(value)


@record(frozen=True, slots=True, kw_only=True)
class PlainMember:
    """A field of a class, or a parameter. ``default`` makes its default; ``None`` if a value is required."""

    name: str
    type: PlainType
    default: Callable[[], Any] | None = None
    listed: JSONObject  # the default in the schema, as its keyword


class PlainMembers:
    """An object with named members: the parameters of a function, or the fields of a class."""

    def __init__(self, members: Sequence[PlainMember]) -> None:
        self._members = members

    def schema(self) -> JSONObject:
        properties = {each.name: {**each.type.schema(), **each.listed} for each in self._members}
        required = [each.name for each in self._members if each.default is None]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def cast(self, value: Any) -> Any:
        require(type(value) is dict)
        values: dict[str, Any] = {}
        for each in self._members:
            if each.name in value:
                values[each.name] = each.type.cast(value[each.name])
            elif each.default is None:
                raise Doubt
            else:
                values[each.name] = each.default()
        return values


class PlainDict(PlainMembers):
    """A ``TypedDict``."""

    def cast(self, value: Any) -> Any:
        values = super().cast(value)
        require(all(map(is_unicode, value)))
        return {name: each for name, each in values.items() if name in value}

    def dump(self, value: Any) -> Any:
        require(type(value) is dict)
        types = {each.name: each.type for each in self._members}
        required = {each.name for each in self._members if each.default is None}
        require(required <= value.keys() <= types.keys())
        return {name: types[name].dump(each) for name, each in value.items()}


class PlainDataclass(PlainMembers):
    """A dataclass whose instances are no more than the values of their fields."""

    def __init__(self, cls: Any, members: Sequence[PlainMember]) -> None:
        super().__init__(members)
        self._cls = cls

    def cast(self, value: Any) -> Any:
        values = super().cast(value)
        require(all(map(is_unicode, value)))
        instance = object.__new__(self._cls)
        for name, each in values.items():
            object.__setattr__(instance, name, each)
        return instance

    def dump(self, value: Any) -> Any:
        require(type(value) is self._cls)
        if hasattr(value, "__dict__"):
            require(vars(value).keys() == {each.name for each in self._members})
        try:
            values = {each.name: each.type.dump(getattr(value, each.name)) for each in self._members}
        except AttributeError as exc:  # a slot without a value
            raise Doubt from exc
        return {name: values[name] for name in self._cls.__dataclass_fields__ if name in values}


def is_json(value: Any, *, is_text: Callable[[Any], bool] = lambda value: type(value) is str) -> bool:
    """Return whether JSON can hold a value as it is. ``is_text`` judges its texts and names."""
    if type(value) is dict:
        return all(is_text(name) and is_json(each, is_text=is_text) for name, each in value.items())
    if type(value) is list:
        return all(is_json(each, is_text=is_text) for each in value)
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (int, bool) or is_text(value)


def is_unicode(value: Any) -> bool:
    """Return whether a value is a text without a lone surrogate, which pydantic refuses."""
    return type(value) is str and (value.isascii() or not re.search("[\ud800-\udfff]", value))
