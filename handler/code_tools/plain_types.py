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
from typing import Any, NamedTuple

from handler.cold.records import record
from handler.json_schema.fast_path import REFERENCE, QuickCheck
from handler.strict_json import JSONObject

MAX_EXACT = 2**53
"""The largest integer up to which each integer has a float of its own."""


class Doubt(Exception):
    """A hint or a value that only pydantic may judge."""


def require(is_certain: bool) -> None:  # noqa: FBT001 - an assertion
    """Leave a hint or a value to pydantic unless it is certain.

    Raises:
        Doubt: it is not certain.
    """
    if not is_certain:
        raise Doubt


class PlainType(NamedTuple):
    """One type: its JSON Schema, with references to the definitions of classes, and two conversions.

    ``cast`` converts JSON to a value of the type, and ``dump`` a value of the type to JSON. They raise ``Doubt`` if
    pydantic may refuse the value or convert it.
    """

    schema: JSONObject
    cast: Callable[[Any], Any]
    dump: Callable[[Any], Any]
    kind: Any = None  # the class of the values, if bounds may apply to them
    inner: PlainType | None = None  # the type without ``None``


def any_json() -> PlainType:
    """Return the type of any JSON."""

    def dump(value: Any) -> Any:
        require(fits_json(value, is_text=is_unicode))
        return value

    return PlainType({}, lambda value: value, dump)


SCALARS: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}


def scalar(kind: type) -> PlainType:
    """Return a type whose values JSON has: text, integer, boolean or null."""

    def check(value: Any) -> Any:
        require(type(value) is kind and (kind is not str or is_unicode(value)))
        return value

    return PlainType({"type": SCALARS[kind]}, check, check, kind)


def number_type() -> PlainType:
    """Return the type of finite numbers. An integer becomes a float if it has one of its own."""

    def check(value: Any) -> Any:
        if type(value) is int and abs(value) <= MAX_EXACT:
            return float(value)
        require(type(value) is float and math.isfinite(value))
        return value

    return PlainType({"type": "number"}, check, check, float)


def choice_type(values: Mapping[Any, Any], schema: JSONObject) -> PlainType:
    """Return a ``Literal`` or an ``Enum`` of texts or of integers. ``values``: JSON -> the value in Python."""
    kind = type(next(iter(values)))

    def cast(value: Any) -> Any:
        require(type(value) is kind and value in values)
        return values[value]

    def dump(value: Any) -> Any:
        plain = value.value if isinstance(value, Enum) else value
        require(cast(plain) is value)
        return plain

    return PlainType(schema, cast, dump)


def list_type(kind: Callable[[Iterator[Any]], Any], item: PlainType) -> PlainType:
    """Return a list of items of one type, which becomes a ``list``, ``tuple`` or ``set``."""

    def cast(value: Any) -> Any:
        require(type(value) is list)
        try:
            return kind(map(item.cast, value))
        except TypeError as exc:  # an item of a set that is not hashable
            raise Doubt from exc

    def dump(value: Any) -> Any:
        require(type(value) is kind and kind is not set)
        return list(map(item.dump, value))

    unique = {"uniqueItems": True} if kind is set else {}
    return PlainType({"type": "array", "items": item.schema, **unique}, cast, dump, kind)


def positions(types: Sequence[PlainType]) -> PlainType:
    """Return a tuple with a type for each position."""

    def cast(value: Any) -> Any:
        require(type(value) is list and len(value) == len(types))
        return tuple(each.cast(item) for each, item in zip(types, value, strict=True))

    def dump(value: Any) -> Any:
        require(type(value) is tuple and len(value) == len(types))
        return [each.dump(item) for each, item in zip(types, value, strict=True)]

    items = [each.schema for each in types]
    schema = {"type": "array", "prefixItems": items, "minItems": len(types), "maxItems": len(types)}
    return PlainType(schema, cast, dump)


def table(item: PlainType) -> PlainType:
    """Return an object whose members are all of one type."""

    def members(value: Any) -> Mapping[str, Any]:
        require(type(value) is dict and all(map(is_unicode, value)))
        members: Mapping[str, Any] = value
        return members

    rules = {name: rule for name, rule in item.schema.items() if name != "title"}  # pydantic lists none here
    return PlainType(
        {"type": "object", "additionalProperties": rules or True},
        lambda value: {name: item.cast(each) for name, each in members(value).items()},
        lambda value: {name: item.dump(each) for name, each in members(value).items()},
        dict,
    )


def nullable(inner: PlainType) -> PlainType:
    """Return a type or ``None``."""
    return PlainType(
        {"anyOf": [inner.schema, {"type": "null"}]},
        lambda value: None if value is None else inner.cast(value),
        lambda value: None if value is None else inner.dump(value),
        inner=inner,
    )


