"""The rules behind the guards of an endpoint.

A guard has the conditions that a caller must meet, and rules with equal conditions share one. So guards do not say
which rule hides a coordinate. Here the rules are spread over the schema in place of their conditions, by the same
propagation, and each coordinate gets the rules that it is hidden by, its own and those that it follows from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from handler.compiler.access.policies import INTROSPECTION, Rule
from handler.compiler.api_context import ApiContext
from handler.compiler.conditions import ConditionTable
from handler.compiler.problems import At, where
from handler.compiler.schema.coordinates import with_members
from handler.compiler.schema.name_graph import closure
from handler.policy.evaluation import HIDDEN, NEVER, OPEN, Evaluation, Mask
from handler.policy.predicates import Predicate

Holds = Callable[[Mask], bool]
"""A function that returns whether a caller meets a rule's mask."""


MAX_REASONS = 8
"""Independent sets of rules that are looked for, each of which closes something alone."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A rule that hides a coordinate from a caller. ``own``: the rule names the coordinate."""

    rule: Rule
    own: bool


class Provenance:
    """The rules behind each guard of an endpoint, and behind the guards of each GraphQL tool.

    ``patterned`` has the place of each tool with patterns, and the coordinates that the patterns hide themselves. The
    patterns of a tool are one rule.
    """

    def __init__(
        self, api: ApiContext, *, rules: Sequence[Rule], patterned: Mapping[str, tuple[At, Collection[str]]]
    ) -> None:
        self._api = api
        of_patterns = {
            name: Rule(mask=HIDDEN, coordinates=tuple(sorted(hidden)), text=f"the patterns of {name}", place=where(at))
            for name, (at, hidden) in patterned.items()
        }
        self._rules = dict(enumerate([*rules, *of_patterns.values()], start=1))
        self._number_of_patterns = {name: len(rules) + 1 + place for place, name in enumerate(of_patterns)}
        self._own: dict[str, frozenset[int]] = {}  # coordinate -> the rules that name it
        for number, rule in self._rules.items():
            for coordinate in with_members(api.schema, rule.coordinates):
                if rule.mask and coordinate.partition(".")[2] not in INTROSPECTION:
                    self._own[coordinate] = self._own.get(coordinate, OPEN) | {number}
        self._spread: dict[str, tuple[Mapping[str, Mask], Sequence[Predicate]]] = {}  # by the name of a tool
        self._evaluations: dict[tuple[str, frozenset[int]], Evaluation] = {}
        self._causes: dict[tuple[str, Mask, frozenset[int]], frozenset[int]] = {}

    @property
    def rules(self) -> Sequence[Rule]:
        """All rules, those of tools' patterns included."""
        return tuple(self._rules.values())

    def causes(self, coordinate: str, holds: Holds, *, tool: str = "") -> list[Cause]:
        """Return the rules that hide a coordinate from a caller, with the patterns of a GraphQL tool if one is named.

        The list is empty if no rule guards the coordinate, or the caller meets all.
        """
        mask = self._of(tool)[0].get(coordinate, OPEN)
        numbers = self._behind(mask, self.unmet(holds, tool=tool), tool)
        own = self._own.get(coordinate, OPEN)
        return [Cause(self._rules[number], number in own) for number in (*(numbers & own), *(numbers - own))]

    def hidden(self, holds: Holds, *, tool: str = "") -> dict[str, list[Cause]]:
        """Return hidden coordinate -> the rules that hide it from a caller."""
        pairs = ((coordinate, self.causes(coordinate, holds, tool=tool)) for coordinate in self._of(tool)[0])
        return {coordinate: causes for coordinate, causes in pairs if causes}

    def unmet(self, holds: Holds, *, tool: str = "") -> frozenset[int]:
        """Return the numbers of the rules that a caller does not meet."""
        return frozenset(
            number for number, rule in self._rules.items() if self._counts(number, tool) and not holds(rule.mask)
        )

    def hidden_by(self, numbers: frozenset[int], *, tool: str = "") -> set[str]:
        """Return the coordinates that are hidden from a caller that meets all rules but these."""
        evaluation = self._evaluation(tool, numbers)
        return {coordinate for coordinate, mask in self._of(tool)[0].items() if not evaluation.meets(mask)}

    def caused(self, numbers: Iterable[int]) -> list[Cause]:
        """Return rules by their numbers, as causes of something that they do not name."""
        return [Cause(self._rules[number], own=False) for number in sorted(numbers)]

    def _behind(self, mask: Mask, unmet: frozenset[int], tool: str) -> frozenset[int]:
        """Return the unmet rules for which a mask is not met."""
        key = (tool, mask, unmet)
        if key not in self._causes:
            conditions = self._of(tool)[1]
            evaluation = self._evaluation(tool, unmet)
            leaves = frozenset(_leaves(mask, conditions, lambda number: not evaluation.meets(frozenset({number}))))
            self._causes[key] = responsible(
                leaves & unmet, lambda numbers: not self._evaluation(tool, numbers).meets(mask)
            )
        return self._causes[key]

    def _counts(self, number: int, tool: str) -> bool:
        """Return whether a rule counts for a tool: patterns are for their own tool."""
        patterns = set(self._number_of_patterns.values())
        return number not in patterns or number == self._number_of_patterns.get(tool)

    def _of(self, tool: str) -> tuple[Mapping[str, Mask], Sequence[Predicate]]:
        """Return the guards over rules in place of conditions, and the conditions made of several rules."""
        tool = tool if tool in self._number_of_patterns else ""
        if tool not in self._spread:
            table = ConditionTable()
            for number in self._rules:
                table.mask({"rule": number})
            unused = frozenset(number for number in self._rules if not self._counts(number, tool))
            own = {coordinate: mask - unused for coordinate, mask in self._own.items()}
            self._spread[tool] = (self._api.consequences.over(table).of(own), tuple(table))
        return self._spread[tool]

    def _evaluation(self, tool: str, unmet: frozenset[int]) -> Evaluation:
        """Return the evaluation of conditions over rules for a caller that does not meet some rules."""
        if (tool, unmet) not in self._evaluations:
            truths: list[Predicate] = [{"literal": number not in unmet} for number in self._rules]
            conditions = [NEVER, *truths, *self._of(tool)[1][len(truths) + 1 :]]
            self._evaluations[tool, unmet] = Evaluation(conditions, claims=None)
        return self._evaluations[tool, unmet]


