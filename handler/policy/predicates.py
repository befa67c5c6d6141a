"""Predicates on the caller's claims and on variables, of which conditions are made.

A *predicate* is a small syntax tree in JSON, made by ``compiler/access/predicate_parser.py``:

    {"literal": true}    {"and": [predicate, …]}    {"or": [predicate, …]}    {"not": predicate}
    {"exists": {"jwt": path} or {"variables": path}}
    {"compare": "<", "left": operand, "right": operand}    (and <= == != > >=)
    {"has": {"jwt": path, "type": item type} or {"variables": …}, "value": operand}

``operands.py`` has the forms of operands and paths, ``truth.py`` the truth values. Both halves use this module.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from handler.policy.operands import (
    KINDS,
    MAX_DEPTH,
    MISSING,
    UNKNOWN,
    JSONObject,
    always,
    compile_scalar,
    compile_typed,
    compile_untyped,
    equal,
)
from handler.policy.truth import DEPENDS, FAILS, HOLDS, NEITHER, Truth, conjunction, disjunction, negation

Predicate = Mapping[str, Any]

Evaluate = Callable[[JSONObject | None, JSONObject | None], Truth]
"""A compiled predicate: a function of claims and variables that returns the predicate's truth."""


def compile_predicate(predicate: Any) -> Evaluate:
    """Compile a predicate, so that its shape is examined only once.

    The claims are those of a verified token, ``None`` without one. The variables are GraphQL variables by name; a
    variable may be ``UNKNOWN``, and ``None`` means that all of them are. A predicate that depends on an unknown
    variable gives ``DEPENDS``. A comparison with a claim or variable that is missing or not of its declared type gives
    ``NEITHER``. So does a predicate of unknown kind or shape.
    """
    return _compile(predicate, MAX_DEPTH)


def _compile(predicate: Any, depth: int) -> Evaluate:
    make = _RULES.get(frozenset(predicate)) if depth and isinstance(predicate, dict) else None
    return make(predicate, depth - 1) if make else always(NEITHER)


def _literal(predicate: Predicate, _depth: int) -> Evaluate:
    value = predicate["literal"]
    return always(HOLDS if value is True else FAILS if value is False else NEITHER)


def _not(predicate: Predicate, depth: int) -> Evaluate:
    negated = _compile(predicate["not"], depth)
    return lambda claims, variables: negation(negated(claims, variables))


def _and(predicate: Predicate, depth: int) -> Evaluate:
    parts = _parts(predicate["and"], depth)
    return lambda claims, variables: conjunction([part(claims, variables) for part in parts])


def _or(predicate: Predicate, depth: int) -> Evaluate:
    parts = _parts(predicate["or"], depth)
    return lambda claims, variables: disjunction([part(claims, variables) for part in parts])


def _parts(value: Any, depth: int) -> list[Evaluate]:
    """Return the joined predicates; without any, a single predicate of unknown kind."""
    return [_compile(each, depth) for each in (value if isinstance(value, list) and value else (None,))]


def _exists(predicate: Predicate, _depth: int) -> Evaluate:
    find = compile_untyped(predicate["exists"])

    def exists(claims: JSONObject | None, variables: JSONObject | None) -> Truth:
        found = find(claims, variables)
        if found is MISSING:
            return NEITHER
        return DEPENDS if found is UNKNOWN else FAILS if found is None else HOLDS

    return exists


def _compare(predicate: Predicate, _depth: int) -> Evaluate:
    sign = predicate["compare"]
    holds = _SIGNS.get(sign) if isinstance(sign, str) else None
    if holds is None:
        return always(NEITHER)
    find_left, find_right = compile_scalar(predicate["left"]), compile_scalar(predicate["right"])

    def compare(claims: JSONObject | None, variables: JSONObject | None) -> Truth:
        left, right = find_left(claims, variables), find_right(claims, variables)
        if left is MISSING or right is MISSING:
            return NEITHER
        if left is UNKNOWN or right is UNKNOWN:
            return DEPENDS
        kind = KINDS[type(left)]
        if kind != KINDS[type(right)] or (kind == "Boolean" and sign not in _EQUALITIES):
            return NEITHER
        return HOLDS if holds(left, right) else FAILS

    return compare


def _has(predicate: Predicate, _depth: int) -> Evaluate:
    """Compile a test for an item of a list. Items not of the declared type do not count.

    A claim may be one text instead of a list, because some providers write a list of one so. The test holds for an item
    equal to the text; for any other it is not refuted, because the text may be several items (``admin staff``).
    """
    operand = predicate["has"]
    find, read = compile_typed(operand)
    find_right = compile_scalar(predicate["value"])

    def has(claims: JSONObject | None, variables: JSONObject | None) -> Truth:
        found, right = find(claims, variables), find_right(claims, variables)
        if found is MISSING or right is MISSING:
            return NEITHER
        if found is UNKNOWN or (right is UNKNOWN and isinstance(found, str | list)):
            return DEPENDS
        if isinstance(found, str) and "jwt" in operand:
            return HOLDS if equal(read(found), right) else NEITHER
        if not isinstance(found, list):
            return NEITHER
        if any(equal(read(item), right) for item in found):
            return HOLDS
        return DEPENDS if any(item is UNKNOWN for item in found) else FAILS

    return has


_RULES: Mapping[frozenset[str], Callable[[Predicate, int], Evaluate]] = {
    frozenset({"literal"}): _literal,
    frozenset({"not"}): _not,
    frozenset({"and"}): _and,
    frozenset({"or"}): _or,
    frozenset({"exists"}): _exists,
    frozenset({"compare", "left", "right"}): _compare,
    frozenset({"has", "value"}): _has,
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
