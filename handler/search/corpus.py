"""The places of each word in a view, each with its weight. Every number that counts is the view's own."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import compress
from math import log
from typing import TypeVar

from handler.cold.records import record
from handler.graph.index import named_type
from handler.graph.view import View
from handler.lru import Lru
from handler.search.postings import IN_ARGUMENTS, IN_NAMES, IN_TEXTS, Postings
from handler.search.stems import stem
from handler.search.words import Vocabulary, split

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
    """The visible types and members of a view, by number, and the places of each word.

    Postings are those of the whole schema. Hidden parts are left out of each list before anything is counted, so that
    every count is the view's own. Parts keep the numbers that they have in the postings (see ``postings``): only the
    order of numbers is used, which does not depend on hidden parts.
    """

    def __init__(self, view: View, postings: Postings) -> None:
        self.types = sorted(view.members)
        self.owners: list[str] = [""]  # part -> the type of a member; of a type, the type itself
        self._view = view
        self._postings = postings
        self._parts_of: dict[str, range] = {}  # a type, and then its members, the hidden ones too
        self._members_of: dict[str, list[tuple[str, str]]] = {}
        self._counts: dict[str, int] = {}
        self._recounted: set[int] = set()  # fields that have hidden arguments
        self._takers: defaultdict[str, list[int]] = defaultdict(list)  # word -> such fields
        for name, size in zip(sorted(view.index), postings.sizes, strict=True):
            self._parts_of[name] = range(len(self.owners), len(self.owners) + size + 1)
            self.owners += [name] * (size + 1)
        self._is_visible = bytearray(len(self.owners))
        for name, parts in self._parts_of.items():
            if name in view.members:
                self._is_visible[parts.start : parts.stop] = b"\1" * len(parts)
        for name in {coordinate.partition(".")[0] for coordinate in view.gone} & view.members.keys():
            self._cut(name)
        self._hides = self._is_visible.count(0) > 1 or bool(self._recounted)  # no part has the number 0
        # The number of different words in the name and in the description of each part, 0 for hidden ones.
        self.name_lengths, self._text_lengths = [*postings.names], [*postings.texts]
        if self._hides:
            for hidden in compress(range(len(self.owners)), map((0).__eq__, self._is_visible)):
                self.name_lengths[hidden] = self._text_lengths[hidden] = 0
        self._name_weights = _weights(NAME, LONG_NAME, [self.name_lengths[part] for part in self.members])
        self._text_weights = _weights(TEXT, LONG_TEXT, [self._text_lengths[part] for part in self.members])
        self._places: Lru[tuple[str, ...], Places] = Lru(
            max_bytes=MAX_KEPT_BYTES, cost_of=lambda each: PLACE_BYTES * (8 + len(each.members) + len(each.types))
        )
        self._heads: dict[str, str] = {}
        self._hinted: dict[frozenset[str], Named] = {}

    def coordinate(self, member: int) -> str:
        """Return the coordinate of a member."""
        return f"{self.owners[member]}.{self.member(member)[0]}"

    def places(self, words: tuple[str, ...]) -> Places:
        """Return the places of a word and of the words that stand for it."""
        return self._places.use_or_make(words, lambda: self._places_of(words))

    def hinted(self, words: frozenset[str]) -> Named:
        """Return the members, and the types, that have any of some words in their names."""
        if words not in self._hinted:
            self._hinted[words] = self._named(part for word in words for part in self.named(word))
        return self._hinted[words]

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
    def with_id(self) -> frozenset[str]:
        """The types that have an id."""
        return frozenset(self._owners_of("id"))

    @cached_property
    def roots(self) -> frozenset[str]:
        """The root types."""
        return frozenset(self._view.index.roots.values())

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Type -> the number of its members, without root types."""
        return self._counted(self.members)

    def weight_of_name(self, weight: float, name: str) -> float:
        """Return the weight of a word in the name of a type."""
        return weight / (1 - LONG_TYPE_NAME + LONG_TYPE_NAME * self.type_length(name) / USUAL_TYPE_NAME)

    def type_length(self, name: str) -> int:
        """Return the number of words in the name of a type."""
        return self.name_lengths[self._parts_of[name].start]

    def _owners_of(self, *words: str) -> set[str]:
        """Return the types that have a member of these words alone."""
        owners, lengths = self.owners, self.name_lengths
        members = set.intersection(*(set(self.named(stem(word))) for word in words)) - self.type_parts
        return {owners[part] for part in members if lengths[part] == len(words)}

    @cached_property
    def _larger(self) -> Mapping[str, float]:
        """Type -> the divisor for the words of its name and of its members' names, beside the average."""
        lengths, parts_of = self.name_lengths, self._parts_of
        sizes = {name: sum(lengths[(parts := parts_of[name]).start : parts.stop]) for name in self.types}
        average = sum(sizes.values()) / max(1, len(sizes)) or 1.0
        return {name: 1 - LARGE_TYPE + LARGE_TYPE * size / average for name, size in sizes.items()}

    def _places_of(self, words: tuple[str, ...]) -> Places:
        by_word = [self._named(self.named(word)) for word in words]
        in_names, types_by_name = _all(each.members for each in by_word), _all(each.types for each in by_word)
        in_texts = self._named(part for word in words for part in self.described(word))
        types = dict.fromkeys(in_texts.types - self.roots, TYPE_TEXT)
        for name in types_by_name - self.roots:
            if name not in self._heads:
                self._heads[name] = stem(next((word for word in reversed([*split(name)]) if not word.isdigit()), ""))
            head = HEAD if self._heads[name] in words else 1.0
            types[name] = types.get(name, 0.0) + head * self.weight_of_name(TYPE_NAME, name)
        for weight, parts in ((MEMBER_NAMES, in_names), (MEMBER_TEXTS, in_texts.members)):
            for name, count in self._counted(parts).items():
                types[name] = types.get(name, 0.0) + weight * (1 + log(count)) / self._larger[name]
        members: dict[int, float] = {}
        for word in words:
            for part, weight in self._members_with(word).items():
                if weight > members.get(part, 0.0):
                    members[part] = weight
        of_types = len(types.keys() | types_by_name | in_texts.types)
        return Places(members, in_texts.members, types_by_name, by_word, types, of_types)

    def _members_with(self, word: str) -> Mapping[int, float]:
        names, texts, types = self.name_lengths, self._text_lengths, self.type_parts
        of_names, of_texts = self._name_weights, self._text_weights
        members = {part: of_names[names[part]] for part in self.named(word) if part not in types}
        for part in self.described(word):
            if part not in types:
                members[part] = members.get(part, 0.0) + of_texts[texts[part]]
        for part in self.taking(word):
            members[part] = members.get(part, 0.0) + ARGUMENT
        return members

    def _named(self, parts: Iterable[int]) -> Named:
        all_parts = set(parts)
        types = all_parts & self.type_parts
        return Named(all_parts - types, {self.owners[part] for part in types})

    def _counted(self, members: Iterable[int]) -> Mapping[str, int]:
        """Return the number of members by their types, without root types."""
        owners = self.owners
        counts = Counter([owners[member] for member in members])
        for root in self.roots:
            counts.pop(root, None)
        return counts

    @cached_property
    def type_parts(self) -> frozenset[int]:
        """The parts that are types, the hidden ones too."""
        return frozenset(parts.start for parts in self._parts_of.values())

    @cached_property
    def members(self) -> Sequence[int]:
        """All members."""
        return [part for part in compress(range(len(self.owners)), self._is_visible) if part not in self.type_parts]

    def member(self, part: int) -> tuple[str, str]:
        """Return the name of a member and its named type, which is empty for an enum value."""
        owner = self.owners[part]
        if owner not in self._members_of:
            texts = self._view.index.texts(owner)
            names = [(member, named_type(type_)) for member, argument, type_, _ in texts if member and not argument]
            self._members_of[owner] = names
        return self._members_of[owner][part - self._parts_of[owner].start - 1]

    def named(self, word: str) -> list[int]:
        """Return the parts with a word in their names."""
        return self._seen(self._postings.parts(word, IN_NAMES))

    def described(self, word: str) -> list[int]:
        """Return the parts with a word in their descriptions."""
        return self._seen(self._postings.parts(word, IN_TEXTS))

    def taking(self, word: str) -> list[int]:
        """Return the fields with a word in the name of an argument."""
        fields = self._seen(self._postings.parts(word, IN_ARGUMENTS))
        if self._recounted:
            fields = [part for part in fields if part not in self._recounted] + self._takers.get(word, [])
        return fields

    def count_of(self, word: str) -> int:
        """Return the number of places that have a word."""
        if word not in self._counts and word in self._postings.entries:
            self._counts[word] = sum(len(find(word)) for find in (self.named, self.described, self.taking))
        return self._counts.get(word, 0)

    def most(self, word: str) -> int:
        """Return a number that ``count_of`` does not exceed. It depends on hidden parts."""
        return self._postings.count(word)

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str) or word not in self._postings.entries:
            return False
        return not self._hides or self.count_of(word) > 0

    def begun(self, start: str) -> Iterator[str]:
        """Yield the words of names that begin with a text."""
        for word in self._words[bisect_left(self._words, start) :]:
            if not word.startswith(start):
                return
            if self.named(word):
                yield word

    @cached_property
    def _words(self) -> list[str]:
        return sorted(self._postings.entries)

    def _seen(self, parts: Iterable[int]) -> list[int]:
        if not self._hides:
            return list(parts)
        is_visible = self._is_visible
        return [part for part in parts if is_visible[part]]

    def _cut(self, type_name: str) -> None:
        """Leave out the hidden members of a visible type, and read arguments of fields with hidden ones anew."""
        gone, part = self._view.gone, self._parts_of[type_name].start
        arguments_of: dict[int, list[str]] = {}
        for member, argument, _, _ in self._view.index.texts(type_name):
            if argument:
                arguments_of.setdefault(part, []).append(f"{type_name}.{member}({argument}:)")
            elif member:
                part += 1
                self._is_visible[part] = f"{type_name}.{member}" not in gone
        for field, arguments in arguments_of.items():
            if self._is_visible[field] and not gone.isdisjoint(arguments):
                self._recounted.add(field)
                names = [each.partition("(")[2].removesuffix(":)") for each in arguments if each not in gone]
                for word in dict.fromkeys(word for name in names for word in Vocabulary().words(name)):
                    self._takers[word].append(field)


def _all(sets: Iterable[Set[T]]) -> Set[T]:
    """Return the union of sets; a single one itself, because most words stand alone."""
    first, *others = sets
    return frozenset(first).union(*others) if others else first


def _weights(weight: float, longer: float, lengths: Iterable[int]) -> Mapping[int, float]:
    """Return the weight of a word in a text of each length: the longer a text beside the average, the less."""
    counts = Counter(filter(None, lengths))
    average = sum(length * count for length, count in counts.items()) / max(1, counts.total()) or 1.0
    return {length: weight / (1 - longer + longer * length / average) for length in counts}
