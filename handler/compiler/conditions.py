"""The conditions of one endpoint: its distinct predicates, and what somebody meets who meets one of several masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import overload

from handler.policy import HIDDEN, NEVER, OPEN, Mask
from handler.predicates import Predicate

MAX_ALTERNATIVES = 64
"""Of more the first ones count: who meets only another one is refused, which is the safe side."""

Alternatives = frozenset[Mask]
"""Masks of which one is to be met, none within another."""


class Conditions(Sequence[Predicate]):
    """The predicates by their numbers. The first one never holds."""

    def __init__(self) -> None:
        self._predicates: list[Predicate] = [NEVER]
        self._alternatives: dict[int, Alternatives] = {}  # of those that were made of others
        self._numbers: dict[Alternatives, int] = {}

    def mask(self, predicate: Predicate) -> Mask:
        """The mask of one predicate. What always holds needs no condition."""
        if predicate == {"literal": True}:
            return OPEN
        if predicate not in self._predicates:
            self._predicates.append(predicate)
        return frozenset({self._predicates.index(predicate)})

    def either(self, masks: Iterable[Mask]) -> Mask:
        """What callers meet who meet any of these masks, and nobody else."""
        found = _least(each for mask in masks for each in self._ways_to_meet(mask) if HIDDEN.isdisjoint(each))
        if not found:
            return HIDDEN
        common = frozenset[int].intersection(*found)
        rest = _least(each - common for each in found)
        return common if OPEN in rest else common | {self._number(rest)}

    def implies(self, mask: Mask, number: int) -> bool:
        """Whether whoever meets a mask meets this condition, too."""
        if number in mask or number not in self._alternatives:
            return number in mask
        return all(any(other <= each for other in self._alternatives[number]) for each in self._ways_to_meet(mask))

    @overload
    def __getitem__(self, index: int) -> Predicate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Predicate]: ...
    def __getitem__(self, index: int | slice) -> Predicate | Sequence[Predicate]:
        return self._predicates[index]

    def __len__(self) -> int:
        return len(self._predicates)

    def _number(self, alternatives: Alternatives) -> int:
        number = self._numbers.get(alternatives)
        if number is None:
            number = self._numbers[alternatives] = len(self._predicates)
            self._alternatives[number] = alternatives
            self._predicates.append({"or": [self._all_of(mask) for mask in sorted(alternatives, key=sorted)]})
        return number

    def _all_of(self, mask: Mask) -> Predicate:
        parts = [self._predicates[number] for number in sorted(mask)]
        return parts[0] if len(parts) == 1 else {"and": parts}

    def _ways_to_meet(self, mask: Mask) -> Alternatives:
        """The masks of predicates that an author wrote, of which one is to be met."""
        made = [self._alternatives[number] for number in sorted(mask) if number in self._alternatives]
        written = frozenset(number for number in mask if number not in self._alternatives)
        return _least(written.union(*chosen) for chosen in product(*made))


def _least(masks: Iterable[Mask]) -> Alternatives:
    """Those of the masks that do not ask for more than another one does."""
    found: list[Mask] = []
    for mask in sorted(set(masks), key=lambda each: (len(each), sorted(each))):
        if len(found) < MAX_ALTERNATIVES and not any(other <= mask for other in found):
            found.append(mask)
    return frozenset(found)
