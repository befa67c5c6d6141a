"""Predicates over who calls and with which variables: what conditions are made of.

A *predicate* is a small syntax tree of JSON, which ``compiler/access/predicate_parser.py`` makes:

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
from typing import Any

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


Judge = Callable[[Mapping[str, Any] | None, Mapping[str, Any] | None], tuple[bool, bool]]
"""Takes claims and variables, and says whether a predicate may hold, and whether it may fail."""


def judge(
    predicate: Predicate, claims: Mapping[str, Any] | None, variables: Mapping[str, Any] | None
) -> tuple[bool, bool]:
    """Whether a predicate may hold, and whether it may fail. It holds where it may and may not fail: (True, False).

    ``claims`` are those of a verified token, ``None`` without one. ``variables`` are GraphQL variables by their names;
    one may be ``UNKNOWN``, and with ``None`` all are. What says something of an unknown variable is (True, True). A
    comparison with a claim or variable that is missing, or of another type than it is said to be, is (False, False): it
    does not hold, and neither does its negation. So is a predicate of a kind or shape that is not known here.
    """
    return compile_predicate(predicate)(claims, variables)


def compile_predicate(predicate: Predicate) -> Judge:
    """What judges a predicate as ``judge`` does: its shape is looked at once, and not for each caller."""
    rule = _rule(predicate, MAX_DEPTH)

    def judged(claims: Mapping[str, Any] | None, variables: Mapping[str, Any] | None) -> tuple[bool, bool]:
        holds, refuted = rule(_object(claims), _object(variables))
        may_hold = bool(holds & MAY)
        return may_hold, bool(refuted & MAY) or (may_hold and not holds & CERTAIN)

    return judged


_Object = dict[str, Any] | None
_Rule = Callable[[_Object, _Object], _Verdict]
"""A predicate, made ready for claims and variables."""

_Find = Callable[[_Object, _Object], Any]
"""The same of an operand: it finds its value."""


def _object(value: Mapping[str, Any] | None) -> _Object:
    """As JSON's objects are, which further in is quicker to tell than any mapping."""
    return value if value is None or isinstance(value, dict) else dict(value)


def _rule(predicate: Any, depth: int) -> _Rule:
    make = _RULES.get(frozenset(predicate)) if depth and isinstance(predicate, dict) else None
    return make(predicate, depth - 1) if make else _always(NEITHER)


def _always(found: Any) -> _Find:
    return lambda _claims, _variables: found


def _literal(predicate: Predicate, _depth: int) -> _Rule:
    value = predicate["literal"]
    return _always(HOLDS if value is True else FAILS if value is False else NEITHER)


def _not(predicate: Predicate, depth: int) -> _Rule:
    negated = _rule(predicate["not"], depth)

    def rule(claims: _Object, variables: _Object) -> _Verdict:
        held, refuted = negated(claims, variables)
        return refuted, held

    return rule


def _and(predicate: Predicate, depth: int) -> _Rule:
    parts = _parts(predicate["and"], depth)

    def rule(claims: _Object, variables: _Object) -> _Verdict:
        held, refuted = HOLDS
        for part in parts:
            one, other = part(claims, variables)
            held &= one
            refuted |= other
        return held, refuted

    return rule


def _or(predicate: Predicate, depth: int) -> _Rule:
    parts = _parts(predicate["or"], depth)

    def rule(claims: _Object, variables: _Object) -> _Verdict:
        held, refuted = FAILS
        for part in parts:
            one, other = part(claims, variables)
            held |= one
            refuted &= other
        return held, refuted

    return rule


def _parts(value: Any, depth: int) -> list[_Rule]:
    """The predicates that are joined. Without any, there is one that is not known."""
    return [_rule(each, depth) for each in (value if isinstance(value, list) and value else (None,))]


def _exists(predicate: Predicate, _depth: int) -> _Rule:
    operand = predicate["exists"]
    make = _FINDERS.get(frozenset(operand)) if isinstance(operand, dict) else None
    find = make(operand) if make else _always(_MISSING)

    def rule(claims: _Object, variables: _Object) -> _Verdict:
        found = find(claims, variables)
        if found is _MISSING:
            return NEITHER
        return EITHER if found is UNKNOWN else FAILS if found is None else HOLDS

    return rule


