"""The schema index: a schema as pure data, so that views of it need no graphql-core.

The compiler makes it once; it is stored under its own digest. Types are in a reader's order (root types first, then
the author's order), and every text in the index is already in its printed form.

The stored form is lines of JSON. The first line has the outline of every type, which a view follows through the whole
schema. Each further line has the rest of one type; a request reads few of these.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from handler.errors.infrastructure import BundleError
from handler.records import record
from handler.strict_json import inside, parse_json, parse_stored, to_json_bytes

T = TypeVar("T")

ROOT_KINDS = ("query", "mutation")
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


OUTLINED = ("kind", "interfaces")
"""The parts of a type's entry that only its outline has."""

Reference = tuple[str, str, str]
"""A member, its argument or the empty string, and the named type of the argument or else of the member."""


def named(type_text: str) -> str:
    """Return the named type below lists and non-nulls: ``Order`` of ``[Order!]!``."""
    return type_text.strip("[]!")


class SchemaIndex:
    """The types of one schema. Each type, and each of its members, is parsed at its first use.

    Raises:
        BundleError: the content, or a part at its first use, does not have the shape that the compiler writes.
    """

    def __init__(self, head: Any, lines: Sequence[bytes]) -> None:
        with _shape("the schema index"):
            self.description = _text(head, "description")
            self.roots = {kind: _text(head["roots"], kind) for kind in ROOT_KINDS if kind in head["roots"]}
            self.missing = frozenset(_names(head["missing"]))  # types that are named and absent: those of subscriptions
            self._directives: Mapping[str, Any] = dict(head.get("directives", {}).items())
            self._outlines: Mapping[str, Any] = dict(head["types"].items())
            self._entries: dict[str, Any] = dict(zip(self._outlines, lines, strict=True))
        self._outlined: dict[str, _Outline] = {}
        self._types: dict[str, TypeSlice] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._outlines)

    def __contains__(self, name: str) -> bool:
        return name in self._outlines

    def __getitem__(self, name: str) -> TypeSlice:
        found = self._types.get(name)
        if found is None:
            with _shape(f"the schema index's type {name}"):
                found = self._types[name] = _type(name, self._outline(name), self._read(name))
        return found

    @cached_property
    def implementers(self) -> Mapping[str, tuple[str, ...]]:
        """Interface -> the types and interfaces that implement it, in the index's order."""
        return _turned({name: self.interfaces(name) for name in self})

    @cached_property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """Type -> the types whose members or their arguments name it, in the index's order."""
        return _turned({name: self.targets(name) for name in self})

    @cached_property
    def directives(self) -> Mapping[str, Directive]:
        """The API's own directives for requests, in the author's order."""
        with _shape("the schema index's directives"):
            return {name: _directive(raw) for name, raw in self._directives.items()}

    # These read only the outline.

    def kind(self, name: str) -> str:
        """Return a type's kind, one of ``KINDS``."""
        return self._outline(name).kind

    def interfaces(self, name: str) -> tuple[str, ...]:
        """Return the interfaces that a type names."""
        return self._outline(name).interfaces

    def targets(self, name: str) -> tuple[str, ...]:
        """Return the types that a type's members and their arguments name."""
        return self._outline(name).targets

    # These read a type's own line without parsing its members, which would take three times as long.

    def weight(self, name: str) -> float | None:
        """Return the cost of one value of a type; ``None`` if the author sets none."""
        with _shape(f"the schema index's type {name}"):
            raw = self._read(name)
            return _number(raw["weight"]) if "weight" in raw else None

    def members(self, name: str) -> tuple[str, ...]:
        """Return the names of a type's fields, inputs, values or union members."""
        with _shape(f"the schema index's type {name}"):
            raw = self._read(name)
            return _names(raw.get("members", [])) or tuple(
                (raw.get("fields") or raw.get("inputs") or raw.get("values") or {}).keys()
            )

    def references(self, name: str) -> list[Reference]:
        """Return the types that a type's members and arguments name, each with the member or argument, in order."""
        with _shape(f"the schema index's type {name}"):
            return _references(self._read(name))

    def _outline(self, name: str) -> _Outline:
        found = self._outlined.get(name)
        if found is None:
            try:
                found = self._outlined[name] = _read_outline(self._outlines[name])
            except MALFORMED as exc:  # not _shape: a view asks for the outlines of all types
                raise _malformed(f"the schema index's type {name}") from exc
        return found

    def _read(self, name: str) -> Any:
        entry = self._entries[name]
        if isinstance(entry, bytes):
            entry = self._entries[name] = parse_json(entry)  # replaces the line, which is no longer needed
        return entry


