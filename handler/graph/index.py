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
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from handler.bundle.stored import index_key, shared_index_key
from handler.cold.records import record
from handler.errors.infrastructure import BundleError, ObjectNotFound
from handler.storage.storage import READ_TIMEOUT_S, Storage
from handler.strict_json import inside, parse_json, parse_stored, to_json_bytes

Reference = tuple[str, str, str]
"""A member, its argument or the empty string, and the named type of the argument or else of the member."""

Text = tuple[str, str, str, str]
"""A member, its argument, the member's type as it is printed, and its description.

The type itself has empty names; an argument, which a search reads for its name, has an empty description.
"""


KINDS = ("object", "interface", "union", "enum", "input", "scalar")

MALFORMED = (AttributeError, KeyError, TypeError, ValueError)
"""Errors of reading a value that does not have the expected shape."""

T = TypeVar("T")


class SchemaIndex:
    """The types of one schema. Each type, and each of its members, is parsed at its first use.

    Raises:
        BundleError: the content, or a part at its first use, does not have the shape that the compiler writes.
    """

    def __init__(self, raw: bytes) -> None:
        first, *lines = _lines(raw)
        head = inside("schema index", parse_stored, raw[first])
        self._raw = raw
        with expected_shape("the schema index"):
            self.description = text_in(head, "description")
            roots = head["roots"]
            self.roots = {kind: text_in(roots, kind) for kind in ("query", "mutation") if kind in roots}
            self.missing = frozenset(read_names(head["missing"]))  # named and absent types: those of subscriptions
            self.words: Mapping[str, Any] = dict(head.get("words", {}).items())  # read by a search alone
            self._directives: Mapping[str, Any] = dict(head.get("directives", {}).items())
            self._outlines: Mapping[str, Any] = dict(head["types"].items())
            self._entries: dict[str, Any] = dict(zip(self._outlines, lines, strict=True))
        self._types: dict[str, TypeSlice] = {}
        self._references: dict[str, list[Reference]] = {}  # of the types of which a view lacks a part

    def __iter__(self) -> Iterator[str]:
        return iter(self._outlines)

    def __contains__(self, name: str) -> bool:
        return name in self._outlines

    def __getitem__(self, name: str) -> TypeSlice:
        if name not in self._types:
            with expected_shape(f"the schema index's type {name}"):
                raw = self._read(name)
                self._types[name] = TypeSlice(
                    kind=self.kind(name),
                    description=text_in(raw, "description", ""),
                    directives=text_in(raw, "directives", ""),
                    interfaces=self.interfaces(name),
                    fields=_parts(name, raw.get("fields", {}), _field),
                    inputs=_parts(name, raw.get("inputs", {}), _input),
                    values=_parts(name, raw.get("values", {}), _value),
                    members=read_names(raw.get("members", [])),
                )
        return self._types[name]

    @cached_property
    def implementers(self) -> Mapping[str, tuple[str, ...]]:
        """Interface -> the types and interfaces that implement it, in the index's order."""
        return _turned(self._outlined.interfaces)

    @cached_property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """Type -> the types whose members or their arguments name it, in the index's order."""
        return _turned(self._outlined.targets)

    @cached_property
    def directives(self) -> Mapping[str, Directive]:
        """The API's own directives for requests, in the author's order."""
        with expected_shape("the schema index's directives"):
            return {
                name: Directive(
                    on=read_names(raw["on"]),
                    repeatable=raw["repeatable"] is True,
                    arguments={argument: _input(value) for argument, value in raw.get("arguments", {}).items()},
                    description=text_in(raw, "description", ""),
                )
                for name, raw in self._directives.items()
            }

    # These read only the outline.

    def kind(self, name: str) -> str:
        """Return a type's kind, one of ``KINDS``."""
        return self._outlined.kinds[name]

    def interfaces(self, name: str) -> tuple[str, ...]:
        """Return the interfaces that a type names."""
        return self._outlined.interfaces[name]

    def targets(self, name: str) -> tuple[str, ...]:
        """Return the types that a type's members and their arguments name."""
        return self._outlined.targets[name]

    # These read a type's own line without parsing its members, which would take three times as long.

    def weight(self, name: str) -> float | None:
        """Return the cost of one value of a type; ``None`` if the author sets none."""
        with expected_shape(f"the schema index's type {name}"):
            raw = self._read(name)
            return number_in(raw["weight"]) if "weight" in raw else None

    def members(self, name: str) -> tuple[str, ...]:
        """Return the names of a type's fields, inputs, values or union members."""
        try:
            raw = self._read(name)
            parts = raw.get("fields") or raw.get("inputs") or raw.get("values") or {}
            return read_names(raw.get("members", [])) or tuple(parts.keys())
        except MALFORMED as exc:  # not expected_shape: a view asks for the members of many types
            raise malformed(f"the schema index's type {name}") from exc

    def references(self, name: str) -> list[Reference]:
        """Return the types that a type's members and arguments name, each with the member or argument, in order."""
        if name not in self._references:
            with expected_shape(f"the schema index's type {name}"):
                self._references[name] = _references(self._read(name))
        return self._references[name]

    def read_all(self, names: Iterable[str]) -> None:
        """Parse the lines of types together, which takes less time than one after the other."""
        with expected_shape("the schema index"):
            unread = [name for name in names if isinstance(self._entries[name], slice)]
            lines = parse_json(b"[" + b",".join([self._raw[self._entries[name]] for name in unread]) + b"]")
            self._entries.update(zip(unread, lines, strict=True))

    def texts(self, name: str) -> Sequence[Text]:
        """Return the description of a type and of each of its parts."""
        try:
            return texts_in(self._read(name))
        except MALFORMED as exc:  # not expected_shape: a search asks for the texts of all types
            raise malformed(f"the schema index's type {name}") from exc

    @cached_property
    def _outlined(self) -> _Outlines:
        """The outlines of all types, parsed in one pass: a view asks for all of them."""
        kinds, interfaces, targets = outlines = _Outlines({}, {}, {})
        for name, text in self._outlines.items():
            try:
                kind, above, named = text.split(" ")
                if kind not in KINDS:
                    raise ValueError(kind)
            except MALFORMED as exc:
                raise malformed(f"the schema index's type {name}") from exc
            kinds[name] = kind
            interfaces[name] = tuple(above.split(",")) if above else ()
            targets[name] = tuple(named.split(",")) if named else ()
        return outlines

    def _read(self, name: str) -> Any:
        entry = self._entries[name]
        if isinstance(entry, slice):
            entry = self._entries[name] = parse_json(self._raw[entry])
        return entry


