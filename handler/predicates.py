"""Predicates over who calls and with which variables: what conditions are made of.

A *predicate* is a small syntax tree of JSON, which ``compiler/predicates.py`` makes:

    {"literal": true}    {"and": [predicate, …]}    {"or": [predicate, …]}    {"not": predicate}
    {"exists": {"jwt": path} or {"variables": path}}
    {"compare": "<", "left": operand, "right": operand}    (and <= == != > >=)
    {"has": {"jwt": path, "type": item type} or {"variables": …}, "value": operand}
    operand: {"value": literal} or {"jwt": path, "type": "String"} or {"variables": path, "type": "String"}

A path is a list of texts. Those of a claim may be several names joined by dots and slashes, see ``_claim``.

Pure: imports nothing of ours, and runs at deploy time and at request time alike.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Predicate = Mapping[str, Any]

UNKNOWN: Any = object()
"""Stands for a variable's value that nobody knows yet."""

MAX_DEPTH = 128
"""How deep a tree is looked into: deeper than any that the compiler makes."""

_Verdict = tuple[int, int]
"""Whether a predicate holds, and whether it is refuted. A missing claim does neither, so that its negation does not
hold either. Each is a set of two bits, for two ways to look at what is not known: one takes it for held and refuted,
the other for neither. So the first bit says what may be, the second what is certain."""

MAY, CERTAIN = 1, 2
HOLDS: _Verdict = (MAY | CERTAIN, 0)
FAILS: _Verdict = (0, MAY | CERTAIN)
NEITHER: _Verdict = (0, 0)
EITHER: _Verdict = (MAY, MAY)

_MISSING: Any = object()
"""No value, or none of the type that was asked for."""


def judge(
    predicate: Predicate, claims: Mapping[str, Any] | None, variables: Mapping[str, Any] | None
) -> tuple[bool, bool]:
    """Whether a predicate may hold, and whether it may fail. It holds where it may and may not fail: (True, False).

    ``claims`` are those of a verified token, ``None`` without one. ``variables`` are GraphQL variables by their names;
    one may be ``UNKNOWN``, and with ``None`` all are. What says something of an unknown variable is (True, True). A
    comparison with a claim or variable that is missing, or of another type than it is said to be, is (False, False): it
    does not hold, and neither does its negation. So is a predicate of a kind or shape that is not known here.
    """
    holds, refuted = _verdict(predicate, _Call(_object(claims), _object(variables)), MAX_DEPTH)
    may_hold = bool(holds & MAY)
    return may_hold, bool(refuted & MAY) or (may_hold and not holds & CERTAIN)


def holds(predicate: Predicate) -> bool:
    """Tell whether a predicate holds for anybody: without claims, and whatever the variables are."""
    return judge(predicate, None, None) == (True, False)


class _Call(NamedTuple):
    """What predicates are judged by."""

    claims: dict[str, Any] | None
    variables: dict[str, Any] | None


