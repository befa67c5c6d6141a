"""Predicates on the caller's claims and on variables, of which conditions are made.

A *predicate* is a small syntax tree in JSON, made by ``compiler/access/predicate_parser.py``:

    {"literal": true}    {"and": [predicate, …]}    {"or": [predicate, …]}    {"not": predicate}
    {"exists": {"jwt": path} or {"variables": path}}
    {"compare": "<", "left": operand, "right": operand}    (and <= == != > >=)
    {"has": {"jwt": path, "type": item type} or {"variables": …}, "value": operand}

    operand: {"value": literal} or {"jwt": path, "type": "String"} or {"variables": path, "type": "String"}

A path is a list of texts. A text in a claim's path may be several names joined by dots and slashes, see ``_claim``.

The truth of a predicate is a set of four facts. A predicate on an unknown variable may hold and may fail, and does
neither surely. A comparison with a missing claim has none of the four facts: neither the comparison nor its negation
holds. Access is given on ``SURELY_HOLDS`` alone. Both halves use this module.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from handler.strict_json import JSONObject

Truth = int
"""The sum of the facts that are true. ``&`` of ``enum.Flag`` takes many times as long as ``&`` of integers."""

MAY_HOLD, SURELY_HOLDS, MAY_FAIL, SURELY_FAILS = 1, 2, 4, 8
"""*May*: for some values of the unknown variables. *Surely*: for all of them. What is sure is also possible."""

HOLDS: Truth = MAY_HOLD | SURELY_HOLDS
FAILS: Truth = MAY_FAIL | SURELY_FAILS
NEITHER: Truth = 0
DEPENDS: Truth = MAY_HOLD | MAY_FAIL

UNKNOWN: Any = object()
"""Stands for an unknown value of a variable, or for unknown claims of a verified token."""

MISSING: Any = object()
"""Stands for no value, or for no value of the required type."""

MAX_DEPTH = 128
"""Levels that are followed into a predicate or into claims: more than any condition of the compiler has."""

Predicate = Mapping[str, Any]

Evaluate = Callable[[JSONObject | None, JSONObject | None], Truth]
"""A compiled predicate: a function of claims and variables that returns the predicate's truth."""

Find = Callable[[JSONObject | None, JSONObject | None], Any]
"""A compiled operand: a function of claims and variables that returns the operand's value.

Without a verified token there are no claims (``None``). Claims may be ``UNKNOWN``. Without variables (``None``) each
variable is unknown.
"""

Read = Callable[[Any], Any]
"""A function that returns a value of one type as it is compared, or ``MISSING`` for a value of another type."""


def compile_predicate(predicate: Any, depth: int = MAX_DEPTH) -> Evaluate:
    """Compile a predicate, so that its shape is examined only once.

    The claims are those of a verified token, ``None`` without one. The variables are GraphQL variables by name; a
    variable may be ``UNKNOWN``, and ``None`` means that all of them are. A predicate that depends on an unknown
    variable gives ``DEPENDS``. A comparison with a claim or variable that is missing or not of its declared type gives
    ``NEITHER``. So does a predicate of unknown kind or shape.
    """
    if not depth or not isinstance(predicate, dict):
        return _always(NEITHER)
    match predicate:
        case {"literal": value} if len(predicate) == 1:
            return _always(HOLDS if value is True else FAILS if value is False else NEITHER)
        case {"not": inner} if len(predicate) == 1:
            negated = compile_predicate(inner, depth - 1)
            return lambda claims, variables: negation(negated(claims, variables))
        case {"and": parts} if len(predicate) == 1:
            return _joined(conjunction, parts, depth - 1)
        case {"or": parts} if len(predicate) == 1:
            return _joined(disjunction, parts, depth - 1)
        case {"exists": operand} if len(predicate) == 1:
            return _exists(operand)
        case {"compare": sign, "left": left, "right": right} if len(predicate) == 3:
            return _compare(sign, left, right)
        case {"has": operand, "value": value} if len(predicate) == 2:
            return _has(operand, value)
    return _always(NEITHER)


def _always(value: Any) -> Find:
    """Return a function that returns one value for any claims and variables."""
    return lambda _claims, _variables: value


def _joined(join: Callable[[Iterable[Truth]], Truth], value: Any, depth: int) -> Evaluate:
    """Compile an ``and`` or an ``or``. Without parts, it has one of unknown kind."""
    parts = [compile_predicate(part, depth) for part in (value if isinstance(value, list) and value else (None,))]
    return lambda claims, variables: join([part(claims, variables) for part in parts])


def negation(truth: Truth) -> Truth:
    """Return the truth of ``not``: the facts of holding and of failing change places."""
    return (truth & HOLDS) << 2 | truth >> 2


def conjunction(truths: Iterable[Truth]) -> Truth:
    """Return the truth of ``and``: it holds as all of its parts do, and fails as any of them does."""
    common, some = HOLDS | FAILS, 0
    for truth in truths:
        common &= truth
        some |= truth
    return common & HOLDS | some & FAILS


def disjunction(truths: Iterable[Truth]) -> Truth:
    """Return the truth of ``or``: it holds as any of its parts does, and fails as all of them do."""
    common, some = HOLDS | FAILS, 0
    for truth in truths:
        common &= truth
        some |= truth
    return some & HOLDS | common & FAILS


