"""Conditions, masks and outcomes: the representation of access rules.

A *condition* is one distinct predicate; its number is its place in the bundle's list. A *mask* is the set of
conditions that must all hold for a coordinate or an operation to be usable. An *outcome* is the set of conditions
that hold for one caller. Visible means: mask ⊆ outcome. Condition 0 never holds for any caller: a pattern puts it on
the coordinates that it hides.

Pure, and runs both at deploy time and at request time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from handler.policy.predicates import (
    FAILS,
    HOLDS,
    MAY_HOLD,
    NEITHER,
    SURELY_HOLDS,
    UNKNOWN,
    Evaluate,
    Predicate,
    Truth,
    compile_predicate,
)

Mask = frozenset[int]

OPEN: Mask = frozenset()
HIDDEN: Mask = frozenset({0})
NEVER: Predicate = {"never": True}

DEFAULT = "="
"""The end of the coordinate of an input's default: ``Sort.by=``, ``Query.people(sort:)=``."""

KNOWN: Predicate = {"exists": {"jwt": []}}
"""The caller is authenticated. Authors write it as ``?$jwt``."""

OWN_TOKEN: Predicate = {"and": [KNOWN]}
"""The caller has a token that this function verified and that may be sent to an API. No author can write it."""


class Conditions(tuple[Predicate, ...]):  # noqa: SLOT001 - a tuple cannot have slots that hold anything
    """The conditions of one endpoint, each compiled at its first evaluation."""

    def __init__(self, _: Iterable[Predicate]) -> None:
        self._compiled: dict[int, Evaluate | None] = {}

    def compiled(self, number: int) -> Evaluate | None:
        """Return the function that evaluates a condition; ``None`` if the condition never holds."""
        if number not in self._compiled:
            predicate = self[number] if 0 <= number < len(self) else NEVER
            self._compiled[number] = None if predicate == NEVER else compile_predicate(predicate)
        return self._compiled[number]


class Evaluation:
    """The conditions that hold for one caller of one endpoint. Each is evaluated once, at its first use.

    ``claims`` are verified ones; ``None`` if there are none, ``UNKNOWN`` for a token with any claims. An unrestricted
    caller (an API key without claims, the development principal) skips policies, as StepZen's service key does;
    coordinates hidden by a pattern stay hidden. ``lacking`` are conditions that count as failed for every caller. The
    predicates compiled in ``Conditions`` serve other callers, too.
    """

    def __init__(
        self,
        conditions: Sequence[Predicate],
        *,
        claims: Mapping[str, Any] | None,
        unrestricted: bool = False,
        lacking: Mask = OPEN,
    ) -> None:
        self._conditions = conditions if isinstance(conditions, Conditions) else Conditions(conditions)
        self._claims = claims if claims is None or claims is UNKNOWN else dict(claims)
        self._unrestricted = unrestricted
        self._lacking = lacking
        self._known: dict[int, Truth] = {}  # for unknown values of all variables

    def meets(self, mask: Mask) -> bool:
        """Return whether all conditions of a mask hold for any values of variables."""
        return all(self._truth(number) & SURELY_HOLDS for number in mask)

    def may_ever_meet(self, mask: Mask) -> bool:
        """Return whether all conditions of a mask may hold for some values of any variables."""
        return all(self._truth(number) & MAY_HOLD for number in mask)

    def meets_with(self, mask: Mask, variables: Mapping[str, Any]) -> bool:
        """Return whether all conditions of a mask hold for these values of the variables."""
        return self._have(SURELY_HOLDS, mask, variables)

    def may_meet(self, mask: Mask, variables: Collection[str]) -> bool:
        """Return whether all conditions of a mask may hold for some values of these variables.

        A mapping gives the values of its variables, of which some may be ``UNKNOWN``.
        """
        values = variables if isinstance(variables, Mapping) else dict.fromkeys(variables, UNKNOWN)
        return self._have(MAY_HOLD, mask, values)

    def outcome(self, conditions: Mask | None = None) -> Mask:
        """Return those of the conditions (``None``: all) that hold for any values of variables."""
        numbers = range(len(self._conditions)) if conditions is None else conditions
        return frozenset(number for number in numbers if self._truth(number) & SURELY_HOLDS)

    def _truth(self, number: int) -> Truth:
        truth = self._known.get(number)
        if truth is not None:
            return truth
        if alternatives_of(self._conditions, number) is None:
            self._known[number] = self._evaluate(number, None)
        else:
            self._known.update(_truths(number, self._conditions, self._truth))
        return self._known[number]

    def _have(self, fact: Truth, mask: Mask, variables: Mapping[str, Any]) -> bool:
        """Return whether a fact is true of all conditions of a mask for these values of variables."""
        if self.meets(mask):
            return True
        values = dict(variables)
        truths: dict[int, Truth] = {}
        for number in mask:
            truth = self._truth(number)
            if truth & MAY_HOLD and not truth & SURELY_HOLDS:
                if number not in truths:
                    truths |= _truths(number, self._conditions, lambda each: self._evaluate(each, values))
                truth = truths[number]
            if not truth & fact:
                return False
        return True

    def _evaluate(self, number: int, variables: dict[str, Any] | None) -> Truth:
        evaluate = self._conditions.compiled(number)
        if evaluate is None or number in self._lacking:
            return FAILS
        return HOLDS if self._unrestricted else evaluate(self._claims, variables)