def _object(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """As JSON's objects are, which further in is quicker to tell than any mapping."""
    return value if value is None or isinstance(value, dict) else dict(value)


def _verdict(predicate: Any, call: _Call, depth: int) -> _Verdict:
    rule = _RULES.get(frozenset(predicate)) if depth and isinstance(predicate, dict) else None
    return rule(predicate, call, depth - 1) if rule else NEITHER


def _literal(predicate: Predicate, _call: _Call, _depth: int) -> _Verdict:
    value = predicate["literal"]
    return HOLDS if value is True else FAILS if value is False else NEITHER


def _not(predicate: Predicate, call: _Call, depth: int) -> _Verdict:
    held, refuted = _verdict(predicate["not"], call, depth)
    return refuted, held


def _and(predicate: Predicate, call: _Call, depth: int) -> _Verdict:
    held, refuted = HOLDS
    for each in _parts(predicate["and"]):
        one, other = _verdict(each, call, depth)
        held &= one
        refuted |= other
    return held, refuted


def _or(predicate: Predicate, call: _Call, depth: int) -> _Verdict:
    held, refuted = FAILS
    for each in _parts(predicate["or"]):
        one, other = _verdict(each, call, depth)
        held |= one
        refuted &= other
    return held, refuted


def _parts(value: Any) -> Sequence[Any]:
    """The predicates that are joined. Without any, there is one that is not known."""
    return value if isinstance(value, list) and value else (None,)


def _exists(predicate: Predicate, call: _Call, _depth: int) -> _Verdict:
    operand = predicate["exists"]
    find = _FINDERS.get(frozenset(operand)) if isinstance(operand, dict) else None
    found = find(operand, call) if find else _MISSING
    if found is _MISSING:
        return NEITHER
    return EITHER if found is UNKNOWN else FAILS if found is None else HOLDS


def _compare(predicate: Predicate, call: _Call, _depth: int) -> _Verdict:
    sign = predicate["compare"]
    compare = _SIGNS.get(sign) if isinstance(sign, str) else None
    left, right = _value(predicate["left"], call), _value(predicate["right"], call)
    if compare is None or left is _MISSING or right is _MISSING:
        return NEITHER
    if left is UNKNOWN or right is UNKNOWN:
        return EITHER
    kind = _KINDS[type(left)]
    if kind != _KINDS[type(right)] or (kind == "Boolean" and sign not in _EQUALITIES):
        return NEITHER
    return HOLDS if compare(left, right) else FAILS


def _has(predicate: Predicate, call: _Call, _depth: int) -> _Verdict:
    """Whether a list has an item. Items of another type than is said do not count.

    A claim may be one text instead of a list: some providers write a list of one so. It has the item that it is equal
    to; what it has not is not known, for it could be several in one (``admin staff``), and it does not refute.
    """
    operand = predicate["has"]
    found, read = _typed(operand, call)
    right = _value(predicate["value"], call)
    if found is _MISSING or right is _MISSING:
        return NEITHER
    if found is UNKNOWN or (right is UNKNOWN and isinstance(found, str | list)):
        return EITHER
    if isinstance(found, str) and "jwt" in operand:
        return HOLDS if _same(read(found), right) else NEITHER
    if not isinstance(found, list):
        return NEITHER
    if any(_same(read(item), right) for item in found):
        return HOLDS
    return EITHER if any(item is UNKNOWN for item in found) else FAILS


def _same(one: Any, other: Any) -> bool:
    """Equal, and of one kind: Python takes ``True`` for 1."""
    return one is not _MISSING and one == other and _KINDS[type(one)] == _KINDS[type(other)]


def _value(operand: Any, call: _Call) -> Any:
    """An operand's text, number or Boolean, ``UNKNOWN`` or ``_MISSING``."""
    if isinstance(operand, dict) and len(operand) == 1:
        return _scalar(operand.get("value"))
    found, read = _typed(operand, call)
    return found if found is UNKNOWN else read(found)


def _typed(operand: Any, call: _Call) -> tuple[Any, Callable[[Any], Any]]:
    """What a typed variable holds, and what reads a value of its type."""
    source = _TYPED.get(frozenset(operand)) if isinstance(operand, dict) else None
    if source is None:
        return _MISSING, _scalar
    find, readers = source
    type_ = operand["type"]
    read = readers.get(type_) if isinstance(type_, str) else None
    return (find(operand, call), read) if read else (_MISSING, _scalar)


def _claim_of(operand: Mapping[str, Any], call: _Call) -> Any:
    """A claim, as ``_claim`` says; ``_MISSING`` if the path is none."""
    path = operand["jwt"]
    return _claim(call.claims, path) if _is_path(path) else _MISSING


def _claim(value: Any, path: Sequence[str], depth: int = MAX_DEPTH) -> Any:
    """The value at a path. Whether a dot or a slash parts names or belongs to one, the claims tell.

    In each object the whole text is tried as a name first, then what stands before its last dot or slash, and so on.
    Different names lead to different members, so nothing is looked into twice and the claims bound the work.
    ``None`` where there is nothing, or null; ``_MISSING`` below a depth that no path of the compiler's leads to.
    """
    if not path:
        return value
    if not isinstance(value, dict):
        return None
    if not depth:
        return _MISSING
    text, *rest = path
    if text in value and (found := _claim(value[text], rest, depth - 1)) is not None:
        return found
    for sign in reversed([*_SEPARATOR.finditer(text)]):
        inner = value.get(text[: sign.start()])
        if inner is not None and (found := _claim(inner, [text[sign.end() :], *rest], depth - 1)) is not None:
            return found
    return None


def _variable_of(operand: Mapping[str, Any], call: _Call) -> Any:
    """A variable or an input field of one: a value, ``UNKNOWN``, ``None`` or ``_MISSING``, as for claims."""
    path = operand["variables"]
    if not _is_path(path) or not path:
        return _MISSING
    value = UNKNOWN if call.variables is None else call.variables
    for name in path:
        if value is UNKNOWN:
            return UNKNOWN
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and {str}.issuperset(map(type, value))


def _scalar(value: Any) -> Any:
    kind = type(value)
    known = kind is str or kind is bool or kind is int or (kind is float and math.isfinite(value))
    return value if known else _MISSING


def _int(value: Any) -> Any:
    """A whole number. JSON has only numbers, so 5.0 is one."""
    return value if type(value) is int or (type(value) is float and value.is_integer()) else _MISSING


def _float(value: Any) -> Any:
    return value if type(value) is int or (type(value) is float and math.isfinite(value)) else _MISSING


def _boolean(value: Any) -> Any:
    return value if type(value) is bool else _MISSING


def _string(value: Any) -> Any:
    return value if type(value) is str else _MISSING


def _string_or_id(value: Any) -> Any:
    """A text, or a number as the text that it is as an ``ID``."""
    if type(value) is not int:
        return _string(value)
    try:
        return str(value)
    except ValueError:  # Python writes no numbers of thousands of digits
        return _MISSING


_RULES: Mapping[frozenset[str], Callable[[Predicate, _Call, int], _Verdict]] = {
    frozenset({"literal"}): _literal,
    frozenset({"not"}): _not,
    frozenset({"and"}): _and,
    frozenset({"or"}): _or,
    frozenset({"exists"}): _exists,
    frozenset({"compare", "left", "right"}): _compare,
    frozenset({"has", "value"}): _has,
}

_FINDERS = {frozenset({"jwt"}): _claim_of, frozenset({"variables"}): _variable_of}

_SEPARATOR = re.compile(r"[./]")

_READERS: Mapping[str, Callable[[Any], Any]] = {
    "Int": _int,
    "Float": _float,
    "Boolean": _boolean,
    "String": _string,
}

_TYPED = {
    frozenset({"jwt", "type"}): (_claim_of, _READERS),
    frozenset({"variables", "type"}): (_variable_of, {**_READERS, "String": _string_or_id}),
}

_EQUALITIES = ("==", "!=")

_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}

_KINDS = {int: "number", float: "number", bool: "Boolean", str: "String"}
