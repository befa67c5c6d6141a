"""Conditions, masks and outcomes: the one representation of who may use what.

A *condition* is one distinct predicate; its number is its place in the bundle's list. A *mask* is the set of
conditions that must all hold for a coordinate or an operation to be usable; an *outcome* is the set of conditions
that hold for one caller. Visible means: mask ⊆ outcome. Condition 0 never holds for anybody: it is what a pattern
puts on the coordinates it hides.

Pure, and runs at deploy time and at request time alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from handler.predicates import UNKNOWN, Predicate, holds, judge

Mask = frozenset[int]

OPEN: Mask = frozenset()
HIDDEN: Mask = frozenset({0})
NEVER: Predicate = {"never": True}


def outcome_of(conditions: Sequence[Predicate], *, unrestricted: bool) -> Mask:
    """The numbers of the conditions that hold for a caller.

    An unrestricted caller (an API key without claims, the development principal) skips policies, as StepZen's
    service key does; what a pattern hides stays hidden for it.
    """
    return frozenset(
        number
        for number, predicate in enumerate(conditions)
        if predicate != NEVER and (unrestricted or holds(predicate))
    )


YES, NO, DEPENDS = (True, False), (False, True), (True, True)
"""What ``judge`` says of what holds, does not, and depends on variables that are not known."""


class Judgement:
    """What holds for one caller of one endpoint. Each condition is judged once, when it is first asked for.

    ``claims`` are verified ones; ``None``: the caller brought none. A condition that never holds does not hold for an
    unrestricted caller either.
    """

    def __init__(
        self, conditions: Sequence[Predicate], *, claims: Mapping[str, Any] | None, unrestricted: bool = False
    ) -> None:
        self._conditions = conditions
        self._claims = claims
        self._unrestricted = unrestricted
        self._judged: dict[int, tuple[bool, bool]] = {}

    def meets(self, mask: Mask) -> bool:
        """Whether all conditions of a mask hold, whatever values variables have."""
        return all(self._verdict(number) == YES for number in mask)

    def may_meet(self, mask: Mask, variables: Collection[str]) -> bool:
        """Whether there may be values of these variables for which all conditions of a mask hold."""
        return all(self._may_hold(number, variables) for number in mask)

    def meets_with(self, mask: Mask, variables: Mapping[str, Any]) -> bool:
        """Whether all conditions of a mask hold for these values of the variables."""
        return all(self._verdict_with(number, variables) == YES for number in mask)

    def outcome(self, conditions: Mask) -> Mask:
        """Those of the conditions that hold, whatever values variables have."""
        return frozenset(number for number in conditions if self._verdict(number) == YES)

    def _verdict(self, number: int) -> tuple[bool, bool]:
        verdict = self._judged.get(number)
        if verdict is None:
            verdict = self._judged[number] = self._judge(number, None)
        return verdict

    def _may_hold(self, number: int, variables: Collection[str]) -> bool:
        verdict = self._verdict(number)
        if verdict == DEPENDS:
            verdict = self._judge(number, dict.fromkeys(variables, UNKNOWN))
        return verdict[0]

    def _verdict_with(self, number: int, variables: Mapping[str, Any]) -> tuple[bool, bool]:
        verdict = self._verdict(number)
        return self._judge(number, variables) if verdict == DEPENDS else verdict

    def _judge(self, number: int, variables: Mapping[str, Any] | None) -> tuple[bool, bool]:
        predicate = self._conditions[number] if 0 <= number < len(self._conditions) else NEVER
        if predicate == NEVER or self._unrestricted:
            return NO if predicate == NEVER else YES
        return judge(predicate, self._claims, variables)


def union_of(masks: Mapping[str, Mask], coordinates: Iterable[str]) -> Mask:
    """The mask of something that uses all of ``coordinates``."""
    return OPEN.union(*(masks.get(coordinate, OPEN) for coordinate in coordinates))


def hidden_from_everybody(guards: Mapping[str, Mask]) -> Callable[[str], bool]:
    """A judge of coordinates: hidden if no caller can have what its mask asks for."""
    return lambda coordinate: not HIDDEN.isdisjoint(guards.get(coordinate, OPEN))


def hidden_from(outcome: Mask, *guards: Mapping[str, Mask]) -> set[str]:
    """The guarded coordinates that callers of one outcome may not use: any table's mask does not lie within it."""
    return {coordinate for table in guards for coordinate, mask in table.items() if not mask <= outcome}
