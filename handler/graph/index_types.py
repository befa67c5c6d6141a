"""The parts of the schema index: types, fields, inputs, directives, each with its reader.

Every text is already in its printed form. A request names few members of many, so each member of a type is read at its
first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from handler.cold.records import record
from handler.errors.infrastructure import BundleError

T = TypeVar("T")

KINDS = ("object", "interface", "union", "enum", "input", "scalar")


@record(frozen=True, slots=True)
class InputValue:
    """An argument or a field of an input object. ``default`` is a GraphQL literal or the empty string."""

    type: str  # printed: "[ID!]!"
    default: str
    description: str  # printed as a block string; empty: none
    directives: str  # printed with a leading space; empty: none

    @property
    def required(self) -> bool:
        """True if a request has to give the value."""
        return self.type.endswith("!") and not self.default


@record(frozen=True, slots=True, kw_only=True)
class ListSize:
    """The author's list sizes of a field.

    Source: "The GraphQL Cost Directives Specification" (IBM), "@listSize".
    """

    assumed: int | None = None
    default: int | None = None  # if no slicing argument is given
    slicing: tuple[str, ...] = ()  # arguments, or paths into them: "filter.first"; none: the usual names
    fields: tuple[str, ...] = ()  # the lists below that it is about; none: the field's own, or all
    one_required: bool = False


@record(frozen=True, slots=True)
class Field:
    """A field of an object type or interface."""

    type: str
    arguments: Mapping[str, InputValue]
    description: str
    directives: str
    size: ListSize | None
    weight: float  # cost of the field, in addition to its values


@record(frozen=True, slots=True)
class TypeSlice:
    """One type. Its ``kind`` decides which of the members it has."""

    kind: str  # one of KINDS
    description: str
    directives: str
    interfaces: tuple[str, ...]
    fields: Mapping[str, Field]  # object, interface
    inputs: Mapping[str, InputValue]  # input
    values: Mapping[str, tuple[str, str]]  # enum: name -> (description, directives)
    members: tuple[str, ...]  # union


@record(frozen=True, slots=True)
class Directive:
    """A directive that a request may carry. ``on``: its executable locations."""

    on: tuple[str, ...]
    repeatable: bool
    arguments: Mapping[str, InputValue]
    description: str


def named(type_text: str) -> str:
    """Return the named type below lists and non-nulls: ``Order`` of ``[Order!]!``."""
    return type_text.strip("[]!")


MALFORMED = (AttributeError, KeyError, TypeError, ValueError)
"""Errors of reading a value that does not have the expected shape."""


@contextmanager
def expected_shape(what: str) -> Iterator[None]:
    """Turn errors of reading into one error that names the part of the index.

    Raises:
        BundleError: a value does not have the shape that the compiler writes.
    """
    try:
        yield
    except MALFORMED as exc:
        raise malformed(what) from exc


def malformed(what: str) -> BundleError:
    """Return the error for a part of the index that does not have the shape that the compiler writes."""
    return BundleError(f"{what} is malformed: publish again")


def read_type(name: str, raw: Any, *, kind: str, interfaces: tuple[str, ...]) -> TypeSlice:
    """Read a type's own line. The outline has its kind and interfaces."""
    return TypeSlice(
        kind=kind,
        description=text_in(raw, "description", ""),
        directives=text_in(raw, "directives", ""),
        interfaces=interfaces,
        fields=_Members(name, raw.get("fields", {}), _field),
        inputs=_Members(name, raw.get("inputs", {}), _input),
        values=_Members(name, raw.get("values", {}), _value),
        members=names_in(raw.get("members", [])),
    )


def read_directive(raw: Any) -> Directive:
    """Read a directive of the first line."""
    return Directive(
        on=names_in(raw["on"]),
        repeatable=raw["repeatable"] is True,
        arguments={name: _input(value) for name, value in raw.get("arguments", {}).items()},
        description=text_in(raw, "description", ""),
    )


class _Members(Mapping[str, T]):
    """A type's members, each parsed at its first use: a request names few of many."""

    def __init__(self, type_name: str, raw: Any, parse: Callable[[Any], T]) -> None:
        self._type_name = type_name
        if not isinstance(raw, dict):
            raise TypeError(raw)
        self._raw: Mapping[str, Any] = raw
        self._parse = parse
        self._parsed: dict[str, T] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, name: object) -> bool:
        return name in self._raw

    def __getitem__(self, name: str) -> T:
        if name not in self._parsed:
            raw = self._raw[name]
            with expected_shape(f"the schema index's type {self._type_name}"):
                self._parsed[name] = self._parse(raw)
        return self._parsed[name]


def _field(raw: Any) -> Field:
    return Field(
        type=text_in(raw, "type"),
        arguments={name: _input(value) for name, value in raw.get("arguments", {}).items()},
        description=text_in(raw, "description", ""),
        directives=text_in(raw, "directives", ""),
        size=_list_size(raw["size"]) if "size" in raw else None,
        weight=number_in(raw.get("weight", 0)),
    )


def _list_size(raw: Any) -> ListSize:
    return ListSize(
        assumed=int(number_in(raw["assumed"])) if "assumed" in raw else None,
        default=int(number_in(raw["default"])) if "default" in raw else None,
        slicing=names_in(raw.get("slicing", [])),
        fields=names_in(raw.get("fields", [])),
        one_required=raw.get("one", False) is True,
    )


def _input(raw: Any) -> InputValue:
    return InputValue(
        type=text_in(raw, "type"),
        default=text_in(raw, "default", ""),
        description=text_in(raw, "description", ""),
        directives=text_in(raw, "directives", ""),
    )


def _value(raw: Any) -> tuple[str, str]:
    description, directives = names_in(raw)
    return description, directives


def names_in(raw: Any) -> tuple[str, ...]:
    """Return a list of texts; ``TypeError`` if the value is not one."""
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        raise TypeError(raw)
    return tuple(raw)


def number_in(value: Any) -> float:
    """Return a number; ``TypeError`` if the value is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return value


def text_in(raw: Any, key: str, default: str | None = None) -> str:
    """Return a member that is a text; without a default, the member is required."""
    text = raw[key] if default is None else raw.get(key, default)
    if not isinstance(text, str):
        raise TypeError(key)
    return text
