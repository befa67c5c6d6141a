"""Conditions, masks and outcomes: the one representation of who may use what.

A *condition* is one distinct predicate; its number is its place in the bundle's list. A *mask* is the set of
conditions that must all hold for a coordinate or an operation to be usable; an *outcome* is the set of conditions
that hold for one caller. Visible means: mask ⊆ outcome. Condition 0 never holds for anybody: it is what a pattern
puts on the coordinates it hides.

Pure: imports nothing of ours, and runs at deploy time and at request time alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Predicate = Mapping[str, Any]
"""A small syntax tree: ``{"literal": false}``."""

Mask = frozenset[int]

OPEN: Mask = frozenset()
HIDDEN: Mask = frozenset({0})
NEVER: Predicate = {"never": True}


def holds(predicate: Predicate) -> bool:
    """Tell whether a predicate holds. A predicate of a kind that is not known here does not."""
    match predicate:
        case {"literal": bool(value), **others} if not others:
            return value
        case _:
            return False


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


def union_of(masks: Mapping[str, Mask], coordinates: Iterable[str]) -> Mask:
    """The mask of something that uses all of ``coordinates``."""
    return OPEN.union(*(masks.get(coordinate, OPEN) for coordinate in coordinates))


def hidden_from_everybody(guards: Mapping[str, Mask]) -> Callable[[str], bool]:
    """A judge of coordinates: hidden if no caller can have what its mask asks for."""
    return lambda coordinate: not HIDDEN.isdisjoint(guards.get(coordinate, OPEN))


def hidden_from(outcome: Mask, *guards: Mapping[str, Mask]) -> set[str]:
    """The guarded coordinates that callers of one outcome may not use: any table's mask does not lie within it."""
    return {coordinate for table in guards for coordinate, mask in table.items() if not mask <= outcome}
