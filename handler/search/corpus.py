"""The words of a view, by the parts of the schema that have them.

Only what is visible is read, so that every count is the view's own. Order is by name, because the order of an index
depends on what is hidden.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from math import log

from handler.graph.index_types import named
from handler.graph.view import View
from handler.lru import Lru
from handler.records import record
from handler.search.words import Vocabulary, tokens_of

MAX_KEPT_BYTES = 4_000_000
"""Approximate memory of the places of questions' words that are kept."""

PLACE_BYTES = 90
"""Memory of a member or type among the places of a word, measured on GitHub's schema."""

NAME, TEXT, ARGUMENT = 3.0, 1.6, 0.4
"""Weights of a word by its place: a name, a description, the name of an argument."""

LONG_NAME, LONG_TEXT = 0.3, 0.5
"""How much less each word of a longer name or description weighs (BM25's b)."""

TYPE_NAME, TYPE_TEXT, MEMBER_NAMES, MEMBER_TEXTS = 3.0, 1.0, 1.0, 0.3
"""Weights of a word by its place, for a type."""

LONG_TYPE_NAME, LARGE_TYPE = 0.7, 0.3
"""How much less each word of a longer name, or of a type with more members, weighs (BM25's b)."""

USUAL_TYPE_NAME = 2.0
"""Words of a type's name that are usual."""

_NOTHING: frozenset[str] = frozenset()


@record(frozen=True, slots=True)
class Places:
    """The places of a word, and of the words that stand for it."""

    members: Mapping[int, float]  # number of a member -> weight
    texts: Set[int]  # members that have it in their descriptions
    named: frozenset[str]  # types by their names
    types: Mapping[str, float]  # type -> weight; not of root types
    of_types: int  # types that have it, root types too


