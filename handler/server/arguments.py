from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from handler.bundle import JSONObject
from handler.errors import InvalidArguments
from handler.formats import FORMATS, MAX_MATCHED_CHARS

MAX_VIOLATIONS = 50

MAX_SHOWN_CHARS = 80
MAX_SHOWN_NAMES = 30

ANY_TYPE = {"string", "number", "boolean", "object", "array"}
"""All but ``null``."""

# What jsonschema hands over, and what a violation carries, is typed as "anything", so the functions below take it so.


def _check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    known = FORMATS.get(name)  # others say what a text is for, and check nothing
    if known and isinstance(text, str) and not known.fits(text):
        yield ValidationError("format")


def _check_pattern(_validator: Any, pattern: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    # ASCII, as in ECMAScript, which the pattern is advertised for.
    if isinstance(text, str) and (len(text) > MAX_MATCHED_CHARS or not re.search(pattern, text, re.ASCII)):
        yield ValidationError("pattern")


# jsonschema itself checks no format and bounds no pattern.
_Validator: Any = extend(Draft202012Validator, {"format": _check_format, "pattern": _check_pattern})  # type: ignore[no-untyped-call]


class ArgumentsValidator:
    """One tool's enforced schema, ready to check calls. Built once per bundle version.

    The compiler made and checked the schema; nothing here resolves a reference outside it.
    """

    def __init__(self, tool: str, schema: JSONObject) -> None:
        self._tool = tool
        self._validator = _Validator(schema, registry=Registry())

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check the arguments of a call.

        Raises:
            InvalidArguments: with each violation: a JSON pointer, what was expected and what came. After
                ``MAX_VIOLATIONS`` of them it says that there are more.
        """
        violations: list[str] = []
        for error in self._validator.iter_errors(arguments):
            violations += _sentences(error)
            if len(violations) > MAX_VIOLATIONS:
                violations[MAX_VIOLATIONS:] = ["and more"]
                break
        if violations:
            raise InvalidArguments(self._tool, violations)

    def misfits(self, values: Mapping[str, Any]) -> list[str]:
        """The names among ``values`` that do not fit."""
        return [str(error.absolute_path[0]) for error in self._validator.iter_errors(values) if error.absolute_path]


def _sentences(error: Any) -> list[str]:
    pointer = _pointer(error.absolute_path)
    if error.validator in BELOW:
        return BELOW[error.validator](pointer, error)
    if error.validator in ("minProperties", "maxProperties") and _takes_one(error.schema):
        return _one_of(pointer, error)
    expected = EXPECTED.get(error.validator, _unforeseen)(error)
    return [f"{pointer}: expected {expected}, got {_shown(error.instance)}"]


def _required(pointer: str, error: Any) -> list[str]:
    missing = [name for name in error.validator_value if name not in error.instance]
    # jsonschema reports each missing name as an error of its own; each names one.
    return [f"{_below(pointer, name)}: required, but missing" for name in missing if f"'{name}'" in error.message]


def _unknown(pointer: str, error: Any) -> list[str]:
    known = list(error.schema.get("properties", {}))
    unknown = islice((name for name in error.instance if name not in known), MAX_VIOLATIONS + 1)
    return [f"{_below(pointer, name)}: unknown name{_hint(name, known)}" for name in unknown]


def _takes_one(schema: Any) -> bool:
    return bool(schema.get("minProperties") == schema.get("maxProperties") == 1)


def _one_of(pointer: str, error: Any) -> list[str]:
    names = _some(list(error.schema.get("properties", {})))
    given = _some([_cut(name) for name in error.instance]) or "none"
    return [f"{pointer}: expected exactly one of {names}, got {given}"]


BELOW: Mapping[str, Callable[[str, Any], list[str]]] = {
    "required": _required,
    "additionalProperties": _unknown,
}
"""What is said of an object's names."""


def _type(error: Any) -> str:
    types = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    if set(types) == ANY_TYPE:
        return "a value"
    listed = ["array"] if _stands_for_a_list(error) else []
    return " or ".join([*listed, *types])


def _enum(error: Any) -> str:
    values = [json.dumps(value) for value in error.validator_value]
    listed = "an array or " if _stands_for_a_list(error) else ""
    return f"{listed}one of {_some(values)}{_near_value(error)}"


def _near_value(error: Any) -> str:
    """The value that a caller may have meant; whoever sends ``large`` for ``LARGE`` reads it in the list."""
    names = [str(value) for value in error.validator_value if value is not None]
    if not isinstance(error.instance, str) or len(names) <= MAX_SHOWN_NAMES:
        return ""
    near = _nearest(error.instance, names)
    return "" if near is None else f" (did you mean {json.dumps(near)}?)"


def _format(error: Any) -> str:
    return FORMATS[error.validator_value].expected


def _pattern(error: Any) -> str:
    if len(error.instance) > MAX_MATCHED_CHARS:
        return f"a length of at most {MAX_MATCHED_CHARS}"
    # The compiler keeps the author's pattern beside what Python runs.
    return f"a text that matches {error.schema.get('$comment', error.validator_value)}"


EXPECTED: Mapping[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _enum,
    "format": _format,
    "pattern": _pattern,
    "minimum": lambda error: f"at least {error.validator_value}",
    "maximum": lambda error: f"at most {error.validator_value}",
    "exclusiveMinimum": lambda error: f"more than {error.validator_value}",
    "exclusiveMaximum": lambda error: f"less than {error.validator_value}",
    "minLength": lambda error: f"a length of at least {error.validator_value}",
    "maxLength": lambda error: f"a length of at most {error.validator_value}",
}
"""What is said of a value."""


def _unforeseen(error: Any) -> str:
    return f"{error.validator} {_cut(json.dumps(error.validator_value))}"


def _stands_for_a_list(error: Any) -> bool:
    """Whether the value was judged as the single item that may stand for a list."""
    *above, _ = error.absolute_schema_path
    while above and above[-1] == "then":  # of a reference that null may stand for
        above.pop()
    return bool(above) and above[-1] == "else"


def _pointer(path: Any) -> str:
    """RFC 6901; the whole is shown as ``/``, which reads better than nothing."""
    return "".join(_below("", str(part)) for part in path) or "/"


def _below(pointer: str, name: str) -> str:
    return f"{pointer.rstrip('/')}/{_cut(name).replace('~', '~0').replace('/', '~1')}"


def _hint(name: str, known: Sequence[str]) -> str:
    near = _nearest(name, known)
    return f"; known here: {_some(known) or 'none'}" if near is None else f"; did you mean {near}?"


def _nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that a caller may have meant: the same in another case, or written with ``_``, before others."""
    for form in (str.lower, _plain):
        names = {form(each): each for each in reversed(known)}
        if form(name) in names:
            return names[form(name)]
    near = get_close_matches(_plain(_cut(name)), names, n=1)
    return names[near[0]] if near else None


def _plain(name: str) -> str:
    """``FIRST_NAME`` is ``firstName``."""
    return name.lower().replace("_", "")


def _some(names: Sequence[str]) -> str:
    more = len(names) - MAX_SHOWN_NAMES
    return ", ".join(names[:MAX_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _shown(value: Any) -> str:
    kind = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    name = kind.get(type(value), "null")
    match value:
        case None | dict() | list():
            return name
        case str():
            return f"{name} {_cut(json.dumps(_cut(value), ensure_ascii=False))}"
        case _:
            return f"{name} {_cut(json.dumps(value))}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"