def _compare(predicate: Predicate, _depth: int) -> _Rule:
    sign = predicate["compare"]
    compare = _SIGNS.get(sign) if isinstance(sign, str) else None
    if compare is None:
        return _always(NEITHER)
    find_left, find_right = _value(predicate["left"]), _value(predicate["right"])

    def rule(claims: _Object, variables: _Object) -> _Verdict:
        left, right = find_left(claims, variables), find_right(claims, variables)
        if left is _MISSING or right is _MISSING:
            return NEITHER
        if left is UNKNOWN or right is UNKNOWN:
            return EITHER
        kind = _KINDS[type(left)]
        if kind != _KINDS[type(right)] or (kind == "Boolean" and sign not in _EQUALITIES):
            return NEITHER
        return HOLDS if compare(left, right) else FAILS

    return rule


def _has(predicate: Predicate, _depth: int) -> _Rule:
    """Whether a list has an item. Items of another type than is said do not count.

    A claim may be one text instead of a list: some providers write a list of one so. It has the item that it is equal
    to; what it has not is not known, for it could be several in one (``admin staff``), and it does not refute.
    """
    operand = predicate["has"]
    find, read = _typed(operand)
    find_right = _value(predicate["value"])

    def rule(claims: _Object, variables: _Object) -> _Verdict:
        found, right = find(claims, variables), find_right(claims, variables)
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

    return rule


def _same(one: Any, other: Any) -> bool:
    """Equal, and of one kind: Python takes ``True`` for 1."""
    return one is not _MISSING and one == other and _KINDS[type(one)] == _KINDS[type(other)]


def _value(operand: Any) -> _Find:
    """An operand's text, number or Boolean, ``UNKNOWN`` or ``_MISSING``."""
    if isinstance(operand, dict) and len(operand) == 1:
        return _always(_scalar(operand.get("value")))
    find, read = _typed(operand)

    def value(claims: _Object, variables: _Object) -> Any:
        found = find(claims, variables)
        return found if found is UNKNOWN else read(found)

    return value


def _typed(operand: Any) -> tuple[_Find, Callable[[Any], Any]]:
    """What finds a typed operand's value, and what reads a value of its type."""
    source = _TYPED.get(frozenset(operand)) if isinstance(operand, dict) else None
    if source is None:
        return _always(_MISSING), _scalar
    make, readers = source
    type_ = operand["type"]
    read = readers.get(type_) if isinstance(type_, str) else None
    return (make(operand), read) if read else (_always(_MISSING), _scalar)


def _claim_of(operand: Mapping[str, Any]) -> _Find:
    """A claim, as ``_claim`` says; ``_MISSING`` if the path is none."""
    path = operand["jwt"]
    if not _is_path(path):
        return _always(_MISSING)
    if len(path) > MAX_DEPTH or any(map(_SEPARATOR.search, path)):
        return lambda claims, _: _claim(claims, path)

    def claim(claims: _Object, _: _Object) -> Any:
        """The same, where each text can only be one name."""
        value: Any = claims
        for name in path:
            if not isinstance(value, dict):
                return None
            value = value.get(name)
        return value

    return claim


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


def _variable_of(operand: Mapping[str, Any]) -> _Find:
    """A variable or an input field of one: a value, ``UNKNOWN``, ``None`` or ``_MISSING``, as for claims.

    An input field that is left out is unknown, because its type may have a default for it, which the API fills in.
    """
    path = operand["variables"]
    if not _is_path(path) or not path:
        return _always(_MISSING)
    first, *inner = path

    def variable(_: _Object, variables: _Object) -> Any:
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


_RULES: Mapping[frozenset[str], Callable[[Predicate, int], _Rule]] = {
    frozenset({"literal"}): _literal,
    frozenset({"not"}): _not,
    frozenset({"and"}): _and,
    frozenset({"or"}): _or,
    frozenset({"exists"}): _exists,
    frozenset({"compare", "left", "right"}): _compare,
    frozenset({"has", "value"}): _has,
}

_FINDERS: Mapping[frozenset[str], Callable[[Mapping[str, Any]], _Find]] = {
    frozenset({"jwt"}): _claim_of,
    frozenset({"variables"}): _variable_of,
}

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
