"""The places of each word in a view, each with its weight. Every number that counts is the view's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from math import log
from typing import TypeVar

from handler.cold.records import record
from handler.graph.view import View
from handler.lru import Lru
from handler.search.postings import Postings
from handler.search.stems import stem
from handler.search.visible_parts import VisibleParts
from handler.search.words import split

T = TypeVar("T")

MAX_KEPT_BYTES = 4_000_000
"""Approximate memory of the places of questions' words that are kept."""

PLACE_BYTES = 150
"""Memory of a member or type among the places of a word, measured on GitHub's schema."""

NAME, TEXT, ARGUMENT = 3.0, 2.0, 0.4
"""Weights of a word by its place: a name, a description, the name of an argument."""

LONG_NAME, LONG_TEXT = 0.3, 0.3
"""How much less each word of a longer name or description weighs (BM25's b)."""

TYPE_NAME, TYPE_TEXT, MEMBER_NAMES, MEMBER_TEXTS = 3.0, 1.0, 1.0, 0.3
"""Weights of a word by its place, for a type."""

LONG_TYPE_NAME, LARGE_TYPE = 0.7, 0.3
"""How much less each word of a longer name, or of a type with more members, weighs (BM25's b)."""

HEAD = 1.4
"""Factor of the last word of a type's name, which says what the type is: ``Comment`` of ``OrderComment``."""

USUAL_TYPE_NAME = 2.0
"""Words of a type's name that are usual."""


@record(frozen=True, slots=True)
class Named:
    """The parts with a word in their names."""

    members: Set[int]
    types: Set[str]


@record(frozen=True, slots=True)
class Places:
    """The places of a word, and of the words that stand for it."""

    members: Mapping[int, float]  # member -> weight
    texts: Set[int]  # members that have it in their descriptions
    named: Set[str]  # types by their names
    by_word: Sequence[Named]  # of each of the words
    types: Mapping[str, float]  # type -> weight; not of root types
    of_types: int  # types that have it, root types too