def responsible(numbers: Collection[int], closes: Callable[[frozenset[int]], bool]) -> frozenset[int]:
    """Return those of the rules that close something: each set of them closes it alone, and needs all of its rules.

    ``closes`` is for a caller that meets all other rules. Several sets are independent reasons.
    """
    reasons: frozenset[int] = frozenset()
    others = sorted(numbers)
    for _ in range(MAX_REASONS):
        if not others or not closes(frozenset(others)):
            break
        reasons |= _least(others, closes)
        others = [number for number in others if number not in reasons]
    return reasons


def _least(numbers: Sequence[int], closes: Callable[[frozenset[int]], bool]) -> frozenset[int]:
    """Return a part of the rules that closes, and of which every rule is needed. More rules close more."""
    rules = list(numbers)
    size = max(len(rules) // 2, 1)
    while True:
        place = 0
        while place < len(rules):
            fewer = rules[:place] + rules[place + size :]
            if closes(frozenset(fewer)):
                rules = fewer
            else:
                place += size
        if size == 1:
            return frozenset(rules)
        size //= 2


def _leaves(mask: Mask, conditions: Sequence[Predicate], unmet: Callable[[int], bool]) -> Iterator[int]:
    """Yield the unmet rules of a mask, and those below its conditions that are made of others."""

    def below(number: int) -> list[int]:
        return [each for ways in conditions[number].get("any") or () for each in ways if unmet(each)]

    numbers = closure((number for number in mask if unmet(number)), below)
    return (number for number in numbers if conditions[number].get("any") is None)
