"""The schema index: a schema as pure data, so that views of it need no graphql-core.

The compiler makes it once; it is stored under its own digest. Types stand in the order in which a reader would want
them (root types first, then as the author wrote them), and every text in it is already in its printed form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from handler.errors import BundleError
from handler.json_shape import inside, parse_stored
from handler.records import dataclass

ROOT_KINDS = ("query", "mutation")
KINDS = ("object", "interface", "union", "enum", "input", "scalar")


@dataclass(frozen=True, slots=True)
class InputValue:
    """An argument or a field of an input object. ``default`` is a GraphQL literal, or empty."""

    type: str  # printed: "[ID!]!"
    default: str
    description: str  # printed as a block string, or empty
    directives: str  # printed with a leading space, or empty

    @property
    def required(self) -> bool:
        """Whether a request has to give it."""
        return self.type.endswith("!") and not self.default


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSize:
    """What the author says of the lists of a field.

    Source: "The GraphQL Cost Directives Specification" (IBM), "@listSize".
    """

    assumed: int | None = None
    default: int | None = None  # where no slicing argument is given
    slicing: tuple[str, ...] = ()  # arguments, or paths into them: "filter.first"; none: the usual names
    fields: tuple[str, ...] = ()  # the lists below that are meant; none: the field's own, or all
    one_required: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object type or interface."""

    type: str
    arguments: Mapping[str, InputValue]
    description: str
    directives: str
    size: ListSize | None
    weight: float  # what asking for it counts, beside its values


@dataclass(frozen=True, slots=True)
class TypeSlice:
    """One type. Which of the members it has depends on its ``kind``."""

    kind: str  # one of KINDS
    description: str
    directives: str
    interfaces: tuple[str, ...]
    fields: Mapping[str, Field]  # object, interface
    inputs: Mapping[str, InputValue]  # input
    values: Mapping[str, tuple[str, str]]  # enum: name -> (description, directives)
    members: tuple[str, ...]  # union


Reference = tuple[str, str, str]
"""A member, its argument or an empty text, and the named type of the one or the other."""


def named(type_text: str) -> str:
    """The named type below lists and non-nulls: ``Order`` of ``[Order!]!``."""
    return type_text.strip("[]!")


class SchemaIndex:
    """The types of one schema, each parsed when it is first asked for.

    Raises:
        BundleError: the content, or a type when it is asked for, has not the shape that the compiler gives it.
    """

    def __init__(self, content: Any) -> None:
        with _shape("the schema index"):
            self.description = _text(content, "description")
            self.roots = {kind: _text(content["roots"], kind) for kind in ROOT_KINDS if kind in content["roots"]}
            self._raw: Mapping[str, Any] = dict(content["types"].items())
        self._types: dict[str, TypeSlice] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def __getitem__(self, name: str) -> TypeSlice:
        found = self._types.get(name)
        if found is None:
            with _shape(f"the schema index's type {name}"):
                found = self._types[name] = _type(self._raw[name])
        return found

    @cached_property
    def implementers(self) -> Mapping[str, tuple[str, ...]]:
        """Interface -> the types and interfaces that name it, in the index's order."""
        found: dict[str, list[str]] = {}
        for name in self:
            for interface in self.interfaces(name):
                found.setdefault(interface, []).append(name)
        return {interface: tuple(names) for interface, names in found.items()}

    # What a view needs of every type. It is read from the raw slice: parsing all of them takes three times as long.

    def kind(self, name: str) -> str:
        """One of ``KINDS``."""
        with _shape(f"the schema index's type {name}"):
            return _kind(self._raw[name])

    def weight(self, name: str) -> float | None:
        """What one value of a type counts, if its author says so."""
        with _shape(f"the schema index's type {name}"):
            raw = self._raw[name]
            return _number(raw["weight"]) if "weight" in raw else None

    def interfaces(self, name: str) -> tuple[str, ...]:
        """The interfaces that a type names."""
        with _shape(f"the schema index's type {name}"):
            return _names(self._raw[name].get("interfaces", []))

    def members(self, name: str) -> tuple[str, ...]:
        """The names of a type's fields, inputs, values or union members."""
        with _shape(f"the schema index's type {name}"):
            raw = self._raw[name]
            return _names(raw.get("members", [])) or tuple(
                (raw.get("fields") or raw.get("inputs") or raw.get("values") or {}).keys()
            )

    def targets(self, name: str) -> set[str]:
        """The types that a type's members and their arguments name."""
        with _shape(f"the schema index's type {name}"):
            raw = self._raw[name]
            found = set(_names(raw.get("members", [])))
            for part in (raw.get("fields") or raw.get("inputs") or {}).values():
                found.add(named(_text(part, "type")))
                found.update(named(_text(value, "type")) for value in part.get("arguments", {}).values())
            return found

    def references(self, name: str) -> list[Reference]:
        """The same with the members and arguments that name them, in their order."""
        with _shape(f"the schema index's type {name}"):
            raw = self._raw[name]
            found = [(member, "", member) for member in _names(raw.get("members", []))]
            for member, part in (raw.get("fields") or raw.get("inputs") or {}).items():
                found.append((member, "", named(_text(part, "type"))))
                for argument, value in part.get("arguments", {}).items():
                    found.append((member, argument, named(_text(value, "type"))))
            return found


