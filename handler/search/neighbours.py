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

LINKED = 0.25
"""Share of the score of a second type next to one, which has another word of the question: the one may link the two."""

_Key = TypeVar("_Key", int, str)


def with_neighbours(
    types: Mapping[str, float],
    *,
    having: Sequence[Set[str]],
    next_to: Callable[[str], Iterable[str]],
    with_fields: Mapping[str, float],
) -> dict[str, float]:
    """Return the best types, each with a share of the scores of the best types next to it, and the neighbours of a few.

    ``having``: for each word of the question, the types that have it. ``with_fields``: the types that have fields, each
    with its factor.
    """
    names = best(types, MAX_TYPES)
    found = {
        each: with_fields[each] * NEIGHBOUR * types[name]
        for name in names[MAX_LEADING - 1 :: -1]
        for each in with_fields.keys() & next_to(name)
    }
    for name in names:
        near = types.keys() & next_to(name)
        found[name] = types[name] + (_share(near, types, having) if near else 0.0)
    return found


def best(scores: Mapping[_Key, float], limit: int) -> Sequence[_Key]:
    """Return the keys with the greatest scores; equal scores are ordered by key."""
    least = nlargest(limit, scores.values())[-1:] or [0.0]
    return sorted((key for key, score in scores.items() if score >= least[0]), key=lambda key: (-scores[key], key))[
        :limit
    ]


def _share(near: Set[str], types: Mapping[str, float], having: Iterable[Set[str]]) -> float:
    first = min(near, key=lambda each: (-types[each], each))
    linked = (types[each] for those in having if first not in those for each in near & those)
    return NEIGHBOUR * types[first] + LINKED * max(linked, default=0.0)
