"""The words of a view, by the parts of the schema that have them.

Only what is visible is read, so that every count is the view's own. Order is by name, because the order of an index
depends on what is hidden.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from handler.graph.view import View
from handler.lru import Lru
from handler.records import record
from handler.search.words import Vocabulary

MAX_KEPT_WORDS = 512
"""Words of questions whose places are kept."""

NAME, TEXT, ARGUMENT = 3.0, 1.0, 0.4
"""Weights of a word by its place: a name, a description, the name of an argument."""

LONG_NAME, LONG_TEXT = 0.3, 0.5
"""How much less each word of a longer name or description weighs (BM25's b)."""

Postings = Mapping[str, Sequence[str]]
"""Word -> the texts that have it."""


@record(frozen=True, slots=True)
class Places:
    """The places of a word, and of the words that stand for it."""

    members: Mapping[int, float]  # number of a member -> weight
    named: frozenset[str]  # types by their names
    told: frozenset[str]  # types by their descriptions
    by_names: Mapping[str, int]  # type -> members by their names; not of root types
    by_texts: Mapping[str, int]  # type -> members by their descriptions; not of root types


class Corpus:
    """The visible members of a view, by number, and the places of each word."""

    def __init__(self, view: View, vocabulary: Vocabulary) -> None:
        self.coordinates: list[str] = []
        self.owners: list[str] = []
        self.output: list[str] = []  # the type of a member as it is printed; empty for an enum value
        self._view = view
        self._vocabulary = vocabulary
        # The texts of a schema repeat, so words are found by text, and members by texts.
        self._names: defaultdict[str, list[int]] = defaultdict(list)
        self._texts: defaultdict[str, list[int]] = defaultdict(list)
        self._arguments: defaultdict[str, list[int]] = defaultdict(list)
        self._type_texts: defaultdict[str, list[str]] = defaultdict(list)
        self.types = sorted(view.members)
        for name in self.types:
            self._read(name)
        self.name_words = {name: vocabulary.words(name) for name in self._names}
        self.type_words = {name: vocabulary.words(name) for name in self.types}
        text_words = {text: vocabulary.words(text) for text in self._texts}
        self._in_names = _by_word(self.name_words)
        self._in_texts = _by_word(text_words)
        self._in_arguments = _by_word({name: vocabulary.words(name) for name in self._arguments})
        self._in_types = _by_word(self.type_words)
        self._in_type_texts = _by_word({text: vocabulary.words(text) for text in self._type_texts})
        self._name_weights = _weights(NAME, LONG_NAME, self.name_words, self._names)
        self._text_weights = _weights(TEXT, LONG_TEXT, text_words, self._texts)
        self._places: Lru[tuple[str, ...], Places] = Lru(most=MAX_KEPT_WORDS)

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

    @cached_property
    def lengths(self) -> Mapping[str, int]:
        """Type -> words of its name and of its members' names, those of root types not among them."""
        found = {name: len(words) for name, words in self.type_words.items()}
        for name, numbers in self._names.items():
            for number in numbers:
                found[self.owners[number]] += len(self.name_words[name])
        return found

    @cached_property
    def average_length(self) -> float:
        """The average of ``lengths``."""
        return sum(self.lengths.values()) / max(1, len(self.lengths)) or 1.0

    @cached_property
    def roots(self) -> frozenset[str]:
        """The root types."""
        return frozenset(self._view.index.roots.values())

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted({*self._in_names, *self._in_types})

    def _read(self, type_name: str) -> None:
        gone = self._view.gone
        number = -1
        for member, argument, output, description in self._view.index.texts(type_name):
            if argument:
                if number >= 0 and f"{type_name}.{member}({argument}:)" not in gone:
                    self._arguments[argument].append(number)
                continue
            if not member:
                if description:
                    self._type_texts[description].append(type_name)
                continue
            coordinate = f"{type_name}.{member}"
            if coordinate in gone:
                number = -1
                continue
            number = len(self.coordinates)
            self.coordinates.append(coordinate)
            self.owners.append(type_name)
            self.output.append(output)
            self._names[member].append(number)
            if description:
                self._texts[description].append(number)

    def _found(self, words: tuple[str, ...]) -> Places:
        members: dict[int, float] = {}
        named: set[str] = set()
        told: set[str] = set()
        in_names: set[int] = set()
        in_texts: set[int] = set()
        for word in words:
            own: dict[int, float] = {}
            for name in self._in_names.get(word, ()):
                own |= dict.fromkeys(self._names[name], self._name_weights[name])
            in_names.update(own)
            for text in self._in_texts.get(word, ()):
                weight = self._text_weights[text]
                numbers = self._texts[text]
                in_texts.update(numbers)
                for number in numbers:
                    own[number] = own.get(number, 0.0) + weight
            for name in self._in_arguments.get(word, ()):
                for number in self._arguments[name]:
                    own[number] = own.get(number, 0.0) + ARGUMENT
            for number, weight in own.items():
                if weight > members.get(number, 0.0):
                    members[number] = weight
            named.update(self._in_types.get(word, ()))
            told.update(name for text in self._in_type_texts.get(word, ()) for name in self._type_texts[text])
        return Places(members, frozenset(named), frozenset(told), self._counted(in_names), self._counted(in_texts))

    def _counted(self, numbers: Iterable[int]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for number in numbers:
            owner = self.owners[number]
            if owner not in self.roots:
                found[owner] = found.get(owner, 0) + 1
        return found


def _by_word(words_of: Mapping[str, Sequence[str]]) -> Postings:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for text, words in words_of.items():
        for word in set(words):
            found[word].append(text)
    return dict(found)


def _weights(
    weight: float, longer: float, words_of: Mapping[str, Sequence[str]], numbers: Mapping[str, Sequence[int]]
) -> Mapping[str, float]:
    """Return the weight of a word in each text: the longer a text beside the average, the less."""
    count = sum(len(each) for each in numbers.values())
    average = sum(len(words) * len(numbers[text]) for text, words in words_of.items()) / max(1, count) or 1.0
    return {text: weight / (1 - longer + longer * len(words) / average) for text, words in words_of.items()}