def write_index(content: Mapping[str, Any]) -> tuple[str, bytes]:
    """The digest under which an index is stored, and its bytes."""
    raw = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return hashlib.sha256(raw).hexdigest(), raw


def read_index(raw: bytes, *, sha256: str) -> SchemaIndex:
    """Read a stored index.

    Raises:
        BundleError: bytes that differ from their digest, or no index.
    """
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise BundleError("the schema index does not match its digest: publish again")
    return SchemaIndex(inside("schema index", parse_stored, raw))


@contextmanager
def _shape(what: str) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise BundleError(f"{what} is malformed: publish again") from exc


def _kind(raw: Any) -> str:
    if raw["kind"] not in KINDS:
        raise ValueError(raw["kind"])
    return str(raw["kind"])


def _type(raw: Any) -> TypeSlice:
    return TypeSlice(
        kind=_kind(raw),
        description=_text(raw, "description", ""),
        directives=_text(raw, "directives", ""),
        interfaces=_names(raw.get("interfaces", [])),
        fields={name: _field(field) for name, field in raw.get("fields", {}).items()},
        inputs={name: _input(value) for name, value in raw.get("inputs", {}).items()},
        values={name: _value(value) for name, value in raw.get("values", {}).items()},
        members=_names(raw.get("members", [])),
    )


def _field(raw: Any) -> Field:
    return Field(
        type=_text(raw, "type"),
        arguments={name: _input(value) for name, value in raw.get("arguments", {}).items()},
        description=_text(raw, "description", ""),
        directives=_text(raw, "directives", ""),
        size=_list_size(raw["size"]) if "size" in raw else None,
        weight=_number(raw.get("weight", 0)),
    )


def _list_size(raw: Any) -> ListSize:
    return ListSize(
        assumed=int(_number(raw["assumed"])) if "assumed" in raw else None,
        default=int(_number(raw["default"])) if "default" in raw else None,
        slicing=_names(raw.get("slicing", [])),
        fields=_names(raw.get("fields", [])),
        one_required=raw.get("one", False) is True,
    )


def _input(raw: Any) -> InputValue:
    return InputValue(
        type=_text(raw, "type"),
        default=_text(raw, "default", ""),
        description=_text(raw, "description", ""),
        directives=_text(raw, "directives", ""),
    )


def _value(raw: Any) -> tuple[str, str]:
    description, directives = _names(raw)
    return description, directives


def _names(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        raise TypeError(raw)
    return tuple(raw)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return value


def _text(raw: Any, key: str, default: str | None = None) -> str:
    text = raw[key] if default is None else raw.get(key, default)
    if not isinstance(text, str):
        raise TypeError(key)
    return text
