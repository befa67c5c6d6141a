"""Predicates on the caller's claims and on variables, of which conditions are made.

A *predicate* is a small syntax tree in JSON, made by ``compiler/access/predicate_parser.py``:

    {"literal": true}    {"and": [predicate, …]}    {"or": [predicate, …]}    {"not": predicate}
    {"exists": {"jwt": path} or {"variables": path}}
    {"compare": "<", "left": operand, "right": operand}    (and <= == != > >=)
    {"has": {"jwt": path, "type": item type} or {"variables": …}, "value": operand}
    operand: {"value": literal} or {"jwt": path, "type": "String"} or {"variables": path, "type": "String"}

A path is a list of texts. A text in a claim's path may be several names joined by dots and slashes, see ``_claim``.

Pure: imports none of our modules, and runs both at deploy time and at request time.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Predicate = Mapping[str, Any]

UNKNOWN: Any = object()
"""Stands for an unknown value of a variable."""

MAX_DEPTH = 128
"""Evaluated depth of a tree: greater than that of any tree that the compiler makes."""

_Verdict = tuple[int, int]
"""The truth of a predicate, as (held, refuted). With a missing claim a predicate is neither, so its negation does not
hold either. Each of the two is a set of two bits for two treatments of unknown variables: ``MAY`` counts a predicate on
one as held and refuted, ``CERTAIN`` as neither."""

MAY, CERTAIN = 1, 2
HOLDS: _Verdict = (MAY | CERTAIN, 0)
FAILS: _Verdict = (0, MAY | CERTAIN)
NEITHER: _Verdict = (0, 0)
EITHER: _Verdict = (MAY, MAY)

_MISSING: Any = object()
"""No value, or no value of the required type."""


Judge = Callable[[Mapping[str, Any] | None, Mapping[str, Any] | None], tuple[bool, bool]]
"""A function of claims and variables that returns two facts: the predicate may hold; it may fail."""


def judge(
    predicate: Predicate, claims: Mapping[str, Any] | None, variables: Mapping[str, Any] | None
) -> tuple[bool, bool]:
    """Return two facts: the predicate may hold; it may fail. (True, False) means that it holds.

    ``claims`` are those of a verified token, ``None`` without one. ``variables`` are GraphQL variables by name; one may
    be ``UNKNOWN``, and ``None`` means that all are. A predicate that depends on an unknown variable gives (True, True).
    A comparison with a claim or variable that is missing or not of its declared type gives (False, False): neither it
    nor its negation holds. So does a predicate of unknown kind or shape.
    """
    return compile_predicate(predicate)(claims, variables)


def compile_predicate(predicate: Predicate) -> Judge:
    """Compile a predicate to a function equivalent to ``judge``, so that its shape is examined only once."""
    rule = _rule(predicate, MAX_DEPTH)

    def judged(claims: Mapping[str, Any] | None, variables: Mapping[str, Any] | None) -> tuple[bool, bool]:
        holds, refuted = rule(_object(claims), _object(variables))
        may_hold = bool(holds & MAY)
        return may_hold, bool(refuted & MAY) or (may_hold and not holds & CERTAIN)

    return judged


_Object = dict[str, Any] | None
_Rule = Callable[[_Object, _Object], _Verdict]
"""A compiled predicate."""

_Find = Callable[[_Object, _Object], Any]
"""A compiled operand, which returns its value."""


def _object(value: Mapping[str, Any] | None) -> _Object:
    """Return a JSON object as a ``dict``, whose type check is faster than a mapping's."""
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
    """Return the joined predicates; without any, a single predicate of unknown kind."""
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
    """Compile a test for an item of a list. Items not of the declared type do not count.

    A claim may be one text instead of a list, because some providers write a list of one so. The test holds for an item
    equal to the text; for any other it is not refuted, because the text may be several items (``admin staff``).
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
    """Tell if two values are equal and of one kind: in Python ``True == 1``."""
    return one is not _MISSING and one == other and _KINDS[type(one)] == _KINDS[type(other)]


def _value(operand: Any) -> _Find:
    """Compile an operand to a text, number or Boolean, ``UNKNOWN`` or ``_MISSING``."""
    if isinstance(operand, dict) and len(operand) == 1:
        return _always(_scalar(operand.get("value")))
    find, read = _typed(operand)

    def value(claims: _Object, variables: _Object) -> Any:
        found = find(claims, variables)
        return found if found is UNKNOWN else read(found)

    return value


def _typed(operand: Any) -> tuple[_Find, Callable[[Any], Any]]:
    """Return a finder of a typed operand's value, and a reader of values of its type."""
    source = _TYPED.get(frozenset(operand)) if isinstance(operand, dict) else None
    if source is None:
        return _always(_MISSING), _scalar
    make, readers = source
    type_ = operand["type"]
    read = readers.get(type_) if isinstance(type_, str) else None
    return (make(operand), read) if read else (_always(_MISSING), _scalar)


def _claim_of(operand: Mapping[str, Any]) -> _Find:
    """Compile a claim, see ``_claim``; ``_MISSING`` if the path is not valid."""
    path = operand["jwt"]
    if not _is_path(path):
        return _always(_MISSING)
    if len(path) > MAX_DEPTH or any(map(_SEPARATOR.search, path)):
        return lambda claims, _: _claim(claims, path)

    def claim(claims: _Object, _: _Object) -> Any:
        """Find the claim if each text can only be one name."""
        value: Any = claims
        for name in path:
            if not isinstance(value, dict):
                return None
            value = value.get(name)
        return value

    return claim


def _claim(value: Any, path: Sequence[str], depth: int = MAX_DEPTH) -> Any:
    """Return the value at a path. The claims decide if a dot or a slash separates names or belongs to one.

    In each object the whole text is tried as a name first, then the part before its last dot or slash, and so on.
    Different names lead to different members, so no member is visited twice and the claims bound the work.
    ``None`` if there is no value, or null; ``_MISSING`` below a depth that no path of the compiler reaches.
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
    """Compile a variable or an input field of one to a value, ``UNKNOWN``, ``None`` or ``_MISSING``, as for claims.

    An omitted input field is unknown, because its type may have a default for it, which the API fills in.
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
    """Return a whole number. JSON has only numbers, so 5.0 is one."""
    return value if type(value) is int or (type(value) is float and value.is_integer()) else _MISSING


def _float(value: Any) -> Any:
    return value if type(value) is int or (type(value) is float and math.isfinite(value)) else _MISSING


def _boolean(value: Any) -> Any:
    return value if type(value) is bool else _MISSING


def _string(value: Any) -> Any:
    return value if type(value) is str else _MISSING


def _string_or_id(value: Any) -> Any:
    """Return a text; an integer becomes the text that it is as an ``ID``."""
    if type(value) is not int:
        return _string(value)
    try:
        return str(value)
    except ValueError:  # Python does not write numbers of thousands of digits
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