class _Outlines(NamedTuple):
    """Each type in the first line, stored as one text: lists of lists take much longer to read."""

    kinds: dict[str, str]
    interfaces: dict[str, tuple[str, ...]]
    targets: dict[str, tuple[str, ...]]


def write_index(content: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return the digest under which an index is stored, and the index's bytes."""
    types: Mapping[str, Any] = content["types"]
    targets = {name: dict.fromkeys(type_ for _, _, type_ in _references(raw)) for name, raw in types.items()}
    head = {
        **content,
        "missing": sorted({target for each in targets.values() for target in each} - types.keys()),
        "types": {
            name: " ".join((raw["kind"], ",".join(raw.get("interfaces", ())), ",".join(targets[name])))
            for name, raw in types.items()
        },
    }
    outlined = {"kind", "interfaces"}
    rest = ({key: part for key, part in raw.items() if key not in outlined} for raw in types.values())
    raw = b"\n".join(map(to_json_bytes, (head, *rest)))
    return hashlib.sha256(raw).hexdigest(), raw


def load_index(storage: Storage, endpoint: str, sha256: str, *, timeout_s: float = READ_TIMEOUT_S) -> bytes:
    """Read the stored schema index of an endpoint. One that an older release has published shares it with others.

    Raises:
        ObjectNotFound: there is no such index.
        StorageError: the storage does not answer as it should.
    """
    try:
        stored = storage.read(index_key(endpoint, sha256), timeout_s=timeout_s)
    except ObjectNotFound:
        with suppress(ObjectNotFound):
            shared = storage.read(shared_index_key(sha256), timeout_s=timeout_s)
            return shared.body if shared else b""
        raise
    return stored.body if stored else b""


def read_index(raw: bytes, *, sha256: str) -> SchemaIndex:
    """Read a stored index.

    Raises:
        BundleError: bytes that differ from their digest or are not an index.
    """
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise BundleError("the schema index does not match its digest: publish again")
    return SchemaIndex(raw)


def _lines(raw: bytes) -> Iterator[slice]:
    """Yield the place of each line. To split the text would copy megabytes, of which a request reads little."""
    start = 0
    while (end := raw.find(b"\n", start)) >= 0:
        yield slice(start, end)
        start = end + 1
    yield slice(start, len(raw))


def _references(raw: Any) -> list[Reference]:
    references = [(member, "", member) for member in read_names(raw.get("members", []))]
    for member, part in (raw.get("fields") or raw.get("inputs") or {}).items():
        references.append((member, "", named_type(part["type"])))
        for argument, value in part.get("arguments", {}).items():
            references.append((member, argument, named_type(value["type"])))
    return references


def texts_in(raw: Any) -> list[Text]:
    """Return the description of a type, given its line, and of each of its parts."""
    texts = [("", "", "", text_in(raw, "description", ""))]
    texts += [(member, "", "", description) for member, (description, _) in raw.get("values", {}).items()]
    for member, part in (raw.get("fields") or raw.get("inputs") or {}).items():
        texts.append((member, "", part["type"], part.get("description", "")))
        texts += [(member, argument, "", "") for argument in part.get("arguments", ())]
    return texts


def _turned(named_by: Mapping[str, Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    turned: defaultdict[str, list[str]] = defaultdict(list)
    for name, others in named_by.items():
        for other in others:
            turned[other].append(name)
    return {other: tuple(names) for other, names in turned.items()}


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


def named_type(type_text: str) -> str:
    """Return the named type below lists and non-nulls: ``Order`` of ``[Order!]!``."""
    return type_text.strip("[]!")


@contextmanager
def expected_shape(part: str) -> Iterator[None]:
    """Turn errors of reading into one error that names the part of the index.

    Raises:
        BundleError: a value does not have the shape that the compiler writes.
    """
    try:
        yield
    except MALFORMED as exc:
        raise malformed(part) from exc


def malformed(part: str) -> BundleError:
    """Return the error for a part of the index that does not have the shape that the compiler writes."""
    return BundleError(f"{part} is malformed: publish again")


class Lazy(Mapping[str, T]):
    """Values by name, each made at its first use: a request needs few of many."""

    def __init__(self, names: Mapping[str, object], make: Callable[[str], T]) -> None:
        self._names = names
        self._make = make
        self._values: dict[str, T] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            if name not in self._names:
                raise KeyError(name)
            self._values[name] = self._make(name)
        return self._values[name]


def _parts(type_name: str, raw: Any, read: Callable[[Any], T]) -> Mapping[str, T]:
    if not isinstance(raw, dict):
        raise TypeError(raw)

    def make(name: str) -> T:
        with expected_shape(f"the schema index's type {type_name}"):
            return read(raw[name])

    return Lazy(raw, make)


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
        slicing=read_names(raw.get("slicing", [])),
        fields=read_names(raw.get("fields", [])),
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
    description, directives = read_names(raw)
    return description, directives


def read_names(raw: Any) -> tuple[str, ...]:
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