class _Outline(NamedTuple):
    """A type in the first line, stored as one text: lists of lists take much longer to read."""

    kind: str
    interfaces: tuple[str, ...]
    targets: tuple[str, ...]


def write_index(content: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return the digest under which an index is stored, and the index's bytes."""
    types: Mapping[str, Any] = content["types"]
    outlines = {name: _outline_of(raw) for name, raw in types.items()}
    named_types = {name for outline in outlines.values() for name in outline.targets}
    head = {
        **content,
        "missing": sorted(named_types - types.keys()),
        "types": {name: _write_outline(outline) for name, outline in outlines.items()},
    }
    rest = ({key: part for key, part in raw.items() if key not in OUTLINED} for raw in types.values())
    raw = b"\n".join(map(to_json_bytes, (head, *rest)))
    return hashlib.sha256(raw).hexdigest(), raw


def read_index(raw: bytes, *, sha256: str) -> SchemaIndex:
    """Read a stored index.

    Raises:
        BundleError: bytes that differ from their digest or are not an index.
    """
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise BundleError("the schema index does not match its digest: publish again")
    head, *lines = raw.split(b"\n")
    return SchemaIndex(inside("schema index", parse_stored, head), lines)


def _outline_of(raw: Any) -> _Outline:
    targets = dict.fromkeys(type_ for _, _, type_ in _references(raw))
    return _Outline(raw["kind"], tuple(raw.get("interfaces", ())), tuple(targets))


def _write_outline(outline: _Outline) -> str:
    return " ".join((outline.kind, ",".join(outline.interfaces), ",".join(outline.targets)))


def _read_outline(text: str) -> _Outline:
    kind, interfaces, targets = text.split(" ")
    if kind not in KINDS:
        raise ValueError(kind)
    return _Outline(
        kind, tuple(interfaces.split(",")) if interfaces else (), tuple(targets.split(",")) if targets else ()
    )


def _references(raw: Any) -> list[Reference]:
    found = [(member, "", member) for member in _names(raw.get("members", []))]
    for member, part in (raw.get("fields") or raw.get("inputs") or {}).items():
        found.append((member, "", named(_text(part, "type"))))
        for argument, value in part.get("arguments", {}).items():
            found.append((member, argument, named(_text(value, "type"))))
    return found


def _turned(named_by: Mapping[str, Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, others in named_by.items():
        for other in others:
            found[other].append(name)
    return {other: tuple(names) for other, names in found.items()}


@contextmanager
def _shape(what: str) -> Iterator[None]:
    try:
        yield
    except MALFORMED as exc:
        raise _malformed(what) from exc


MALFORMED = (AttributeError, KeyError, TypeError, ValueError)
"""Errors of reading a value that does not have the expected shape."""


def _malformed(what: str) -> BundleError:
    return BundleError(f"{what} is malformed: publish again")


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
            with _shape(f"the schema index's type {self._type_name}"):
                self._parsed[name] = self._parse(raw)
        return self._parsed[name]


def _type(name: str, outline: _Outline, raw: Any) -> TypeSlice:
    return TypeSlice(
        kind=outline.kind,
        description=_text(raw, "description", ""),
        directives=_text(raw, "directives", ""),
        interfaces=outline.interfaces,
        fields=_Members(name, raw.get("fields", {}), _field),
        inputs=_Members(name, raw.get("inputs", {}), _input),
        values=_Members(name, raw.get("values", {}), _value),
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


def _directive(raw: Any) -> Directive:
    return Directive(
        on=_names(raw["on"]),
        repeatable=raw["repeatable"] is True,
        arguments={name: _input(value) for name, value in raw.get("arguments", {}).items()},
        description=_text(raw, "description", ""),
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
