from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry

from handler.bundle import JSONObject
from handler.errors import InvalidArguments

MAX_VIOLATIONS = 50


class ArgumentsValidator:
    """One tool's enforced schema, ready to check calls. Built once per bundle version.

    The compiler made and checked the schema; nothing here resolves a reference outside it.
    """

    def __init__(self, tool: str, schema: JSONObject) -> None:
        self._tool = tool
        self._validator = Draft202012Validator(schema, registry=Registry())

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check the arguments of a call.

        Raises:
            InvalidArguments: with every violation: a JSON pointer, what was expected and what came.
        """
        violations: list[str] = []
        for error in self._validator.iter_errors(arguments):
            violations += _sentences(error)
            if len(violations) >= MAX_VIOLATIONS:
                break
        if violations:
            raise InvalidArguments(self._tool, violations)


# What a violation carries is typed as "anything" by jsonschema, so the functions below take it as such.


def _sentences(error: Any) -> list[str]:
    pointer = _pointer(error.absolute_path)
    describe = SENTENCES.get(str(error.validator))
    return describe(pointer, error) if describe else [f"{pointer}: {error.message}"]


def _required(pointer: str, error: Any) -> list[str]:
    missing = [name for name in error.validator_value if name not in error.instance]
    # jsonschema reports each missing name as an error of its own; each names one.
    return [f"{_below(pointer, name)}: required, but missing" for name in missing if f"'{name}'" in error.message]


def _unknown(pointer: str, error: Any) -> list[str]:
    known = list(error.schema.get("properties", {}))
    unknown = islice((name for name in error.instance if name not in known), MAX_VIOLATIONS)
    return [f"{_below(pointer, name)}: unknown name{_hint(name, known)}" for name in unknown]


def _type(pointer: str, error: Any) -> list[str]:
    types = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    return [f"{pointer}: expected {' or '.join(types)}, got {_shown(error.instance)}"]


def _enum(pointer: str, error: Any) -> list[str]:
    names = ", ".join(json.dumps(value) for value in error.validator_value)
    return [f"{pointer}: expected one of {names}, got {_shown(error.instance)}"]


def _bound(pointer: str, error: Any) -> list[str]:
    side = "at least" if error.validator == "minimum" else "at most"
    return [f"{pointer}: expected {side} {error.validator_value}, got {_shown(error.instance)}"]


SENTENCES: Mapping[str, Callable[[str, Any], list[str]]] = {
    "required": _required,
    "additionalProperties": _unknown,
    "type": _type,
    "enum": _enum,
    "minimum": _bound,
    "maximum": _bound,
}


def _pointer(path: Any) -> str:
    """RFC 6901; the whole is shown as ``/``, which reads better than nothing."""
    return "".join(_below("", str(part)) for part in path) or "/"


def _below(pointer: str, name: str) -> str:
    return f"{pointer.rstrip('/')}/{name.replace('~', '~0').replace('/', '~1')}"


def _hint(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; known here: {', '.join(known) or 'none'}"


def _shown(value: Any) -> str:
    kind = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    name = kind.get(type(value), "null")
    text = "" if value is None or isinstance(value, dict | list) else f" {json.dumps(value)}"
    return name + (text if len(text) <= 80 else f"{text[:79]}…")