def scalar_union(types: Sequence[PlainType]) -> PlainType:
    """Return scalars of different types. A value of no such type is a doubt."""
    by_kind = {each.kind: each for each in types}

    def check(value: Any) -> Any:
        require(type(value) in by_kind)
        return by_kind[type(value)].cast(value)

    return PlainType({"anyOf": [each.schema for each in by_kind.values()]}, check, check)


def bounded(inner: PlainType, rules: JSONObject) -> PlainType:
    """Return a type with bounds and texts. ``rules``: the keywords of the schema."""

    def cast(value: Any) -> Any:
        plain = inner.cast(value)
        require(QuickCheck(rules).surely_fits(plain, rules))
        return plain

    return PlainType({**inner.schema, **rules}, cast, inner.dump)


class PlainClass:
    """A class of the author's, which schemas define once. It may hold itself, so ``inner`` is set when it is read."""

    inner: PlainType

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.type = PlainType({"$ref": f"{REFERENCE}{cls.__name__}"}, self._cast, self._dump)

    def _cast(self, value: Any) -> Any:
        return self.inner.cast(value)

    def _dump(self, value: Any) -> Any:
        return self.inner.dump(value)

    def definition(self) -> JSONObject:
        """Return the schema that is referred to, with the docstring unless it is a dataclass's own signature."""
        text = self.cls.__doc__ or ""
        text = "" if text.startswith(f"{self.cls.__name__}(") else inspect.cleandoc(text)
        return {**self.inner.schema, **({"description": text} if text else {})}


@record(frozen=True, slots=True, kw_only=True)
class PlainMember:
    """A field of a class, or a parameter. ``default`` makes its default; ``None`` if a value is required."""

    name: str
    type: PlainType
    default: Callable[[], Any] | None = None
    listed: JSONObject  # the default in the schema, as its keyword


def object_of(members: Sequence[PlainMember]) -> PlainType:
    """Return an object with named members: the parameters of a function, which are never written as JSON."""

    def cast(value: Any) -> dict[str, Any]:
        require(type(value) is dict)
        values: dict[str, Any] = {}
        for each in members:
            if each.name in value:
                values[each.name] = each.type.cast(value[each.name])
            elif each.default is None:
                raise Doubt
            else:
                values[each.name] = each.default()
        return values

    properties = {each.name: {**each.type.schema, **each.listed} for each in members}
    required = [each.name for each in members if each.default is None]
    schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    return PlainType(schema, cast, cast)


def typed_dict(members: Sequence[PlainMember]) -> PlainType:
    """Return a ``TypedDict``."""
    plain = object_of(members)
    types = {each.name: each.type for each in members}
    required = {each.name for each in members if each.default is None}

    def cast(value: Any) -> Any:
        values = plain.cast(value)
        require(all(map(is_unicode, value)))
        return {name: each for name, each in values.items() if name in value}

    def dump(value: Any) -> Any:
        require(type(value) is dict and required <= value.keys() <= types.keys())
        return {name: types[name].dump(each) for name, each in value.items()}

    return PlainType(plain.schema, cast, dump)


def dataclass_of(cls: Any, members: Sequence[PlainMember]) -> PlainType:
    """Return a dataclass whose instances are no more than the values of their fields."""
    plain = object_of(members)

    def cast(value: Any) -> Any:
        values = plain.cast(value)
        require(all(map(is_unicode, value)))
        instance = object.__new__(cls)
        for name, each in values.items():
            object.__setattr__(instance, name, each)
        return instance

    def dump(value: Any) -> Any:
        require(type(value) is cls)
        if hasattr(value, "__dict__"):
            require(vars(value).keys() == {each.name for each in members})
        try:
            values = {each.name: each.type.dump(getattr(value, each.name)) for each in members}
        except AttributeError as exc:  # a slot without a value
            raise Doubt from exc
        return {name: values[name] for name in cls.__dataclass_fields__ if name in values}

    return PlainType(plain.schema, cast, dump)


def fits_json(value: Any, *, is_text: Callable[[Any], bool] = lambda value: type(value) is str) -> bool:
    """Return whether JSON can hold a value as it is. ``is_text`` judges its texts and names."""
    if type(value) is dict:
        return all(is_text(name) and fits_json(each, is_text=is_text) for name, each in value.items())
    if type(value) is list:
        return all(fits_json(each, is_text=is_text) for each in value)
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (int, bool) or is_text(value)


def is_unicode(value: Any) -> bool:
    """Return whether a value is a text without a lone surrogate, which pydantic refuses."""
    return type(value) is str and (value.isascii() or not re.search("[\ud800-\udfff]", value))
