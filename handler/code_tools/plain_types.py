"""Plain types: JSON Schemas of hints, and values of these types from and to JSON, without pydantic.

Loading pydantic and building its models takes as long as two cold starts of an empty function. A plain type accepts
only values that need no conversion, or one that is certain. Any other value is a ``Doubt``: pydantic then judges it,
and words the error. Nothing is accepted that pydantic refuses (tests/code_tools/test_plain_types.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import NoneType
from typing import Any, Protocol

from handler.cold.records import record
from handler.json_schema.formats import matches
from handler.strict_json import JSONObject

MAX_EXACT = 2**53
"""The largest integer up to which each integer has a float of its own."""


class Doubt(Exception):
    """A hint or a value that only pydantic may judge."""


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
        if not is_json(value, is_text=is_unicode):
            raise Doubt
        return value


class JsonScalar:
    """A type whose values JSON has: text, integer, boolean or null."""

    NAMES: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def schema(self) -> JSONObject:
        return {"type": self.NAMES[self.kind]}

    def cast(self, value: Any) -> Any:
        if type(value) is not self.kind or (self.kind is str and not is_unicode(value)):
            raise Doubt
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
        if type(value) is not float or not math.isfinite(value):
            raise Doubt
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
        if type(value) is not self._kind or value not in self._values:
            raise Doubt
        return self._values[value]

    def dump(self, value: Any) -> Any:
        plain = value.value if isinstance(value, Enum) else value
        if type(plain) is not self._kind or plain not in self._values or self._values[plain] is not value:
            raise Doubt
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
        if type(value) is not list:
            raise Doubt
        try:
            return self.kind(map(self._item.cast, value))
        except TypeError as exc:  # an item of a set that is not hashable
            raise Doubt from exc

    def dump(self, value: Any) -> Any:
        if type(value) is not self.kind or self.kind is set:
            raise Doubt
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
        return tuple(item.cast(each) for item, each in self._pairs(value, kind=list))

    def dump(self, value: Any) -> Any:
        return [item.dump(each) for item, each in self._pairs(value, kind=tuple)]

    def _pairs(self, value: Any, *, kind: Any) -> Iterator[tuple[PlainType, Any]]:
        if type(value) is not kind or len(value) != len(self._items):
            raise Doubt
        return zip(self._items, value, strict=True)


class Table:
    """An object whose members are all of one type."""

    kind = dict

    def __init__(self, item: PlainType) -> None:
        self._item = item

    def schema(self) -> JSONObject:
        item = {name: rule for name, rule in self._item.schema().items() if name != "title"}  # pydantic lists none here
        return {"type": "object", "additionalProperties": item or True}

    def cast(self, value: Any) -> Any:
        if type(value) is not dict:
            raise Doubt
        return {name_of(name): self._item.cast(each) for name, each in value.items()}

    def dump(self, value: Any) -> Any:
        if type(value) is not dict:
            raise Doubt
        return {name_of(name): self._item.dump(each) for name, each in value.items()}


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
        member = self._members.get(type(value))
        if member is None:
            raise Doubt
        return member.cast(value)

    dump = cast


class Bounded:
    """A type with bounds and texts. ``rules``: the keywords of the schema."""

    def __init__(self, inner: PlainType, rules: JSONObject) -> None:
        self._inner = inner
        self._rules = rules
        self._judges = [(BOUNDS[name], limit) for name, limit in rules.items() if name in BOUNDS]

    def schema(self) -> JSONObject:
        return {**self._inner.schema(), **self._rules}

    def cast(self, value: Any) -> Any:
        made = self._inner.cast(value)
        for judge, limit in self._judges:
            if not judge(made, limit):
                raise Doubt
        return made

    def dump(self, value: Any) -> Any:
        return self._inner.dump(value)


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


def name_of(name: Any) -> str:
    """Return the name of a member.

    Raises:
        Doubt: the name is not a text that JSON may have.
    """
    if not is_unicode(name):
        raise Doubt
    text: str = name
    return text


@record(frozen=True, slots=True, kw_only=True)
class PlainMember:
    """A field of a class, or a parameter. ``default`` makes its default; ``None`` if a value is required."""

    name: str
    type: PlainType
    default: Callable[[], Any] | None = None
    listed: JSONObject  # the default in the schema, as its keyword


class PlainMembers:
    """An object with named members: a class of the author's, or the parameters of a function."""

    def __init__(self, members: Sequence[PlainMember] = ()) -> None:
        self.members = members

    def schema(self) -> JSONObject:
        properties = {each.name: {**each.type.schema(), **each.listed} for each in self.members}
        required = [each.name for each in self.members if each.default is None]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def cast(self, value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Doubt
        made: dict[str, Any] = {}
        for each in self.members:
            if each.name in value:
                made[each.name] = each.type.cast(value[each.name])
            elif each.default is None:
                raise Doubt
            else:
                made[each.name] = each.default()
        return made


class Enumeration:
    """An ``Enum`` of texts or of integers."""

    def __init__(self, cls: type, choice: Choice, *, description: str = "") -> None:
        self.cls = cls
        self._choice = choice
        self._described = {"description": description} if description else {}
        self.cast, self.dump = choice.cast, choice.dump

    def schema(self) -> JSONObject:
        return reference_to(self.cls)

    def definition(self) -> JSONObject:
        """Return the schema that ``schema`` refers to."""
        return {**self._choice.schema(), **self._described}


class PlainRecord:
    """A dataclass or a ``TypedDict``. A class may hold itself, so its members are set when all of them are read."""

    def __init__(self, cls: Any, *, description: str = "") -> None:
        self.cls = cls
        self.members = PlainMembers()
        self._is_dict = issubclass(cls, dict)
        self._described = {"description": description} if description else {}

    def schema(self) -> JSONObject:
        return reference_to(self.cls)

    def definition(self) -> JSONObject:
        """Return the schema that ``schema`` refers to."""
        return {**self.members.schema(), **self._described}

    def cast(self, value: Any) -> Any:
        members = self.members.cast(value)
        for name in value.keys() - members.keys():
            name_of(name)
        if self._is_dict:
            return {name: each for name, each in members.items() if name in value}
        made: Any = object.__new__(self.cls)
        for name, each in members.items():
            object.__setattr__(made, name, each)
        return made

    def dump(self, value: Any) -> Any:
        made = {each.name: each.type.dump(got) for each, got in self._values(value)}
        order = value if self._is_dict else self.cls.__dataclass_fields__
        return {name: made[name] for name in order if name in made}

    def _values(self, value: Any) -> Iterator[tuple[PlainMember, Any]]:
        kind: type = type(value)
        if kind is not (dict if self._is_dict else self.cls):
            raise Doubt
        given = value if self._is_dict else vars(value) if hasattr(value, "__dict__") else None
        for each in self.members.members:
            try:
                yield each, getattr(value, each.name) if given is None else given[each.name]
            except (AttributeError, KeyError) as exc:
                if not self._is_dict or each.default is None:
                    raise Doubt from exc
        if given is not None and given.keys() - {each.name for each in self.members.members}:
            raise Doubt  # members that the type does not name


def reference_to(cls: type) -> JSONObject:
    """Return the reference to the definition of a class."""
    return {"$ref": f"#/$defs/{cls.__name__}"}


def _is_text(value: Any) -> bool:
    return type(value) is str


def is_json(value: Any, *, is_text: Callable[[Any], bool] = _is_text) -> bool:
    """Tell if JSON can hold a value as it is. ``is_text`` judges its texts and names."""
    if type(value) is dict:
        return all(is_text(name) and is_json(each, is_text=is_text) for name, each in value.items())
    if type(value) is list:
        return all(is_json(each, is_text=is_text) for each in value)
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (int, bool) or is_text(value)


def is_unicode(value: Any) -> bool:
    """Tell if a value is a text without a lone surrogate, which pydantic refuses."""
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
