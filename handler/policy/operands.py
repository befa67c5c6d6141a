"""Operands of predicates: claims, variables and literals, compiled to functions that find their values.

    operand: {"value": literal} or {"jwt": path, "type": "String"} or {"variables": path, "type": "String"}

A path is a list of texts. A text in a claim's path may be several names joined by dots and slashes, see ``_claim``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

UNKNOWN: Any = object()
"""Stands for an unknown value of a variable, or for unknown claims of a verified token."""

MISSING: Any = object()
"""Stands for no value, or for no value of the required type."""

MAX_DEPTH = 128
"""Levels that are followed into a predicate or into claims: more than any condition of the compiler has."""

JSONObject = dict[str, Any]

Find = Callable[[JSONObject | None, JSONObject | None], Any]
"""A compiled operand: a function of claims and variables that returns the operand's value.

Without a verified token there are no claims (``None``). Claims may be ``UNKNOWN``. Without variables (``None``) each
variable is unknown.
"""

Read = Callable[[Any], Any]
"""A function that returns a value of one type as it is compared, or ``MISSING`` for a value of another type."""


def always(found: Any) -> Find:
    """Return a function that returns one value for any claims and variables."""
    return lambda _claims, _variables: found


def compile_untyped(operand: Any) -> Find:
    """Compile an operand without a type: a claim or a variable whose existence is tested."""
    make = _FINDERS.get(frozenset(operand)) if isinstance(operand, dict) else None
    return make(operand) if make else always(MISSING)


def compile_scalar(operand: Any) -> Find:
    """Compile an operand to a text, number or Boolean, ``UNKNOWN`` or ``MISSING``."""
    if isinstance(operand, dict) and len(operand) == 1:
        return always(_scalar(operand.get("value")))
    find, read = compile_typed(operand)

    def value(claims: JSONObject | None, variables: JSONObject | None) -> Any:
        found = find(claims, variables)
        return found if found is UNKNOWN else read(found)

    return value


def compile_typed(operand: Any) -> tuple[Find, Read]:
    """Return a finder of a typed operand's value, and a reader of values of the type."""
    source = _TYPED.get(frozenset(operand)) if isinstance(operand, dict) else None
    if source is None:
        return always(MISSING), _scalar
    make, readers = source
    type_ = operand["type"]
    read = readers.get(type_) if isinstance(type_, str) else None
    return (make(operand), read) if read else (always(MISSING), _scalar)


def equal(one: Any, other: Any) -> bool:
    """Tell if two scalars are equal and of one kind: in Python ``True == 1``."""
    return one is not MISSING and one == other and KINDS[type(one)] == KINDS[type(other)]


def _claim_of(operand: Mapping[str, Any]) -> Find:
    """Compile a claim, see ``_claim``; ``MISSING`` if the path is not valid."""
    path = operand["jwt"]
    if not _is_path(path):
        return always(MISSING)
    if len(path) > MAX_DEPTH or any(map(_SEPARATOR.search, path)):
        return lambda claims, _: _claim(claims, path)

    def claim(claims: JSONObject | None, _: JSONObject | None) -> Any:
        """Find the claim if each text can only be one name."""
        value: Any = claims
        for name in path:
            if not isinstance(value, dict):
                return UNKNOWN if value is UNKNOWN else None
            value = value.get(name)
        return {} if value is UNKNOWN else value  # a token exists

    return claim


def _claim(value: Any, path: Sequence[str], depth: int = MAX_DEPTH) -> Any:
    """Return the value at a path. The claims decide if a dot or a slash separates names or belongs to one.

    In each object the whole text is tried as a name first, then the part before its last dot or slash, and so on.
    Different names lead to different members, so no member is visited twice and the claims bound the work.
    ``None`` if there is no value, or null; ``MISSING`` below a depth that no path of the compiler reaches.
    """
    if not path:
        return value
    if not isinstance(value, dict):
        return UNKNOWN if value is UNKNOWN else None
    if not depth:
        return MISSING
    text, *rest = path
    if text in value and (found := _claim(value[text], rest, depth - 1)) is not None:
        return found
    for sign in reversed([*_SEPARATOR.finditer(text)]):
        inner = value.get(text[: sign.start()])
        if inner is not None and (found := _claim(inner, [text[sign.end() :], *rest], depth - 1)) is not None:
            return found
    return None


def _variable_of(operand: Mapping[str, Any]) -> Find:
    """Compile a variable, or an input field of one, to a value, ``UNKNOWN``, ``None`` or ``MISSING``, as for claims.

    An omitted input field is unknown, because its type may have a default for it, which the API fills in.
    """
    path = operand["variables"]
    if not _is_path(path) or not path:
        return always(MISSING)
    first, *inner = path

    def variable(_: JSONObject | None, variables: JSONObject | None) -> Any:
        if variables is None:
            return UNKNOWN
        value = variables.get(first)
        for name in inner:
            if value is UNKNOWN or (isinstance(value, dict) and name not in value):
                return UNKNOWN
            value = value[name] if isinstance(value, dict) else None
        return value

    return variable


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and {str}.issuperset(map(type, value))


def _scalar(value: Any) -> Any:
    kind = type(value)
    known = kind is str or kind is bool or kind is int or (kind is float and math.isfinite(value))
    return value if known else MISSING


def _int(value: Any) -> Any:
    """Return a whole number. JSON has only numbers, so 5.0 is one."""
    return value if type(value) is int or (type(value) is float and value.is_integer()) else MISSING


def _float(value: Any) -> Any:
    return value if type(value) is int or (type(value) is float and math.isfinite(value)) else MISSING


def _boolean(value: Any) -> Any:
    return value if type(value) is bool else MISSING


def _string(value: Any) -> Any:
    return value if type(value) is str else MISSING


def _string_or_id(value: Any) -> Any:
    """Return a text; an integer becomes the text that it is as an ``ID``."""
    if type(value) is not int:
        return _string(value)
    try:
        return str(value)
    except ValueError:  # Python does not write numbers of thousands of digits
        return MISSING


KINDS = {int: "number", float: "number", bool: "Boolean", str: "String"}
"""The kind of a scalar. Scalars of different kinds are neither equal nor ordered."""

_SEPARATOR = re.compile(r"[./]")

_FINDERS: Mapping[frozenset[str], Callable[[Mapping[str, Any]], Find]] = {
    frozenset({"jwt"}): _claim_of,
    frozenset({"variables"}): _variable_of,
}

_READERS: Mapping[str, Read] = {
    "Int": _int,
    "Float": _float,
    "Boolean": _boolean,
    "String": _string,
}

_TYPED = {
    frozenset({"jwt", "type"}): (_claim_of, _READERS),
    frozenset({"variables", "type"}): (_variable_of, {**_READERS, "String": _string_or_id}),
}
