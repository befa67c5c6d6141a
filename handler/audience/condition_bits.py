"""The conditions of one version: each as the classes of callers for which it holds, and as its author writes it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import and_, or_
from typing import Any

from handler.audience.caller_classes import CallerClasses, Trait
from handler.bundle.model import Bundle
from handler.policy.evaluation import HIDDEN, KNOWN, NEVER, OWN_TOKEN, Mask
from handler.policy.predicates import HOLDS, MAY_HOLD, SURELY_HOLDS, UNKNOWN, Predicate, compile_predicate
from handler.server.auth.principal import Principal
from handler.server.endpoints.endpoint import WITHOUT_TOKEN


class ConditionBits:
    """The classes that meet masks of one version."""

    def __init__(self, bundle: Bundle, classes: CallerClasses, side: int) -> None:
        self.bundle = bundle
        self.classes = classes
        self.side = side
        self.admitted = classes.admitted(side)
        self._cache: dict[tuple[int, int, frozenset[str] | None], int] = {}

    def surely(self, mask: Mask) -> int:
        """Return the classes that meet a mask for any values of variables."""
        return self._of(mask, SURELY_HOLDS, None)

    def may(self, mask: Mask, variables: Collection[str]) -> int:
        """Return the classes that meet a mask for some values of these variables."""
        return self._of(mask, SURELY_HOLDS, None) | self._of(mask, MAY_HOLD, frozenset(variables))

    def _of(self, mask: Mask, fact: int, variables: frozenset[str] | None) -> int:
        return reduce(and_, (self._condition(number, fact, variables) for number in mask), self.admitted)

    def _condition(self, number: int, fact: int, variables: frozenset[str] | None) -> int:
        """Return the classes of a condition. For those that it is made of, take the greatest fixed point."""
        if (number, fact, variables) in self._cache:
            return self._cache[number, fact, variables]
        alternatives: dict[int, list[list[int]]] = {}
        bits: dict[int, int] = {}
        waiting = [number]
        while waiting:
            each = waiting.pop()
            if each in bits:
                continue
            ways = alternatives_of(self.bundle.conditions, each)
            if ways is None:
                bits[each] = self._leaf(each, fact, variables)
                continue
            bits[each], alternatives[each] = self.admitted, ways
            waiting += [other for way in ways for other in way]
        changed = True
        while changed:
            changed = False
            for each, ways in alternatives.items():
                holds = reduce(or_, (reduce(and_, (bits[other] for other in way), self.admitted) for way in ways), 0)
                if holds & bits[each] != bits[each]:
                    bits[each] &= holds
                    changed = True
        self._cache.update({(each, fact, variables): of_condition for each, of_condition in bits.items()})
        return bits[number]

    def _leaf(self, number: int, fact: int, variables: frozenset[str] | None) -> int:
        conditions = self.bundle.conditions
        predicate = conditions[number] if 0 <= number < len(conditions) else NEVER
        if predicate == NEVER:
            return 0
        if predicate == OWN_TOKEN:
            return self.classes.of(
                self.side,
                lambda caller: caller.kind not in WITHOUT_TOKEN and (caller.unrestricted or caller.claims is not None),
            )
        trait = predicate_trait(predicate, variables)
        return self.classes.bits(trait, lambda truth: bool(truth & fact), self.side)


def alternatives_of(conditions: Sequence[Predicate], number: int) -> list[list[int]] | None:
    """Return the alternatives of a condition made of others; ``None`` for other conditions."""
    condition = conditions[number] if 0 <= number < len(conditions) else NEVER
    ways = condition.get("any") if len(condition) == 1 else None
    return [way for way in ways if isinstance(way, list)] if isinstance(ways, list) else None


def predicate_trait(predicate: Predicate, variables: frozenset[str] | None) -> Trait:
    """Return the trait of a predicate. Of its variables, those in ``variables`` are unknown (``None``: all)."""
    names = frozenset(variables_in(predicate))
    unknown = None if variables is None or variables >= names else variables & names
    return _trait(json.dumps(predicate, sort_keys=True), unknown)


@cache
def _trait(text: str, unknown: frozenset[str] | None) -> Trait:
    predicate = json.loads(text)
    evaluate = compile_predicate(predicate)
    values: dict[str, Any] | None = None if unknown is None else dict.fromkeys(unknown, UNKNOWN)

    def read(principal: Principal) -> int:
        claims = principal.claims
        return HOLDS if principal.unrestricted else evaluate(None if claims is None else dict(claims), values)

    return Trait(key=("predicate", text, unknown), paths=tuple(paths_in(predicate)), read=read, predicate=predicate)


def _operands(predicate: Any) -> Iterator[Mapping[str, Any]]:
    match predicate:
        case {"jwt": _} | {"variables": _}:
            yield predicate
        case dict():
            for each in predicate.values():
                yield from _operands(each)
        case list():
            for each in predicate:
                yield from _operands(each)


def leaves_of(conditions: Sequence[Predicate], mask: Mask | None = None) -> Iterator[Predicate]:
    """Yield the predicates on claims and variables that a mask is made of; ``None``: all."""
    waiting = list(range(len(conditions)) if mask is None else mask)
    met = set(waiting)
    while waiting:
        number = waiting.pop()
        alternatives = alternatives_of(conditions, number)
        if alternatives is None:
            if conditions[number] not in (NEVER, OWN_TOKEN):
                yield conditions[number]
            continue
        new = {each for ways in alternatives for each in ways} - met
        met |= new
        waiting += new


def variables_in(predicate: Predicate) -> Iterator[str]:
    """Yield the variables that a predicate names."""
    return (each["variables"][0] for each in _operands(predicate) if each.get("variables"))


def paths_in(predicate: Predicate) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the claims that a predicate names."""
    return (tuple(each["jwt"]) for each in _operands(predicate) if each.get("jwt"))


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
    alternatives = alternatives_of(conditions, number)
    if alternatives is None:
        return predicate_in_words(conditions[number] if 0 <= number < len(conditions) else {})
    if number in inside or len(inside) > 2:
        return "…"
    inside |= {number}
    ways = [" && ".join(_of_number(each, conditions, inside) for each in way) or "true" for way in alternatives]
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
        case {"value": value}:
            return json.dumps(value, ensure_ascii=False)
        case {"jwt": path} | {"variables": path}:
            source = "$jwt" if "jwt" in operand else "$variables"
            return ".".join([source, *path]) + (f":{operand['type']}" if "type" in operand else "")
        case _:
            return "?"
