"""Whether a value fits a JSON Schema, and what to say where it does not."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from handler.bundle import JSONObject
from handler.formats import FORMATS, MAX_MATCHED_CHARS

MAX_VIOLATIONS = 50
MAX_PLACES = 10
MAX_SHOWN_CHARS = 80

Formats = bool | Mapping[str, Callable[[str], bool]]

_IN_CLASS_OR_END = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\$", re.DOTALL)


class Checker:
    """One schema, ready to check values. Nothing outside it is ever read."""

    def __init__(self, schema: JSONObject, *, formats: Formats = True) -> None:
        make = _standard_class(formats) if isinstance(formats, bool) else _validator_class(formats)
        self._validator = make(schema, registry=Registry())

    def violations(self, value: Any) -> list[str]:
        """What is wrong: JSON pointers, what was expected and what came. After 50 of them, that there is more."""
        found: list[str] = []
        for error in self._validator.iter_errors(value):
            found += _sentences(error)
            if len(found) > MAX_VIOLATIONS:
                return [*found[:MAX_VIOLATIONS], "and more"]
        return found

    def places(self, value: Any) -> list[str]:
        """The first places where it is wrong, and by which rule, without anything of the value."""
        errors = islice(self._validator.iter_errors(value), MAX_PLACES)
        return [f"{pointer_of(error.absolute_path)}: {error.validator}" for error in errors]


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
    own = formats if isinstance(formats, Mapping) else {}

    def check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
        fits = own.get(name) or (FORMATS[name].fits if name in FORMATS and formats is not False else None)
        if fits and isinstance(text, str) and not fits(text):
            yield ValidationError("format")

    rules = {"format": check_format, "pattern": _check_pattern}
    return extend(Draft202012Validator, rules)  # type: ignore[no-untyped-call]


def _check_pattern(_validator: Any, pattern: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(text, str) and (len(text) > MAX_MATCHED_CHARS or not _compile(pattern).search(text)):
        yield ValidationError("pattern")


def _sentences(error: Any) -> list[str]:
    pointer = pointer_of(error.absolute_path)
    match error.validator:
        case "required":
            # jsonschema reports each missing name as an error of its own.
            missing = [name for name in error.validator_value if error.message.startswith(f"{name!r} ")]
            found = [f"{_below(pointer, name)}: required, but missing" for name in missing]
        case "additionalProperties" if error.validator_value is False:
            found = [
                f"{_below(pointer, name)}: unknown name" for name in error.instance if _is_unknown(name, error.schema)
            ]
        case "anyOf" | "oneOf" if error.context:
            found = _of_any(error)
        case _:
            found = []
    return found or [f"{pointer}: expected {_expected(error)}, got {_shown(error.instance)}"]


def _is_unknown(name: str, schema: Any) -> bool:
    patterns = schema.get("patternProperties", {})
    return name not in schema.get("properties", {}) and not any(re.search(each, name) for each in patterns)


def _of_any(error: Any) -> list[str]:
    """What is wrong in the one branch that the value was meant for, or else all that was expected."""
    branches = [list(group) for _, group in groupby(error.context, key=lambda each: each.schema_path[0])]
    meant = [branch for branch in branches if not any(_is_other_kind(each, error) for each in branch)]
    if len(meant) == 1:
        return [sentence for each in meant[0] for sentence in _sentences(each)]
    kinds = [next((each for each in branch if _is_other_kind(each, error)), branch[0]) for branch in branches]
    at = kinds[0] if len({tuple(each.absolute_path) for each in kinds}) == 1 else error
    expected = dict.fromkeys(map(_expected, kinds))
    return [f"{pointer_of(at.absolute_path)}: expected {' or '.join(expected)}, got {_shown(at.instance)}"]


def _is_other_kind(found: Any, error: Any) -> bool:
    """Whether a value was hardly meant for a branch: its type is another, or the constant that tells kinds apart."""
    depth = len(found.absolute_path) - len(error.absolute_path)
    return (found.validator in ("type", "enum") and depth == 0) or (found.validator == "const" and depth <= 1)


def _expected(error: Any) -> str:
    say = EXPECTED.get(error.validator)
    return say(error.validator_value) if say else f"{error.validator} {_cut(json.dumps(error.validator_value))}"


def _format(name: str) -> str:
    return FORMATS[name].expected if name in FORMATS else f"a text of the format {name}"


EXPECTED: Mapping[str, Callable[[Any], str]] = {
    "type": lambda types: types if isinstance(types, str) else " or ".join(types),
    "enum": lambda values: f"one of {_cut(', '.join(map(json.dumps, values)), 1_000)}",
    "const": json.dumps,
    "format": _format,
    "pattern": lambda pattern: f"a text of at most {MAX_MATCHED_CHARS} characters that matches {pattern}",
    "minimum": lambda least: f"at least {least}",
    "maximum": lambda most: f"at most {most}",
    "exclusiveMinimum": lambda bound: f"more than {bound}",
    "exclusiveMaximum": lambda bound: f"less than {bound}",
    "multipleOf": lambda factor: f"a multiple of {factor}",
    "minLength": lambda least: f"a length of at least {least}",
    "maxLength": lambda most: f"a length of at most {most}",
    "minItems": lambda least: f"at least {least} items",
    "maxItems": lambda most: f"at most {most} items",
    "uniqueItems": lambda _: "no item twice",
}
"""What is said of a value, by the keyword that it breaks."""


def pointer_of(path: Iterable[Any]) -> str:
    """RFC 6901; the whole is shown as ``/``, which reads better than nothing."""
    return "".join(_below("", str(part)) for part in path) or "/"


def _below(pointer: str, name: str) -> str:
    return f"{pointer.rstrip('/')}/{_cut(name).replace('~', '~0').replace('/', '~1')}"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "object"
        case list():
            return "array"
        case str():
            return f"string {_cut(json.dumps(_cut(value), ensure_ascii=False))}"
        case bool():
            return f"boolean {json.dumps(value)}"
        case int():
            return f"integer {_cut(str(value))}"
    return f"number {_cut(json.dumps(value))}"


def _cut(text: str, chars: int = MAX_SHOWN_CHARS) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"
