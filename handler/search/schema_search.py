"""Search in one caller's view of a schema: BM25 over weighted places, and one step along relations.

Types and members are scored apart, in the same scale: the share of the question's information that they have. A good
type brings its neighbours forward. Each further result of one type counts less, so that the first results are of
several types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush, nlargest
from math import log

from handler.graph.index_types import named
from handler.graph.view import View
from handler.records import record
from handler.search.corpus import Corpus, Places
from handler.search.matches import Match
from handler.search.paths import Paths
from handler.search.question import Question, read_question
from handler.search.stored_words import read_words
from handler.search.words import Vocabulary

MAX_CANDIDATES = 160
"""Members, and types, that are scored in full."""

K1 = 1.0
"""How soon a repeated word stops to count."""

TYPE_NAME, TYPE_TEXT, MEMBER_NAMES, MEMBER_TEXTS = 3.0, 1.0, 1.0, 0.3
"""Weights of a word by its place, for a type."""

LONG_TYPE_NAME, LARGE_TYPE = 0.7, 0.3
"""How much less each word of a longer name, or of a type with more members, weighs (BM25's b)."""

USUAL_TYPE_NAME = 2.0
"""Words of a type's name that are usual."""

OWNER, RETURNED = 1.0, 0.5
"""Weights of a word in the names of a member's own type, and of the type that the member returns."""

ANSWERS = 0.4
"""Weight of a member that has the kind of value that a question word asks for, in words."""

NEIGHBOUR = 0.3
"""Share of a type's score that the types next to it get."""

TYPE, OF_GOOD_TYPE = 0.8, 0.3
"""Factor of types beside members, and share of a type's score that its members get."""

INPUT, WRAPPER = 0.7, 0.4
"""Factors of input types and enums, and of connections and their edges."""

NOT_TOLD, TOLD = 0.7, 1.3
"""Factors of mutations if a question asks for facts, and if it tells to do something."""

UNASKED = 0.3
"""Share of a score that depends on how much of a name the question has."""

AGAIN = 0.5
"""Factor of each further result of the same type."""


@record(frozen=True, slots=True)
class _Term:
    """A word of a question."""

    places: Places
    of_members: float  # its weight among members
    of_types: float


@record(frozen=True, slots=True)
class _Result:
    """A part of the view, and the names of what further results would resemble it."""

    score: float
    coordinate: str
    resembles: tuple[str, ...]


class SchemaSearch:
    """A view, ready to be searched. Every number that counts is the view's own."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._paths = Paths(view)

    def search(self, question: str, limit: int) -> Sequence[Match]:
        """Return what answers a question best, at most ``limit`` matches, the best first."""
        ranked = list(self._ranked(question, limit))
        return [Match(coordinate, min(1.0, score), self._paths.to(coordinate)) for coordinate, score in ranked]

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus(self.view, self._vocabulary)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return read_words(self.view.index.words)

    def _ranked(self, text: str, limit: int) -> Iterator[tuple[str, float]]:
        corpus = self._corpus
        question = read_question(text, self._vocabulary, corpus.__contains__, corpus.begun)
        terms = [self._term(words, question.weights[word]) for word, words in question.words.items()]
        asked = frozenset(each for words in question.words.values() for each in words)
        types = self._near(self._types(terms, asked))
        found: dict[str, _Result] = {}
        for name, score in types.items():
            coordinate = self._folded.get(name, name)
            _keep(found, _Result(score * TYPE, coordinate, (name,)))
        for number, score in self._members(terms, asked, question).items():
            owner, group = corpus.owners[number], self._group(number)
            coordinate = self._folded.get(owner) or corpus.coordinate(number)
            whole = score + OF_GOOD_TYPE * types.get(group, 0.0)
            _keep(found, _Result(whole, coordinate, (group, *self._same(number))))
        return _spread(found.values(), limit)

    def _term(self, words: tuple[str, ...], weight: float) -> _Term:
        places = self._corpus.places(words)
        in_types = len(places.named | places.told | places.by_names.keys() | places.by_texts.keys())
        return _Term(
            places,
            weight * _rarity(len(places.members), len(self._corpus.names)),
            weight * _rarity(in_types, len(self._corpus.types)),
        )

    def _types(self, terms: Iterable[_Term], asked: frozenset[str]) -> dict[str, float]:
        """Return the types that have a word of the question, each with its score."""
        corpus = self._corpus
        found: dict[str, float] = {}
        for term in terms:
            places = term.places
            for name in places.named | places.told | places.by_names.keys() | places.by_texts.keys():
                if name in corpus.roots:
                    continue
                weight = _name_weight(TYPE_NAME, corpus.type_words[name]) if name in places.named else 0.0
                weight += TYPE_TEXT if name in places.told else 0.0
                large = 1 - LARGE_TYPE + LARGE_TYPE * corpus.lengths[name] / corpus.average_length
                if name in places.by_names:
                    weight += MEMBER_NAMES * (1 + log(places.by_names[name])) / large
                if name in places.by_texts:
                    weight += MEMBER_TEXTS * (1 + log(places.by_texts[name])) / large
                found[name] = found.get(name, 0.0) + term.of_types * weight / (weight + K1)
        most = sum(term.of_types for term in terms) or 1.0
        return {
            name: score
            / most
            * self._factor(name)
            * (1 - UNASKED + UNASKED * _share_of(corpus.type_words[name], asked))
            for name, score in found.items()
        }

    def _near(self, types: Mapping[str, float]) -> dict[str, float]:
        """Return the best types, each with a share of the score of the best type next to it."""
        best = nlargest(MAX_CANDIDATES, types.items(), key=lambda each: (each[1], each[0]))
        return {
            name: score + NEIGHBOUR * max((types.get(each, 0.0) for each in self._paths.next_to(name)), default=0.0)
            for name, score in best
        }

    def _members(self, terms: Sequence[_Term], asked: frozenset[str], question: Question) -> dict[int, float]:
        """Return the best members that have a word of the question, by number, each with its score."""
        corpus = self._corpus
        rough: dict[int, float] = {}
        for term in terms:
            for number, weight in term.places.members.items():
                rough[number] = rough.get(number, 0.0) + term.of_members * weight / (weight + K1)
        owners: dict[str, float] = {}
        for term in terms:
            for name in term.places.named:
                owners[name] = owners.get(name, 0.0) + term.of_members
        best = nlargest(
            MAX_CANDIDATES,
            rough,
            key=lambda number: (
                rough[number] + 0.3 * owners.get(corpus.owners[number], 0.0),
                corpus.coordinate(number),
            ),
        )
        return {number: self._score(number, terms, asked, question) for number in best}

    def _score(self, number: int, terms: Sequence[_Term], asked: frozenset[str], question: Question) -> float:
        corpus = self._corpus
        owner, returned = corpus.owners[number], named(corpus.output[number])
        is_root = owner in corpus.roots
        owner_words = () if is_root else corpus.type_words[owner]
        name_words = corpus.name_words[corpus.names[number]]
        score = 0.0
        most = sum(term.of_members for term in terms) or 1.0
        for term in terms:
            weight = term.places.members.get(number, 0.0)
            if not is_root and owner in term.places.named:
                weight += _name_weight(OWNER, owner_words)
            if returned in term.places.named:
                weight += RETURNED
            score += term.of_members * weight / (weight + K1)
        if question.hints and not question.hints.isdisjoint((*name_words, *corpus.type_words.get(returned, ()))):
            score += ANSWERS * most / len(terms)
        if owner == self.view.index.roots.get("mutation"):
            score *= NOT_TOLD if question.asks else TOLD if question.tells else 1.0
        told = sum(term.of_members for term in terms if number in term.places.texts)
        share = max(_share_of((*owner_words, *name_words), asked), told / most)
        return score / most * self._factor(owner) * (1 - UNASKED + UNASKED * share)

    def _group(self, number: int) -> str:
        """Return the type that a member is a result of: of a root field, the type that the field returns."""
        owner, returned = self._corpus.owners[number], named(self._corpus.output[number])
        if owner not in self._corpus.roots:
            return owner
        return returned if returned in self.view.members else self._corpus.coordinate(number)

    def _same(self, number: int) -> Iterator[str]:
        """Yield the field of an interface that a field implements, or else its name with the type that it returns."""
        index, owner = self.view.index, self._corpus.owners[number]
        returned, name = named(self._corpus.output[number]), self._corpus.names[number]
        for each in sorted({owner, *index.interfaces(owner)}):
            if each in self.view.members and index.kind(each) == "interface" and name in self.view.members[each]:
                yield f"{each}.{name}"
                return
        if owner not in self._corpus.roots and returned in self.view.members and index.kind(returned) != "scalar":
            yield f".{name}: {returned}"

    def _factor(self, name: str) -> float:
        if name in self._corpus.wrappers:
            return WRAPPER
        return INPUT if self.view.index.kind(name) in ("input", "enum") else 1.0

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        """The types of one mutation, its payload and its input, of which the mutation itself is the result."""
        return self._paths.of_one_mutation()


def _keep(found: dict[str, _Result], result: _Result) -> None:
    known = found.get(result.coordinate)
    if known is None or result.score > known.score:
        found[result.coordinate] = result


def _rarity(having: int, of: int) -> float:
    return log(1 + (of - having + 0.5) / (having + 0.5))


def _name_weight(weight: float, words: Sequence[str]) -> float:
    return weight / (1 - LONG_TYPE_NAME + LONG_TYPE_NAME * len(words) / USUAL_TYPE_NAME)


def _share_of(words: Sequence[str], asked: frozenset[str]) -> float:
    """Return the share of a name's words that the question has, each once."""
    return len(asked.intersection(words)) / max(1, len(words))


def _spread(found: Iterable[_Result], limit: int) -> Iterator[tuple[str, float]]:
    """Yield the best results, each with its score, which is less for each result that resembles an earlier one."""
    seen: Counter[str] = Counter()
    heap = [(-each.score, each.coordinate, 0, each.resembles) for each in found]
    heapify(heap)
    while heap and limit > 0:
        score, coordinate, times, resembles = heappop(heap)
        again = sum(seen[each] for each in resembles)
        if again > times:
            heappush(heap, (score * AGAIN ** (again - times), coordinate, again, resembles))
            continue
        seen.update(resembles)
        limit -= 1
        yield coordinate, -score
