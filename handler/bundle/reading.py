"""Read stored records: the annotation of each field says what its member holds. An error names the place.

Annotations are names in ``READERS``, records, unions of records with a ``KIND``, and ``X | None``, ``tuple[X, ...]``
and ``Mapping[str, X]`` of these.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import UnionType
from typing import Any, TypeVar

from handler.cold.records import fields_of
from handler.errors.infrastructure import BundleError
from handler.policy.evaluation import Mask
from handler.strict_json import Entry, JSONObject

T = TypeVar("T")

Reader = Callable[[Any], Any]


def read_record(cls: type[T], raw: Any) -> T:
    """Read the object that ``write_bundle`` writes for a record.

    A field with a default may be missing, and members without a field are ignored: other releases wrote the object.

    Raises:
        BundleError: a member of another type, or a missing one; the error has the path, such as ``tools[3].mask``.
    """
    members = _object(raw)
    given: JSONObject = {}
    name = ""
    try:
        for name, reader, is_optional in _fields(cls):  # type: ignore[arg-type]  # mypy takes a class for unhashable
            if name in members or not is_optional:
                given[name] = reader(members.get(name))
    except BundleError as exc:
        raise exc.inside(name) from exc
    return cls(**given)


@cache
def _fields(cls: type) -> tuple[tuple[str, Reader, bool], ...]:
    names = vars(sys.modules[cls.__module__])
    return tuple((name, _reader_of(text, names), is_optional) for name, text, is_optional in fields_of(cls))


def _reader_of(annotation: str, names: Mapping[str, Any]) -> Reader:
    """Return the reader of values of a type. ``names`` are those of the module that names the type."""
    if annotation in READERS:
        return READERS[annotation]
    if annotation.endswith(" | None"):
        return partial(_optional, _reader_of(annotation.removesuffix(" | None"), names))
    if annotation.startswith("tuple["):
        return partial(_each, _reader_of(annotation.removeprefix("tuple[").removesuffix(", ...]"), names))
    if annotation.startswith("Mapping[str, "):
        return partial(_values, _reader_of(annotation.removeprefix("Mapping[str, ").removesuffix("]"), names))
    named = names[annotation]
    if isinstance(named, UnionType):
        return partial(_of_kind, {cls.KIND: cls for cls in named.__args__})
    return partial(read_record, named)


def _optional(reader: Reader, raw: Any) -> Any:
    return None if raw is None else reader(raw)


def _each(reader: Reader, raw: Any) -> tuple[Any, ...]:
    items = _list(raw)
    read: list[Any] = []
    try:
        for item in items:
            read.append(reader(item))  # noqa: PERF401 - its length is the place of an error
    except BundleError as exc:
        raise exc.inside(f"[{len(read)}]") from exc
    return tuple(read)


def _values(reader: Reader, raw: Any) -> dict[str, Any]:
    read: JSONObject = {}
    name = ""
    items = _object(raw).items()
    try:
        for name, item in items:
            read[name] = reader(item)
    except BundleError as exc:
        raise exc.inside(f"[{name}]") from exc
    return read


def _of_kind(records: Mapping[str, type], raw: Any) -> Any:
    kind = _object(raw).get("kind")
    if type(kind) is not str:
        raise _wrong_type(kind, "a string").inside("kind")
    if kind not in records:
        raise BundleError(f"expected one of {', '.join(records)}, got {kind!r}", path="kind")
    return read_record(records[kind], raw)


def _exactly(kind: type, name: str) -> Reader:
    """Return a reader of one type: ``True`` is not an integer."""

    def read(raw: Any) -> Any:
        if type(raw) is not kind:
            raise _wrong_type(raw, name)
        return raw

    return read


def _number(raw: Any) -> float:
    """Read a number; the JSON of a whole number is that of an integer."""
    if type(raw) is int and abs(raw) < 2**53:
        return float(raw)
    if type(raw) is not float:
        raise _wrong_type(raw, "a number")
    return raw


def _mask(raw: Any) -> Mask:
    if type(raw) is not list or not all(type(number) is int for number in raw):
        raise _wrong_type(raw, "a list of condition numbers")
    return frozenset(raw)


def _listed(raw: Any) -> Entry:
    return Entry(_object(raw))


def _wrong_type(value: Any, expected: str) -> BundleError:
    return BundleError(f"expected {expected}, got {'nothing' if value is None else type(value).__name__}")


_list = _exactly(list, "a list")
_object = _exactly(dict, "an object")

READERS: Mapping[str, Reader] = {
    "Any": lambda raw: raw,
    "JSONObject": _object,
    "ListedEntry": _listed,
    "Mask": _mask,
    "Predicate": _object,
    "SecretText": _exactly(str, "a string"),
    "bool": _exactly(bool, "true or false"),
    "float": _number,
    "int": _exactly(int, "an integer"),
    "str": _exactly(str, "a string"),
}
"""Name in an annotation -> reader of its values."""
