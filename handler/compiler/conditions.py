"""The numbered condition table of one endpoint: distinct predicates, and "any of these masks" conditions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from handler.policy.evaluation import HIDDEN, NEVER, OPEN, Mask
from handler.policy.predicates import Predicate

Alternatives = frozenset[Mask]
"""Masks of which one is to be met; no mask contains another. An empty set is never met."""

System = Mapping[int, tuple[str, Alternatives]]
"""Provisional number below 0 -> the type that the condition is of, and its alternatives, which may refer to others."""


class ConditionTable(list[Predicate]):
    """The predicates by their numbers. The first one never holds.

    A composed predicate is ``{"any": [[1, 2], [3]]}``: it holds if all conditions of one list hold.
    """

    def __init__(self) -> None:
        super().__init__([NEVER])
        self._made: dict[frozenset[tuple[str, Alternatives]], int] = {}  # all that a condition refers to -> its number

    def mask(self, predicate: Predicate) -> Mask:
        """Return the mask of one predicate. The mask of a predicate that always holds is ``OPEN``."""
        if predicate == {"literal": True}:
            return OPEN
        if predicate not in self:
            self.append(predicate)
        return frozenset({self.index(predicate)})

    def without_variables(self, mask: Mask) -> Mask:
        """Return the conditions of a mask that no value of a variable decides; composed ones are left out."""
        texts = {number: json.dumps(self[number]) for number in mask}
        return frozenset(each for each, text in texts.items() if '"variables"' not in text and '"any"' not in text)

    def add(self, system: System) -> dict[int, int]:
        """Add a system and return provisional -> final number. A condition equal to a known one gets its number."""
        numbers: dict[int, int] = {}
        fresh: list[int] = []
        for provisional, (name, _) in system.items():
            # The name tells apart types that refer to each other: these share all that they refer to.
            whole = {(f"* {name}", frozenset[Mask]()), *(system[each] for each in _referred(provisional, system))}
            key = frozenset((each, _named(alternatives, system)) for each, alternatives in whole)
            if key not in self._made:
                self._made[key] = len(self)
                self.append(NEVER)
                fresh.append(provisional)
            numbers[provisional] = self._made[key]
        for provisional in fresh:
            masks = (renumbered(mask, numbers) for mask in system[provisional][1])
            self[numbers[provisional]] = {"any": sorted(sorted(mask) for mask in masks)}
        return numbers


def least(masks: Iterable[Mask]) -> Alternatives:
    """Return the masks that a caller can meet, without masks that contain another one."""
    least_masks: list[Mask] = []
    for mask in sorted({each for each in masks if HIDDEN.isdisjoint(each)}, key=len):
        if not any(other <= mask for other in least_masks):
            least_masks.append(mask)
    return frozenset(least_masks)


def renumbered(mask: Mask, numbers: Mapping[int, int]) -> Mask:
    """Replace the provisional numbers of a mask by final ones."""
    return frozenset(numbers.get(number, number) for number in mask)


def _referred(provisional: int, system: System) -> Iterator[int]:
    """Yield a condition and all that it refers to, directly or not."""
    waiting, queued = [provisional], {provisional}
    for number in waiting:  # it grows
        yield number
        new = {each for mask in system[number][1] for each in mask if each in system} - queued
        queued |= new
        waiting += sorted(new)


def _named(alternatives: Alternatives, system: System) -> Alternatives:
    """Replace provisional numbers, which differ from one call to the next, by the names of their types."""
    return frozenset(
        frozenset(system[number][0] if number in system else number for number in mask)  # type: ignore[misc]
        for mask in alternatives
    )
