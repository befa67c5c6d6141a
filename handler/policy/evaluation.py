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

from handler.policy.predicates import UNKNOWN, Judge, Predicate, compile_predicate

Mask = frozenset[int]

Verdict = tuple[bool, bool]
"""Whether something may hold, and whether it may fail."""

OPEN: Mask = frozenset()
HIDDEN: Mask = frozenset({0})
NEVER: Predicate = {"never": True}

KNOWN: Predicate = {"exists": {"jwt": []}}
"""Somebody known calls: what an author writes as ``?$jwt``."""

OWN_TOKEN: Predicate = {"and": [KNOWN]}
"""The caller brought a token that this function verified, and that serves to ask an API. No author can write it."""


YES, NO, DEPENDS = (True, False), (False, True), (True, True)
"""What is judged of what holds, does not, and depends on variables that are not known."""


class Conditions(tuple[Predicate, ...]):  # noqa: SLOT001 - a tuple cannot have slots that hold anything
    """The conditions of one endpoint, each of them compiled when it is first judged."""

    def __init__(self, _: Iterable[Predicate]) -> None:
        self._judges: dict[int, Judge | None] = {}

    def judge(self, number: int) -> Judge | None:
        """What judges a condition; nothing: it never holds."""
        if number not in self._judges:
            predicate = self[number] if 0 <= number < len(self) else NEVER
            self._judges[number] = None if predicate == NEVER else compile_predicate(predicate)
        return self._judges[number]


class Evaluation:
    """What holds for one caller of one endpoint. Each condition is judged once, when it is first asked for.

    ``claims`` are verified ones; ``None``: the caller brought none. An unrestricted caller (an API key without claims,
    the development principal) skips policies, as StepZen's service key does; what a pattern hides stays hidden.
    ``lacking`` are conditions that are taken not to hold, whoever it is. What is compiled of ``Conditions`` serves
    other callers as well.
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
        self._claims = claims
        self._unrestricted = unrestricted
        self._lacking = lacking
        self._judged: dict[int, Verdict] = {}

    def meets(self, mask: Mask) -> bool:
        """Whether all conditions of a mask hold, whatever values variables have."""
        return all(self._verdict(number) == YES for number in mask)

    def may_meet(self, mask: Mask, variables: Collection[str]) -> bool:
        """Whether there may be values of these variables for which all conditions of a mask hold."""
        if all(self._verdict(number) == YES for number in mask):
            return True
        known = self._with(dict.fromkeys(variables, UNKNOWN))
        return all(known(number)[0] for number in mask)

    def may_ever_meet(self, mask: Mask) -> bool:
        """Whether there may be values of any variables for which all conditions of a mask hold."""
        return all(self._verdict(number)[0] for number in mask)

    def meets_with(self, mask: Mask, variables: Mapping[str, Any]) -> bool:
        """Whether all conditions of a mask hold for these values of the variables."""
        if all(self._verdict(number) == YES for number in mask):
            return True
        known = self._with(variables)
        return all(known(number) == YES for number in mask)

    def outcome(self, conditions: Mask | None = None) -> Mask:
        """Those of the conditions, or of all there are, that hold whatever values variables have."""
        asked = range(len(self._conditions)) if conditions is None else conditions
        return frozenset(number for number in asked if self._verdict(number) == YES)

    def _verdict(self, number: int) -> Verdict:
        verdict = self._judged.get(number)
        if verdict is not None:
            return verdict
        if _alternatives(self._conditions, number) is None:
            self._judged[number] = self._judge(number, None)
        else:
            self._judged.update(_with_made(number, self._conditions, lambda each: self._judge(each, None)))
        return self._judged[number]

    def _with(self, variables: Mapping[str, Any]) -> Callable[[int], Verdict]:
        """The verdicts for values of variables."""
        found: dict[int, Verdict] = {}

        def verdict(number: int) -> Verdict:
            if self._verdict(number) != DEPENDS:
                return self._verdict(number)
            if number not in found:
                found.update(_with_made(number, self._conditions, lambda each: self._judge(each, variables)))
            return found[number]

        return verdict

    def _judge(self, number: int, variables: Mapping[str, Any] | None) -> Verdict:
        judge = self._conditions.judge(number)
        if judge is None or number in self._lacking:
            return NO
        return YES if self._unrestricted else judge(self._claims, variables)


def _with_made(number: int, conditions: Sequence[Predicate], judged: Callable[[int], Verdict]) -> dict[int, Verdict]:
    """The verdicts of a condition and, if it is made of others, of all of them.

    Types may lead to each other, and so may their conditions: what may hold is the most that they allow each other.
    """
    verdicts: dict[int, Verdict] = {}
    made: dict[int, list[list[int]]] = {}
    waiting = [number]
    while waiting:
        each = waiting.pop()
        if each in made or each in verdicts:
            continue
        alternatives = _alternatives(conditions, each)
        if alternatives is None:
            verdicts[each] = judged(each)
        else:
            made[each] = alternatives
            waiting += [other for all_of in alternatives for other in all_of]
    may = {each for each, verdict in verdicts.items() if verdict[0]}
    certain = {each for each, verdict in verdicts.items() if verdict == YES}
    may, certain = _most(made, may), _most(made, certain)
    return verdicts | {each: (each in may, each not in certain) for each in made}


def _most(made: Mapping[int, list[list[int]]], held: set[int]) -> set[int]:
    """The conditions that hold where these do: those made of others as well, until none of them has to go."""
    found = held | made.keys()
    gone: set[int] = {-1}
    while gone:
        gone = {each for each in made if each in found and not any(found.issuperset(ways) for ways in made[each])}
        found -= gone
    return found


def _alternatives(conditions: Sequence[Predicate], number: int) -> list[list[int]] | None:
    """The lists of numbers of a condition that is made of others."""
    condition = conditions[number] if 0 <= number < len(conditions) else NEVER
    alternatives = condition.get("any") if len(condition) == 1 else None
    return [ways for ways in alternatives if isinstance(ways, list)] if isinstance(alternatives, list) else None


def union_of(masks: Mapping[str, Mask], coordinates: Iterable[str]) -> Mask:
    """The mask of something that uses all of ``coordinates``."""
    return OPEN.union(*(masks.get(coordinate, OPEN) for coordinate in coordinates))


def hidden_from_everybody(guards: Mapping[str, Mask]) -> Callable[[str], bool]:
    """A judge of coordinates: hidden if no caller can have what its mask asks for."""
    return lambda coordinate: not HIDDEN.isdisjoint(guards.get(coordinate, OPEN))


def hidden_from(outcome: Mask, *guards: Mapping[str, Mask]) -> set[str]:
    """The guarded coordinates that callers of one outcome may not use: any table's mask does not lie within it."""
    return {coordinate for table in guards for coordinate, mask in table.items() if not mask <= outcome}
