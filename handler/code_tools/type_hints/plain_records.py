"""Plain types with named members: dataclasses, ``TypedDict`` classes, and the parameters of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from handler.code_tools.type_hints.plain_types import Choice, Doubt, PlainType, name_of
from handler.cold.records import record
from handler.strict_json import JSONObject


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
