"""Conditions as authors write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from handler.policy.evaluation import HIDDEN, KNOWN, OWN_TOKEN, Mask
from handler.policy.predicates import Predicate

NOBODY_MEETS = "nobody"
MAX_CHARS = 300


def mask_in_words(mask: Mask, conditions: Sequence[Predicate]) -> str:
    """Return the conditions of a mask, all of which have to hold."""
    if not mask:
        return "no condition"
    if not mask.isdisjoint(HIDDEN):
        return NOBODY_MEETS
    text = " && ".join(sorted(_of_number(number, conditions, frozenset()) for number in mask))
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"


def _of_number(number: int, conditions: Sequence[Predicate], inside: frozenset[int]) -> str:
    predicate = conditions[number] if 0 <= number < len(conditions) else {}
    alternatives = predicate.get("any")
    if not isinstance(alternatives, list):
        return predicate_in_words(predicate)
    if number in inside or len(inside) > 2:
        return "…"
    ways = [
        " && ".join(_of_number(each, conditions, inside | {number}) for each in way) or "true" for way in alternatives
    ]
    return f"any of ({' or '.join(dict.fromkeys(ways))})"


def predicate_in_words(predicate: Any) -> str:
    """Return a predicate as an author writes it."""
    if predicate in (KNOWN, OWN_TOKEN):
        return "?$jwt" if predicate == KNOWN else "a token of the caller's own"
    match predicate:
        case {"not": part}:
            return f"!({predicate_in_words(part)})"
        case {"and": parts}:
            return " && ".join(f"({predicate_in_words(each)})" for each in parts)
        case {"or": parts}:
            return " || ".join(f"({predicate_in_words(each)})" for each in parts)
        case _:
            return _atom(predicate)


def _atom(predicate: Any) -> str:
    match predicate:
        case {"literal": value}:
            return "true" if value else "false"
        case {"exists": operand}:
            return f"?{_operand(operand)}"
        case {"compare": sign, "left": left, "right": right}:
            return f"{_operand(left)} {sign} {_operand(right)}"
        case {"has": operand, "value": value}:
            return f"{_operand(operand)} has {_operand(value)}"
        case _:
            return NOBODY_MEETS


def _operand(operand: Any) -> str:
    match operand:
        case {"jwt": path, **rest}:
            return ".".join(["$jwt", *path]) + (f":{rest['type']}" if "type" in rest else "")
        case {"variables": path, **rest}:
            return ".".join(["$variables", *path]) + (f":{rest['type']}" if "type" in rest else "")
        case {"value": value}:
            return json.dumps(value, ensure_ascii=False)
        case _:
            return "?"
