"""The conditions of one endpoint: its distinct predicates, and what somebody meets who meets one of several masks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

from handler.policy.evaluation import HIDDEN, NEVER, OPEN, Mask
from handler.policy.predicates import Predicate

Alternatives = frozenset[Mask]
"""Masks of which one is to be met, none within another. Without any there is no way."""

System = Mapping[int, tuple[str, Alternatives]]
"""Conditions that refer to each other, by provisional numbers below 0: of which type each is, and its alternatives."""


class Conditions(Sequence[Predicate]):
    """The predicates by their numbers. The first one never holds.

    One that is made of others is ``{"any": [[1, 2], [3]]}``: lists of numbers, of which all of one list are to hold.
    """

    def __init__(self) -> None:
        self._predicates: list[Predicate] = [NEVER]
        self._made: dict[frozenset[tuple[str, Alternatives]], int] = {}  # what all it refers to says -> its number

    def mask(self, predicate: Predicate) -> Mask:
        """The mask of one predicate. What always holds needs no condition."""
        if predicate == {"literal": True}:
            return OPEN
        if predicate not in self._predicates:
            self._predicates.append(predicate)
        return frozenset({self._predicates.index(predicate)})

    def add(self, system: System) -> dict[int, int]:
        """The numbers for provisional ones. What says the same as one that is there already gets its number."""
        numbers: dict[int, int] = {}
        fresh: list[int] = []
        for provisional, (name, _) in system.items():
            # A name in front: types that refer to each other share all that they refer to.
            whole = frozenset(
                {(f"* {name}", frozenset[Mask]()), *(system[each] for each in _referred(provisional, system))}
            )
            key = frozenset((each, _named(alternatives, system)) for each, alternatives in whole)
            if key not in self._made:
                self._made[key] = len(self._predicates)
                self._predicates.append(NEVER)
                fresh.append(provisional)
            numbers[provisional] = self._made[key]
        for provisional in fresh:
            masks = (renumbered(mask, numbers) for mask in system[provisional][1])
            self._predicates[numbers[provisional]] = {"any": sorted(sorted(mask) for mask in masks)}
        return numbers

    @overload
    def __getitem__(self, index: int) -> Predicate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Predicate]: ...
    def __getitem__(self, index: int | slice) -> Predicate | Sequence[Predicate]:
        return self._predicates[index]

    def __len__(self) -> int:
        return len(self._predicates)


def least(masks: Iterable[Mask]) -> Alternatives:
    """Those of the masks that somebody can meet, without those that ask for more than another one does."""
    found: list[Mask] = []
    for mask in sorted({each for each in masks if HIDDEN.isdisjoint(each)}, key=len):
        if not any(other <= mask for other in found):
            found.append(mask)
    return frozenset(found)


def renumbered(mask: Mask, numbers: Mapping[int, int]) -> Mask:
    """A mask with final numbers for provisional ones."""
    return frozenset(numbers.get(number, number) for number in mask)


def _referred(provisional: int, system: System) -> Iterator[int]:
    """A condition and all that it refers to, directly or not."""
    found = {provisional}
    waiting = [provisional]
    while waiting:
        number = waiting.pop()
        yield number
        new = {each for mask in system[number][1] for each in mask if each in system} - found
        found |= new
        waiting += sorted(new)


def _named(alternatives: Alternatives, system: System) -> Alternatives:
    """The same with the names of types for provisional numbers, which differ from one time to the next."""
    return frozenset(
        frozenset(system[number][0] if number in system else number for number in mask)  # type: ignore[misc]
        for mask in alternatives
    )
