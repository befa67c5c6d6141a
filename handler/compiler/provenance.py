"""The rules behind the guards of an endpoint.

A guard has the conditions that a caller must meet, and rules with equal conditions share one. So guards do not say
which rule hides a coordinate. Here the rules are spread over the schema in place of their conditions, by the same
propagation, and each coordinate gets the rules that it is hidden by, its own and those that it follows from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from handler.compiler.access.policies import INTROSPECTION, Rule
from handler.compiler.api_context import ApiContext
from handler.compiler.conditions import ConditionTable
from handler.compiler.problems import At, where
from handler.compiler.schema.coordinates import with_members
from handler.policy.evaluation import HIDDEN, NEVER, OPEN, Evaluation, Mask
from handler.policy.predicates import Predicate

Holds = Callable[[Mask], bool]
"""A function that tells if a caller meets a rule's mask."""


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
        of_patterns = {name: _pattern_rule(name, at, hidden) for name, (at, hidden) in patterned.items()}
        self._rules = dict(enumerate([*rules, *of_patterns.values()], start=1))
        self._number_of_patterns = {name: len(rules) + 1 + place for place, name in enumerate(of_patterns)}
        self._own = _own_guards(self._rules, api)
        self._spread: dict[str, tuple[Mapping[str, Mask], Sequence[Predicate]]] = {}  # by the name of a tool
        self._evaluations: dict[tuple[str, frozenset[int]], Evaluation] = {}

    @property
    def rules(self) -> Sequence[Rule]:
        """All rules, those of tools' patterns included."""
        return tuple(self._rules.values())

    def causes(self, coordinate: str, holds: Holds, *, tool: str = "") -> list[Cause]:
        """Return the rules that hide a coordinate from a caller, with the patterns of a GraphQL tool if one is named.

        The list is empty if no rule guards the coordinate, or the caller meets all.
        """
        guards, conditions = self._of(tool)
        own, unmet = self._own.get(coordinate, OPEN), self._unmet(tool, holds)
        missing = guards.get(coordinate, OPEN)
        found = {number for number in _leaves(missing, conditions, unmet) if number in self._rules}
        return [
            Cause(self._rules[number], number in own)
            for number in sorted(found, key=lambda each: (each not in own, each))
        ]

    def hidden(self, holds: Holds, *, tool: str = "") -> dict[str, list[Cause]]:
        """Return hidden coordinate -> the rules that hide it from a caller."""
        found = {coordinate: self.causes(coordinate, holds, tool=tool) for coordinate in self._of(tool)[0]}
        return {coordinate: causes for coordinate, causes in found.items() if causes}

    def _counts(self, number: int, tool: str) -> bool:
        """Tell if a rule counts for a tool: patterns are for their own tool."""
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

    def _unmet(self, tool: str, holds: Holds) -> Callable[[int], bool]:
        """Return a function that tells if a rule, or a condition made of rules, does not hold for a caller."""
        _, conditions = self._of(tool)
        lacking = frozenset(number for number, rule in self._rules.items() if not holds(rule.mask))
        if (tool, lacking) not in self._evaluations:
            truths: list[Predicate] = [{"literal": number not in lacking} for number in self._rules]
            made = [NEVER, *truths, *conditions[len(truths) + 1 :]]
            self._evaluations[tool, lacking] = Evaluation(made, claims=None)
        evaluation = self._evaluations[tool, lacking]
        return lambda number: not evaluation.meets(frozenset({number}))


def _pattern_rule(tool: str, at: At, hidden: Collection[str]) -> Rule:
    return Rule(mask=HIDDEN, coordinates=tuple(sorted(hidden)), text=f"the patterns of {tool}", place=where(at))


def _own_guards(rules: Mapping[int, Rule], api: ApiContext) -> dict[str, Mask]:
    """Return coordinate -> the numbers of the rules that name it, or the type that it belongs to."""
    found: dict[str, set[int]] = {}
    for number, rule in rules.items():
        for coordinate in with_members(api.schema, rule.coordinates):
            if rule.mask and coordinate.partition(".")[2] not in INTROSPECTION:
                found.setdefault(coordinate, set()).add(number)
    return {coordinate: frozenset(numbers) for coordinate, numbers in found.items()}


def _leaves(mask: Mask, conditions: Sequence[Predicate], unmet: Callable[[int], bool]) -> Iterator[int]:
    """Yield the unmet rules of a mask, and those below its conditions that are made of others."""
    waiting = [number for number in mask if unmet(number)]
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        alternatives = conditions[number].get("any")
        if alternatives is None:
            yield number
            continue
        new = {each for ways in alternatives for each in ways if unmet(each)} - seen
        seen |= new
        waiting += new
