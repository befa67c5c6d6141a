"""The names nearest to a wrong one, in time that does not grow with the likeness of the names.

Counting edits takes a tenth of a millisecond for a pair of names. Comparing the letters that names share takes a
hundredth of that, so all names are compared by letters, and edits are counted only for the nearest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile

from graphql.pyutils.natural_compare import natural_comparison_key
from graphql.pyutils.suggestion_list import LexicalDistance

MAX_NAME_CHARS = 100
"""Longer names are near to no other, and comparing them takes long."""

MAX_COUNTED = 20
"""Names whose edits are counted. No more are ever shown, and names with other letters are not nearer."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class Names:
    """Names that a caller may use in one place, prepared for comparison with many wrong ones."""

    def __init__(self, names: Iterable[str]) -> None:
        self._letters = {name: _letters_of(name[:MAX_NAME_CHARS]) for name in names}

    def suggested_for(self, wrong: str) -> list[str]:
        """Return the names that may have been meant, nearest first: graphql-core's suggestions among those compared."""
        if len(wrong) > MAX_NAME_CHARS:
            return []
        most = int(len(wrong) * 0.4) + 1
        distance = LexicalDistance(wrong)
        edits = {name: distance.measure(name, most) for name in self._sharing_letters(wrong, most)}
        near = {name: count for name, count in edits.items() if count is not None}
        return sorted(near, key=lambda name: (near[name], natural_comparison_key(name)))

    def by_nearness(self, wrong: str) -> list[str]:
        """Return all names: first those that share words with the wrong one, then those that share letters."""
        wrong = wrong[:MAX_NAME_CHARS]
        letters, words = _letters_of(wrong), _words_of(wrong)
        return sorted(
            self._letters,
            key=lambda name: (-len(words & _words_of(name)), _difference(letters, self._letters[name])),
        )

    def _sharing_letters(self, wrong: str, most: int) -> list[str]:
        """Return the nearest names that may be ``most`` edits away: an edit changes at most one letter.

        Names with the same letters in another order, as in numbers, are sorted by the length of the common prefix.
        """
        letters = _letters_of(wrong)
        apart = {
            name: _difference(letters, each) for name, each in self._letters.items() if len(name) <= MAX_NAME_CHARS
        }
        near = [name for name in apart if apart[name] <= most]
        return sorted(near, key=lambda name: (apart[name], -_alike(wrong, name)))[:MAX_COUNTED]


Letters = frozenset[tuple[str, int]]
"""Each letter of a name with the number of its earlier occurrences, so that sets count repeated letters."""


def _letters_of(name: str) -> Letters:
    seen: Counter[str] = Counter()
    found = []
    for letter in name.lower():
        found.append((letter, seen[letter]))
        seen[letter] += 1
    return frozenset(found)


def _difference(one: Letters, other: Letters) -> int:
    """Return the least number of edits between names of these letters."""
    return max(len(one), len(other)) - len(one & other)


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _words_of(name: str) -> frozenset[str]:
    return frozenset(word.lower().removesuffix("s") for word in WORD.findall(name))