def _truths(number: int, conditions: Sequence[Predicate], evaluate: Callable[[int], Truth]) -> dict[int, Truth]:
    """Return the truth of a condition and, if it is made of others, of all of these.

    Types may refer to each other, and so may their conditions: the result is the greatest fixed point. No condition
    made of others is negated, so only the facts of holding are found for one.
    """
    truths: dict[int, Truth] = {}
    composites: dict[int, list[list[int]]] = {}
    waiting = [number]
    while waiting:
        each = waiting.pop()
        if each in composites or each in truths:
            continue
        alternatives = alternatives_of(conditions, each)
        if alternatives is None:
            truths[each] = evaluate(each)
        else:
            composites[each] = alternatives
            waiting += [other for all_of in alternatives for other in all_of]
    may = _greatest(composites, {each for each, truth in truths.items() if truth & MAY_HOLD})
    surely = _greatest(composites, {each for each, truth in truths.items() if truth & SURELY_HOLDS})
    return truths | {each: HOLDS if each in surely else MAY_HOLD if each in may else NEITHER for each in composites}


def _greatest(composites: Mapping[int, list[list[int]]], held: set[int]) -> set[int]:
    """Return ``held`` and the conditions made of others that hold with them: the greatest fixed point."""
    holding = held | composites.keys()
    refuted: set[int] = {-1}
    while refuted:
        refuted = {
            each
            for each, alternatives in composites.items()
            if each in holding and not any(holding.issuperset(all_of) for all_of in alternatives)
        }
        holding -= refuted
    return holding


def alternatives_of(conditions: Sequence[Predicate], number: int) -> list[list[int]] | None:
    """Return the alternatives of a condition made of others, as lists of numbers; ``None`` for other conditions."""
    condition = conditions[number] if 0 <= number < len(conditions) else NEVER
    alternatives = condition.get("any") if len(condition) == 1 else None
    return [ways for ways in alternatives if isinstance(ways, list)] if isinstance(alternatives, list) else None


def union_of(masks: Mapping[str, Mask], coordinates: Iterable[str]) -> Mask:
    """Return the mask of an operation that uses all of ``coordinates``."""
    return OPEN.union(*(masks.get(coordinate, OPEN) for coordinate in coordinates))


def hidden_from_everybody(guards: Mapping[str, Mask]) -> Callable[[str], bool]:
    """Return a predicate on coordinates: true if no caller can satisfy the coordinate's mask."""
    return lambda coordinate: not HIDDEN.isdisjoint(guards.get(coordinate, OPEN))


def hidden_from(outcome: Mask, *guards: Mapping[str, Mask]) -> set[str]:
    """Return the coordinates hidden from callers of one outcome: the mask in any table is not a subset of it."""
    return {coordinate for table in guards for coordinate, mask in table.items() if not mask <= outcome}