class Corpus:
    """The visible members of a view, by number, and the places of each word.

    The texts of a schema repeat, so tokens are found by text, and members by texts.
    """

    def __init__(self, view: View, vocabulary: Vocabulary) -> None:
        self.names: list[str] = []
        self.owners: list[str] = []
        self.returned: list[str] = []  # the named type of a member; empty for an enum value
        self.types = sorted(view.members)
        self._view = view
        self._named_types: dict[str, str] = {}  # a schema repeats its types
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        self._told: defaultdict[str, list[int]] = defaultdict(list)
        self._taking: defaultdict[str, list[int]] = defaultdict(list)
        self._types_told: defaultdict[str, list[str]] = defaultdict(list)
        view.index.read_all(self.types)
        cut = {coordinate.partition(".")[0] for coordinate in view.gone}
        for name in self.types:
            self._read(name, view.gone if name in cut else _NOTHING)
        self.type_words = vocabulary.of_tokens(self.types)
        self.name_words = vocabulary.of_tokens(self._named)
        self._in_names = _by_word(self.name_words)
        self._in_types = _by_word(self.type_words)
        self._in_arguments = _by_word(vocabulary.of_tokens(self._taking))
        self._in_texts = _Postings(self._told, vocabulary)
        self._in_type_texts = _Postings(self._types_told, vocabulary)
        lengths = {name: len(words) for name, words in self.name_words.items()}
        self._name_weights = _weights(NAME, LONG_NAME, lengths, self._named)
        self._text_weights = _weights(TEXT, LONG_TEXT, self._in_texts.lengths, self._told)
        self._places: Lru[tuple[str, ...], Places] = Lru(max_bytes=MAX_KEPT_BYTES, cost_of=_cost)

    def coordinate(self, number: int) -> str:
        """Return the coordinate of a member."""
        return f"{self.owners[number]}.{self.names[number]}"

    def __contains__(self, word: object) -> bool:
        return (
            word in self._in_texts
            or word in self._in_names
            or word in self._in_types
            or word in self._in_type_texts
            or word in self._in_arguments
        )

    def begun(self, start: str) -> tuple[str, ...]:
        """Return the words of names that begin with a text."""
        found = []
        for word in self._sorted[bisect_left(self._sorted, start) :]:
            if not word.startswith(start):
                break
            found.append(word)
        return tuple(found)

    def places(self, words: tuple[str, ...]) -> Places:
        """Return the places of a word and of the words that stand for it."""
        return self._places.use_or_make(words, lambda: self._found(words))

    @property
    def kept_bytes(self) -> int:
        """Approximate memory of the places that are kept."""
        return self._places.cost_bytes

    @cached_property
    def _larger(self) -> Mapping[str, float]:
        """Type -> the divisor for the words of its name and of its members' names, beside the average."""
        found = {name: len(words) for name, words in self.type_words.items()}
        lengths = {name: len(words) for name, words in self.name_words.items()}
        for name, owner in zip(self.names, self.owners, strict=True):
            found[owner] += lengths[name]
        average = sum(found.values()) / max(1, len(found)) or 1.0
        return {name: 1 - LARGE_TYPE + LARGE_TYPE * length / average for name, length in found.items()}

    @cached_property
    def wrappers(self) -> frozenset[str]:
        """The types of connections and their edges (Relay's cursor connections)."""
        of_pages, of_edges = self._owners_of("pageInfo"), self._owners_of("node") & self._owners_of("cursor")
        return frozenset(of_pages | of_edges)

    def _owners_of(self, name: str) -> set[str]:
        return {self.owners[number] for number in self._named.get(name, ())}

    @cached_property
    def roots(self) -> frozenset[str]:
        """The root types."""
        return frozenset(self._view.index.roots.values())

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted({*self._in_names, *self._in_types})

    def _read(self, type_name: str, gone: Set[str]) -> None:
        names, owners, named_types = self.names, self.owners, self._named_types
        number = -1
        for member, argument, type_, description in self._view.index.texts(type_name):
            if argument:
                if number >= 0 and f"{type_name}.{member}({argument}:)" not in gone:
                    self._taking[argument].append(number)
            elif not member:
                if description:
                    self._types_told[description].append(type_name)
            elif gone and f"{type_name}.{member}" in gone:
                number = -1
            else:
                number = len(names)
                names.append(member)
                owners.append(type_name)
                self.returned.append(named_types.get(type_) or named_types.setdefault(type_, named(type_)))
                self._named[member].append(number)
                if description:
                    self._told[description].append(number)

    def _found(self, words: tuple[str, ...]) -> Places:
        members: dict[int, float] = {}
        for word in words:
            for number, weight in self._members_with(word).items():
                if weight > members.get(number, 0.0):
                    members[number] = weight
        in_names = {number for word in words for name in self._in_names.get(word, ()) for number in self._named[name]}
        in_texts = {number for word in words for text in self._in_texts.texts(word) for number in self._told[text]}
        named = frozenset([name for word in words for name in self._in_types.get(word, ())])
        told = {name for word in words for text in self._in_type_texts.texts(word) for name in self._types_told[text]}
        types = dict.fromkeys(told - self.roots, TYPE_TEXT)
        for name in named - self.roots:
            types[name] = types.get(name, 0.0) + self.weight_of_name(TYPE_NAME, name)
        for weight, numbers in ((MEMBER_NAMES, in_names), (MEMBER_TEXTS, in_texts)):
            for name, count in self._counted(numbers).items():
                types[name] = types.get(name, 0.0) + weight * (1 + log(count)) / self._larger[name]
        return Places(members, in_texts, named, types, len(types.keys() | named | told))

    def _members_with(self, word: str) -> Mapping[int, float]:
        found: dict[int, float] = {}
        for name in self._in_names.get(word, ()):
            found |= dict.fromkeys(self._named[name], self._name_weights[name])
        for text in self._in_texts.texts(word):
            weight = self._text_weights[text]
            for number in self._told[text]:
                found[number] = found.get(number, 0.0) + weight
        for name in self._in_arguments.get(word, ()):
            for number in self._taking[name]:
                found[number] = found.get(number, 0.0) + ARGUMENT
        return found

    def weight_of_name(self, weight: float, name: str) -> float:
        """Return the weight of a word in the name of a type."""
        return weight / (1 - LONG_TYPE_NAME + LONG_TYPE_NAME * len(self.type_words[name]) / USUAL_TYPE_NAME)

    def _counted(self, numbers: Iterable[int]) -> Mapping[str, int]:
        owners = self.owners
        found = Counter([owners[number] for number in numbers])
        for root in self.roots:
            found.pop(root, None)
        return found


def _by_word(words_of: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for name, words in words_of.items():
        for word in dict.fromkeys(words):
            found.setdefault(word, []).append(name)
    return found


class _Postings:
    """The texts that have a word. Words are looked up by their tokens, of which texts have few different ones."""

    def __init__(self, texts: Iterable[str], vocabulary: Vocabulary) -> None:
        self.lengths: dict[str, int] = {}
        self._by_token: defaultdict[str, list[str]] = defaultdict(list)
        self.words: defaultdict[str, list[str]] = defaultdict(list)
        by_token = self._by_token
        for text, its_tokens in tokens_of(texts):
            found = set(its_tokens)
            self.lengths[text] = len(found)
            for token in found:
                by_token[token].append(text)
        for token, words in vocabulary.of_tokens(by_token).items():
            for word in words if len(words) == 1 else set(words):
                self.words[word].append(token)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def texts(self, word: str) -> Iterable[str]:
        """Return the texts that have a word, each once."""
        if word not in self.words:
            return ()
        return dict.fromkeys(text for token in self.words[word] for text in self._by_token[token])


def _weights(
    weight: float, longer: float, lengths: Mapping[str, int], numbers: Mapping[str, Sequence[int]]
) -> Mapping[str, float]:
    """Return the weight of a word in each text: the longer a text beside the average, the less."""
    count = sum(map(len, numbers.values()))
    average = sum(length * len(numbers[text]) for text, length in lengths.items()) / max(1, count) or 1.0
    of_length = {length: weight / (1 - longer + longer * length / average) for length in set(lengths.values())}
    return {text: of_length[length] for text, length in lengths.items()}


def _cost(places: Places) -> int:
    return PLACE_BYTES * (8 + len(places.members) + len(places.types))