def _exists(operand: Any) -> Evaluate:
    match operand:
        case {"jwt": path} if len(operand) == 1:
            find = _claim_of(path)
        case {"variables": path} if len(operand) == 1:
            find = _variable_of(path)
        case _:
            find = _always(MISSING)

    def exists(claims: JSONObject | None, variables: JSONObject | None) -> Truth:
        value = find(claims, variables)
        if value is MISSING:
            return NEITHER
        return DEPENDS if value is UNKNOWN else FAILS if value is None else HOLDS

    return exists


def _compare(sign: Any, left_operand: Any, right_operand: Any) -> Evaluate:
    holds = _SIGNS.get(sign) if isinstance(sign, str) else None
    if holds is None:
        return _always(NEITHER)
    find_left, find_right = _scalar_of(left_operand), _scalar_of(right_operand)

    def compare(claims: JSONObject | None, variables: JSONObject | None) -> Truth:
        left, right = find_left(claims, variables), find_right(claims, variables)
        if left is MISSING or right is MISSING:
            return NEITHER
        if left is UNKNOWN or right is UNKNOWN:
            return DEPENDS
        kind = _KINDS[type(left)]
        if kind != _KINDS[type(right)] or (kind == "Boolean" and sign not in ("==", "!=")):
            return NEITHER
        return HOLDS if holds(left, right) else FAILS

    return compare


def _has(operand: Any, item: Any) -> Evaluate:
    """Compile a test for an item of a list. Items not of the declared type do not count.

    A claim may be one text instead of a list, because some providers write a list of one so. The test holds for an item
    equal to the text; for any other it is not refuted, because the text may be several items (``admin staff``).
    """
    find, read = _typed(operand)
    find_right = _scalar_of(item)

    def has(claims: JSONObject | None, variables: JSONObject | None) -> Truth:
        value, right = find(claims, variables), find_right(claims, variables)
        if value is MISSING or right is MISSING:
            return NEITHER
        if value is UNKNOWN or (right is UNKNOWN and isinstance(value, str | list)):
            return DEPENDS
        if isinstance(value, str) and "jwt" in operand:
            return HOLDS if _equal(read(value), right) else NEITHER
        if not isinstance(value, list):
            return NEITHER
        if any(_equal(read(each), right) for each in value):
            return HOLDS
        return DEPENDS if any(each is UNKNOWN for each in value) else FAILS

    return has


def _equal(one: Any, other: Any) -> bool:
    """Return whether two scalars are equal and of one kind: in Python ``True == 1``."""
    return one is not MISSING and one == other and _KINDS[type(one)] == _KINDS[type(other)]


def _scalar_of(operand: Any) -> Find:
    """Compile an operand to a text, number or Boolean, ``UNKNOWN`` or ``MISSING``."""
    if isinstance(operand, dict) and len(operand) == 1:
        return _always(_scalar(operand.get("value")))
    find, read = _typed(operand)

    def scalar(claims: JSONObject | None, variables: JSONObject | None) -> Any:
        value = find(claims, variables)
        return value if value is UNKNOWN else read(value)

    return scalar


def _typed(operand: Any) -> tuple[Find, Read]:
    """Return a finder of a typed operand's value, and a reader of values of the type."""
    match operand:
        case {"jwt": path, "type": str(name)} if len(operand) == 2 and name in _READERS:
            return _claim_of(path), _READERS[name]
        case {"variables": path, "type": str(name)} if len(operand) == 2 and name in _READERS:
            return _variable_of(path), _text_or_id if name == "String" else _READERS[name]
    return _always(MISSING), _scalar


def _claim_of(path: Any) -> Find:
    """Compile a claim, see ``_claim``; ``MISSING`` if the path is not valid."""
    if not _is_path(path):
        return _always(MISSING)
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
    if text in value and (inner := _claim(value[text], rest, depth - 1)) is not None:
        return inner
    for sign in reversed([*_SEPARATOR.finditer(text)]):
        above = value.get(text[: sign.start()])
        if above is not None and (inner := _claim(above, [text[sign.end() :], *rest], depth - 1)) is not None:
            return inner
    return None


def _variable_of(path: Any) -> Find:
    """Compile a variable, or an input field of one, to a value, ``UNKNOWN``, ``None`` or ``MISSING``, as for claims.

    An omitted input field is unknown, because its type may have a default for it, which the API fills in.
    """
    if not _is_path(path) or not path:
        return _always(MISSING)
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
    return value if type(value) in (str, bool) else _number(value)


def _number(value: Any) -> Any:
    return value if type(value) is int or (type(value) is float and math.isfinite(value)) else MISSING


def _whole_number(value: Any) -> Any:
    """Return a whole number. JSON has only numbers, so 5.0 is one."""
    return value if type(value) is int or (type(value) is float and value.is_integer()) else MISSING


def _text_or_id(value: Any) -> Any:
    """Return a text; an integer becomes the text that it is as an ``ID``."""
    try:
        return str(value) if type(value) in (str, int) else MISSING
    except ValueError:  # Python does not write numbers of thousands of digits
        return MISSING


_KINDS = {int: "number", float: "number", bool: "Boolean", str: "String"}
"""The kind of a scalar. Scalars of different kinds are neither equal nor ordered."""

_SEPARATOR = re.compile(r"[./]")

_READERS: Mapping[str, Read] = {
    "Int": _whole_number,
    "Float": _number,
    "Boolean": lambda value: value if type(value) is bool else MISSING,
    "String": lambda value: value if type(value) is str else MISSING,
}

_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
