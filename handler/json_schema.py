"""Whether a value fits a JSON Schema (2020-12). Nothing outside the schema is ever read."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from handler.bundle import JSONObject
from handler.formats import FORMATS, MAX_MATCHED_CHARS
from handler.violations import pointer_of, sentences

MAX_VIOLATIONS = 50
MAX_PLACES = 10

Formats = bool | Mapping[str, Callable[[str], bool]]

_IN_CLASS_OR_END = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\$", re.DOTALL)


class Checker:
    """One schema, ready to check values. ``formats``: whether texts are checked, or with further checks.

    ``of_graphql``: the compiler made it from GraphQL types.
    """

    def __init__(self, schema: JSONObject, *, formats: Formats = True, of_graphql: bool = False) -> None:
        make = _standard_class(formats) if isinstance(formats, bool) else _validator_class(formats)
        self._validator = make(schema, registry=Registry())
        self._of_graphql = of_graphql

    def violations(self, value: Any) -> list[str]:
        """What is wrong: JSON pointers, what was expected and what came. After 50 of them, that there is more."""
        found: list[str] = []
        for error in self._validator.iter_errors(value):
            found += sentences(error, of_graphql=self._of_graphql)
            if len(found) > MAX_VIOLATIONS:
                return [*found[:MAX_VIOLATIONS], "and more"]
        return found

    def places(self, value: Any) -> list[str]:
        """The first places where it is wrong, and by which rule, without anything of the value."""
        errors = islice(self._validator.iter_errors(value), MAX_PLACES)
        return [f"{pointer_of(error.absolute_path)}: {error.validator}" for error in errors]

    def misfits(self, values: Mapping[str, Any]) -> list[str]:
        """The names among ``values`` that do not fit."""
        return [str(error.absolute_path[0]) for error in self._validator.iter_errors(values) if error.absolute_path]


def refuse_bad_schema(schema: JSONObject) -> None:
    """Check a schema that an author wrote.

    Raises:
        ValueError: it is none of JSON Schema 2020-12, refers to another document, or has a pattern that Python has not.
    """
    for part in _objects(schema):
        if isinstance(part.get("pattern"), str):
            _compile(part["pattern"])
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as exc:
        raise ValueError(f"{pointer_of(exc.absolute_path)}: {exc.message}") from exc
    known = {each["$id"] for each in _objects(schema) if isinstance(each.get("$id"), str)}
    for part in _objects(schema):
        reference = part.get("$ref", "#")
        if isinstance(reference, str) and "://" in reference and reference.partition("#")[0] not in known:
            raise ValueError(f"{reference} is another document, and none is ever fetched")


def _objects(schema: Any) -> Iterator[JSONObject]:
    if isinstance(schema, dict):
        yield schema
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for part in parts:
        yield from _objects(part)


@functools.lru_cache(maxsize=1_000)
def _compile(pattern: str) -> re.Pattern[str]:
    r"""A pattern as ECMAScript means it: ``$`` stands at the very end, ``\d`` and ``\w`` are ASCII.

    Raises:
        ValueError: Python has no such pattern.
    """
    ends = _IN_CLASS_OR_END.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)
    try:
        return re.compile(ends, re.ASCII)
    except re.error as exc:
        raise ValueError(f"pattern {pattern}: {exc}") from exc


@functools.cache
def _standard_class(formats: bool) -> Any:  # noqa: FBT001 - one of the two that are kept
    return _validator_class(formats)


def _validator_class(formats: Formats) -> Any:
    """Jsonschema itself checks no format and bounds no pattern."""
    own = formats if isinstance(formats, Mapping) else {}

    def check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
        fits = own.get(name) or (FORMATS[name].fits if name in FORMATS and formats is not False else None)
        if fits and isinstance(text, str) and not fits(text):  # other formats say what a text is for
            yield ValidationError("format")

    rules = {"format": check_format, "pattern": _check_pattern}
    return extend(Draft202012Validator, rules)  # type: ignore[no-untyped-call]


def _check_pattern(_validator: Any, pattern: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(text, str) and (len(text) > MAX_MATCHED_CHARS or not _compile(pattern).search(text)):
        yield ValidationError("pattern")
