"""One step along relations: the types next to good types are brought forward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from heapq import nlargest
from typing import TypeVar

MAX_TYPES = 80
"""Types that get a share of the score of their neighbours; others are not results by their own words."""

MAX_LEADING = 3
"""Types whose neighbours may be results without a word of the question."""

NEIGHBOUR = 0.42
"""Share of a type's score that the types next to it get."""

TOGETHER = 0.2
"""Weight of the question's words that a type lacks and a type next to it has."""

_Key = TypeVar("_Key", int, str)


def with_neighbours(
    types: Mapping[str, float],
    *,
    shares: Sequence[Mapping[str, float]],
    next_to: Callable[[str], Iterable[str]],
    with_fields: Mapping[str, float],
) -> dict[str, float]:
    """Return the best types with the shares of the types next to them, and the neighbours of the very best.

    ``shares``: for each word of the question, the share of the question's information that types have by the word.
    ``with_fields``: the types that have fields, each with its factor.
    """
    names = best(types, MAX_TYPES)
    found = {
        each: with_fields[each] * NEIGHBOUR * types[name]
        for name in reversed(names[:MAX_LEADING])
        for each in with_fields.keys() & next_to(name)
    }
    for name in names:
        near = types.keys() & next_to(name)
        together = sum(_lacked(name, near, share) for share in shares)
        found[name] = types[name] + NEIGHBOUR * max(map(types.__getitem__, near), default=0.0) + TOGETHER * together
    return found


def best(scores: Mapping[_Key, float], limit: int) -> Sequence[_Key]:
    """Return the keys with the greatest scores; equal scores are ordered by key."""
    least = nlargest(limit, scores.values())[-1:] or [0.0]
    return sorted((key for key, score in scores.items() if score >= least[0]), key=lambda key: (-scores[key], key))[
        :limit
    ]


def _lacked(name: str, near: Set[str], share: Mapping[str, float]) -> float:
    most = max((share[each] for each in near & share.keys()), default=0.0)
    return max(0.0, most - share.get(name, 0.0))
