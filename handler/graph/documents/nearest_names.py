"""The names that are nearest to a wrong one, in time that does not grow with how much alike all of them are.

Counting edits takes a tenth of a millisecond for a pair of names. So all names are compared by the letters that they
share, which takes a hundredth of that, and edits are counted for the nearest of them alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile

from graphql.pyutils.natural_compare import natural_comparison_key
from graphql.pyutils.suggestion_list import LexicalDistance

MAX_NAME_CHARS = 100
"""Longer names are near to nothing, and comparing them takes long."""

MAX_COUNTED = 20
"""Names of which the edits are counted. More are never told, and names with other letters are not nearer."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class Names:
    """Names that a caller may use in one place, made ready to be compared with many wrong ones."""

    def __init__(self, names: Iterable[str]) -> None:
        self._letters = {name: _letters_of(name[:MAX_NAME_CHARS]) for name in names}

    def suggested_for(self, wrong: str) -> list[str]:
        """The names that may have been meant, the nearest first: as graphql-core suggests them, of those compared."""
        if len(wrong) > MAX_NAME_CHARS:
            return []
        most = int(len(wrong) * 0.4) + 1
        distance = LexicalDistance(wrong)
        edits = {name: distance.measure(name, most) for name in self._sharing_letters(wrong, most)}
        near = {name: count for name, count in edits.items() if count is not None}
        return sorted(near, key=lambda name: (near[name], natural_comparison_key(name)))

    def by_nearness(self, wrong: str) -> list[str]:
        """All names: those that share words with a wrong one first, then those that share letters with it."""
        wrong = wrong[:MAX_NAME_CHARS]
        letters, words = _letters_of(wrong), _words_of(wrong)
        return sorted(
            self._letters,
            key=lambda name: (-len(words & _words_of(name)), _difference(letters, self._letters[name])),
        )

    def _sharing_letters(self, wrong: str, most: int) -> list[str]:
        """The nearest names that may be ``most`` edits away: an edit changes no more than one letter for another.

        Of those that have the same letters in another order, as numbers do, those that begin alike are nearer.
        """
        letters = _letters_of(wrong)
        apart = {
            name: _difference(letters, each) for name, each in self._letters.items() if len(name) <= MAX_NAME_CHARS
        }
        near = [name for name in apart if apart[name] <= most]
        return sorted(near, key=lambda name: (apart[name], -_alike(wrong, name)))[:MAX_COUNTED]


Letters = frozenset[tuple[str, int]]
"""Each letter of a name with how often it stood before, so that sets share as many as the names do."""


def _letters_of(name: str) -> Letters:
    seen: Counter[str] = Counter()
    found = []
    for letter in name.lower():
        found.append((letter, seen[letter]))
        seen[letter] += 1
    return frozenset(found)


def _difference(one: Letters, other: Letters) -> int:
    """How many edits there are at least between names of these letters."""
    return max(len(one), len(other)) - len(one & other)


def _alike(one: str, other: str) -> int:
    """With how many letters both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _words_of(name: str) -> frozenset[str]:
    return frozenset(word.lower().removesuffix("s") for word in WORD.findall(name))