class Corpus:
    """The visible parts of a view, by number, and the places of each word."""

    def __init__(self, view: View, postings: Postings) -> None:
        self.parts = VisibleParts(view, postings)
        self.types = sorted(view.members)
        self.count = len(self.parts.members)  # of members
        self._view = view
        self.name_lengths, self._text_lengths = self.parts.lengths()
        self._name_weights = _weights(NAME, LONG_NAME, [self.name_lengths[part] for part in self.parts.members])
        self._text_weights = _weights(TEXT, LONG_TEXT, [self._text_lengths[part] for part in self.parts.members])
        self._places: Lru[tuple[str, ...], Places] = Lru(max_bytes=MAX_KEPT_BYTES, cost_of=_cost)
        self._heads: dict[str, str] = {}
        self._hinted: dict[frozenset[str], Named] = {}

    def coordinate(self, member: int) -> str:
        """Return the coordinate of a member."""
        return f"{self.parts.owners[member]}.{self.parts.member(member)[0]}"

    def places(self, words: tuple[str, ...]) -> Places:
        """Return the places of a word and of the words that stand for it."""
        return self._places.use_or_make(words, lambda: self._found(words))

    def hinted(self, words: frozenset[str]) -> Named:
        """Return the members, and the types, that have any of some words in their names."""
        found = self._hinted.get(words)
        if found is None:
            found = self._hinted[words] = self._named(part for word in words for part in self.parts.named(word))
        return found

    @property
    def kept_bytes(self) -> int:
        """Approximate memory of the places that are kept."""
        return self._places.cost_bytes

    @cached_property
    def wrappers(self) -> frozenset[str]:
        """The types of connections and their edges (Relay's cursor connections)."""
        of_pages, of_edges = self._owners_of("page", "info"), self._owners_of("node") & self._owners_of("cursor")
        return frozenset(of_pages | of_edges)

    @cached_property
    def roots(self) -> frozenset[str]:
        """The root types."""
        return frozenset(self._view.index.roots.values())

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Type -> the number of its members, without root types."""
        return self._counted(self.parts.members)

    def weight_of_name(self, weight: float, name: str) -> float:
        """Return the weight of a word in the name of a type."""
        return weight / (1 - LONG_TYPE_NAME + LONG_TYPE_NAME * self.type_length(name) / USUAL_TYPE_NAME)

    def type_length(self, name: str) -> int:
        """Return the number of words in the name of a type."""
        return self.name_lengths[self.parts.parts_of(name).start]

    def _owners_of(self, *words: str) -> set[str]:
        """Return the types that have a member of these words alone."""
        owners, lengths = self.parts.owners, self.name_lengths
        found = set.intersection(*(set(self.parts.named(stem(word))) for word in words)) - self.parts.types
        return {owners[part] for part in found if lengths[part] == len(words)}

    @cached_property
    def _larger(self) -> Mapping[str, float]:
        """Type -> the divisor for the words of its name and of its members' names, beside the average."""
        lengths, parts_of = self.name_lengths, self.parts.parts_of
        found = {name: sum(lengths[(parts := parts_of(name)).start : parts.stop]) for name in self.types}
        average = sum(found.values()) / max(1, len(found)) or 1.0
        return {name: 1 - LARGE_TYPE + LARGE_TYPE * length / average for name, length in found.items()}

    def _found(self, words: tuple[str, ...]) -> Places:
        by_word = [self._named(self.parts.named(word)) for word in words]
        in_names, named = _all(each.members for each in by_word), _all(each.types for each in by_word)
        in_texts = self._named(part for word in words for part in self.parts.described(word))
        told = in_texts.types
        types = dict.fromkeys(told - self.roots, TYPE_TEXT)
        for name in named - self.roots:
            head = HEAD if self._head(name) in words else 1.0
            types[name] = types.get(name, 0.0) + head * self.weight_of_name(TYPE_NAME, name)
        for weight, parts in ((MEMBER_NAMES, in_names), (MEMBER_TEXTS, in_texts.members)):
            for name, count in self._counted(parts).items():
                types[name] = types.get(name, 0.0) + weight * (1 + log(count)) / self._larger[name]
        members: dict[int, float] = {}
        for word in words:
            for part, weight in self._members_with(word).items():
                if weight > members.get(part, 0.0):
                    members[part] = weight
        return Places(members, in_texts.members, named, by_word, types, len(types.keys() | named | told))

    def _members_with(self, word: str) -> Mapping[int, float]:
        names, texts, types = self.name_lengths, self._text_lengths, self.parts.types
        of_names, of_texts = self._name_weights, self._text_weights
        found = {part: of_names[names[part]] for part in self.parts.named(word) if part not in types}
        for part in self.parts.described(word):
            if part not in types:
                found[part] = found.get(part, 0.0) + of_texts[texts[part]]
        for part in self.parts.taking(word):
            found[part] = found.get(part, 0.0) + ARGUMENT
        return found

    def _named(self, parts: Iterable[int]) -> Named:
        found = set(parts)
        types = found & self.parts.types
        return Named(found - types, {self.parts.owners[part] for part in types})

    def _head(self, name: str) -> str:
        found = self._heads.get(name)
        if found is None:
            last = next((word for word in reversed(list(split(name))) if not word.isdigit()), "")
            found = self._heads[name] = stem(last)
        return found

    def _counted(self, members: Iterable[int]) -> Mapping[str, int]:
        """Return the number of members by their types, without root types."""
        owners = self.parts.owners
        found = Counter([owners[member] for member in members])
        for root in self.roots:
            found.pop(root, None)
        return found


def _all(sets: Iterable[Set[T]]) -> Set[T]:
    """Return the union of sets; a single one itself, because most words stand alone."""
    first, *others = sets
    return frozenset(first).union(*others) if others else first


def _weights(weight: float, longer: float, lengths: Iterable[int]) -> Mapping[int, float]:
    """Return the weight of a word in a text of each length: the longer a text beside the average, the less."""
    counts = Counter(filter(None, lengths))
    average = sum(length * count for length, count in counts.items()) / max(1, counts.total()) or 1.0
    return {length: weight / (1 - longer + longer * length / average) for length in counts}


def _cost(places: Places) -> int:
    return PLACE_BYTES * (8 + len(places.members) + len(places.types))
