"""Search in one caller's view of a schema: BM25 over weighted places, and one step along relations.

Types and members are scored apart, in the same scale: the share of the question's information that they have. A good
type brings its neighbours forward. Each further result of one type counts less, so that the first results are of
several types.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import log
from threading import Lock
from typing import NamedTuple

from handler.cold.records import record
from handler.graph.view import View
from handler.search.corpus import Corpus, Named, Places
from handler.search.paths import Paths
from handler.search.phrases import CALLER, OF_CALLER
from handler.search.postings import read_postings, read_vocabulary
from handler.search.question import Question, read_question
from handler.search.ranking import best, rarity
from handler.search.words import MAX_CHARS, Vocabulary

MAX_PLACES = 6_000
"""Places of a question's words that are read."""

MAX_CANDIDATES = 160
"""Members that are scored in full."""

ROUGH_OWNER = 0.3
"""Share of a word's weight that its place in the name of a member's type has in the choice of candidates."""

K1 = 1.0
"""How soon a repeated word stops to count."""

OWNER, RETURNED = 1.0, 0.5
"""Weights of a word in the names of a member's own type, and of the type that the member returns."""

ANSWERS = 0.4
"""Weight of a member that has the kind of value that a question word asks for, in words."""

TYPE, OF_GOOD_TYPE = 0.8, 0.3
"""Factor of types beside members, and share of a type's score that its members get."""

INPUT, WRAPPER = 0.7, 0.4
"""Factors of input types and enums, and of connections and their edges."""

NOT_TOLD, TOLD = 0.5, 2.0
"""Factors of mutations if a question asks for facts, and if it tells to do something."""

UNASKED = 0.3
"""Share of a score that depends on how much of a name the question has."""

BEST = 2.0
"""Score above all others."""

SAME_NAME = 0.6
"""Share of the question's information that a name adds which has the question's words and no others."""

AGAIN = 0.5
"""Factor of each further result of the same type."""

LARGE = 0.5
"""Weight of a type's size: results of a type with many members count less against further ones of the type."""


STRONG = 0.8
"""Share of the best match's score that about as good matches have."""

MAX_TYPES = 80
"""Types that get a share of the score of their neighbours; others are not results by their own words."""

MAX_LEADING = 3
"""Types whose neighbours may be results without a word of the question."""

NEIGHBOUR = 0.42
"""Share of a type's score that the types next to it get."""

TOGETHER = 0.2
"""Weight of the question's words that a type lacks and a type next to it has."""


@record(frozen=True, slots=True)
class Match:
    """A part of a schema that a search found."""

    coordinate: str  # "Order", "Order.total", "Query.orders(first:)", "Status.OPEN"
    score: float  # 0 to 1
    paths: tuple[tuple[str, ...], ...]  # the shortest first; each from a root field's coordinate to the match's own


def strong_of(matches: Sequence[Match]) -> int:
    """Return the number of matches that are about as good as the best one."""
    return sum(match.score >= STRONG * matches[0].score for match in matches)


@record(frozen=True, slots=True)
class _Term:
    """A word of a question."""

    words: Sequence[str]  # the word, and those that stand for it
    places: Places
    of_members: float  # its weight among members
    of_types: float


class _Result(NamedTuple):
    """A part of the view, the number of its member if it is one, and the type that it is a result of."""

    score: float
    coordinate: str
    group: str
    number: int | None = None


class SchemaSearch:
    """A view, ready to be searched. Every number that counts is the view's own."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._lock = Lock()  # a search keeps the places of its words, and requests run in threads

    def search(self, question: str, limit: int) -> Sequence[Match]:
        """Return the parts that answer a question best, at most ``limit``, the best first."""
        with self._lock:
            read = read_question(question, self._vocabulary, self._corpus.__contains__, self._corpus.begun)
            ranked = list(self._ranked(question, read, limit))
            return [Match(each, min(1.0, score), self._paths.to(each, read)) for each, score in ranked]

    @property
    def kept_bytes(self) -> int:
        """Approximate memory of the places that are kept for the words of earlier questions."""
        corpus: Corpus | None = self.__dict__.get("_corpus")
        return corpus.kept_bytes if corpus else 0

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus(self.view, read_postings(self.view.index))

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self.view, self._corpus)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return read_vocabulary(self.view.index.words)

    def _ranked(self, text: str, question: Question, limit: int) -> Iterator[tuple[str, float]]:
        corpus = self._corpus
        terms = self._terms(question)
        words = {word: parts for term in terms for word, parts in zip(term.words, term.places.by_word, strict=True)}
        shares = self._shares(terms)
        types = with_neighbours(
            self._types(shares, words), shares=shares, next_to=self._paths.next_to, with_fields=self._with_fields
        )
        results = [_Result(score * TYPE, self._folded.get(name, name), name) for name, score in types.items()]
        for number, score in self._members(terms, words, question).items():
            group = self._group(number)
            coordinate = self._folded.get(corpus.owners[number]) or corpus.coordinate(number)
            results.append(_Result(score + OF_GOOD_TYPE * types.get(group, 0.0), coordinate, group, number))
        if OF_CALLER.search(text, 0, MAX_CHARS):
            root, names = self.view.index.roots.get("query", ""), self.view.root_fields().get("query", ())
            results += [_Result(BEST, f"{root}.{name}", name) for name in sorted(names) if CALLER.fullmatch(name)]
        best_of: dict[str, _Result] = {}
        for result in results:
            other = best_of.get(result.coordinate)
            if other is None or result.score > other.score:
                best_of[result.coordinate] = result
        return self._spread(best_of.values(), limit)

    def _terms(self, question: Question) -> list[_Term]:
        """Return the words of a question, in its order, but the most frequent ones above ``MAX_PLACES``."""
        corpus, forms = self._corpus, question.words
        counting: Iterable[str] = forms
        if sum(corpus.most(each) for words in forms.values() for each in words) > MAX_PLACES:
            counts = {word: sum(map(corpus.count_of, words)) for word, words in forms.items()}
            rarest = sorted(counts, key=counts.__getitem__)
            sums = dict(zip(rarest, accumulate(map(counts.__getitem__, rarest)), strict=True))
            counting = [word for word in forms if sums[word] <= MAX_PLACES or word == rarest[0]]
        terms = []
        for word in counting:
            places, weight = corpus.places(forms[word]), question.weights[word]
            of_members = weight * rarity(len(places.members), of=len(corpus.members))
            of_types = weight * rarity(places.of_types, of=len(corpus.types))
            terms.append(_Term(forms[word], places, of_members, of_types))
        return terms

    def _shares(self, terms: Sequence[_Term]) -> list[dict[str, float]]:
        """Return the share of the question's information that types have by each word of the question."""
        most = sum(term.of_types for term in terms) or 1.0
        return [
            {name: term.of_types / most * weight / (weight + K1) for name, weight in term.places.types.items()}
            for term in terms
        ]

    def _types(self, shares: Iterable[Mapping[str, float]], words: Mapping[str, Named]) -> dict[str, float]:
        """Return the types that have a word of the question, each with its score."""
        scores: dict[str, float] = {}
        for share in shares:
            for name, each in share.items():
                scores[name] = scores.get(name, 0.0) + each
        counts = Counter(name for each in words.values() for name in each.types)
        length, factors = self._corpus.type_length, self._factors
        return {
            name: score * factors[name] * (1 - UNASKED + UNASKED * counts[name] / max(1, length(name)))
            for name, score in scores.items()
        }

    def _members(self, terms: Sequence[_Term], words: Mapping[str, Named], question: Question) -> dict[int, float]:
        """Return the best members that have a word of the question, by number, each with its score."""
        corpus = self._corpus
        rough: dict[int, float] = {}
        owners: dict[str, float] = {}
        for term in terms:
            of_members = term.of_members
            for number, weight in term.places.members.items():
                rough[number] = rough.get(number, 0.0) + of_members * weight / (weight + K1)
            for name in term.places.named:
                owners[name] = owners.get(name, 0.0) + of_members
        for number in rough:
            of_owner = owners.get(corpus.owners[number])
            if of_owner:
                rough[number] += ROUGH_OWNER * of_owner
        mutation = self.view.index.roots.get("mutation")
        of_mutations = NOT_TOLD if question.asks else TOLD if question.tells else 1.0
        most = sum(term.of_members for term in terms) or 1.0
        places = [(term.of_members, term.places) for term in terms]
        hinted = corpus.hinted(question.hints)
        scores: dict[int, float] = {}
        for number in best(rough, MAX_CANDIDATES):
            owner, returned = corpus.owners[number], corpus.member(number)[1]
            of_owner = 0.0 if owner in corpus.roots else corpus.weight_of_name(OWNER, owner)
            score = in_texts = 0.0
            for of_members, place in places:
                weight = place.members.get(number, 0.0)
                if of_owner and owner in place.named:
                    weight += of_owner
                if returned in place.named:
                    weight += RETURNED
                score += of_members * weight / (weight + K1)
                if number in place.texts:
                    in_texts += of_members
            if number in hinted.members or returned in hinted.types:
                score += ANSWERS * most / len(terms)
            count = sum(number in each.members or (of_owner > 0 and owner in each.types) for each in words.values())
            length = corpus.name_lengths[number] + (corpus.type_length(owner) if of_owner else 0)
            if count >= length and all(any(number in each.members for each in term.places.by_word) for term in terms):
                score += SAME_NAME * most
            if owner == mutation:
                score *= of_mutations
            share = max(count / max(1, length), in_texts / most)
            scores[number] = score / most * self._factors[owner] * (1 - UNASKED + UNASKED * share)
        return scores

    def _group(self, number: int) -> str:
        """Return the type that a member is a result of: of a root field, the type that the field returns."""
        owner, (_, returned) = self._corpus.owners[number], self._corpus.member(number)
        if owner not in self._corpus.roots:
            return owner
        return returned if returned in self.view.members else self._corpus.coordinate(number)

    def _same(self, number: int) -> Iterator[str]:
        """Yield the field of an interface that a field implements, or else its name with the type that it returns."""
        index, owner = self.view.index, self._corpus.owners[number]
        name, returned = self._corpus.member(number)
        for each in sorted({owner, *index.interfaces(owner)}):
            if each in self.view.members and index.kind(each) == "interface" and name in self.view.members[each]:
                yield f"{each}.{name}"
                return
        if owner not in self._corpus.roots and returned in self.view.members and index.kind(returned) != "scalar":
            yield f".{name}: {returned}"

    @cached_property
    def _factors(self) -> Mapping[str, float]:
        kind, wrappers = self.view.index.kind, self._corpus.wrappers
        return {
            name: WRAPPER if name in wrappers else INPUT if kind(name) in ("input", "enum") else 1.0
            for name in self._corpus.types
        }

    @cached_property
    def _with_fields(self) -> Mapping[str, float]:
        kind = self.view.index.kind
        return {
            name: factor for name, factor in self._factors.items() if kind(name) in ("object", "interface", "input")
        }

    def _spread(self, results: Iterable[_Result], limit: int) -> Iterator[tuple[str, float]]:
        """Yield the best results, each with its score, which is less for each earlier result that it resembles."""
        counted: defaultdict[str, float] = defaultdict(float)
        heap = [(-each.score, each.coordinate, 0.0, each) for each in results]
        heapify(heap)
        while heap and limit > 0:
            score, coordinate, times, result = heappop(heap)
            resembles = (result.group, *(() if result.number is None else self._same(result.number)))
            again = sum(counted[each] for each in resembles)
            if again > times:
                heappush(heap, (score * AGAIN ** (again - times), coordinate, again, result))
                continue
            for each in resembles:
                counted[each] += self._repeated.get(each, 1.0)
            limit -= 1
            yield coordinate, -score

    @cached_property
    def _repeated(self) -> Mapping[str, float]:
        """Large types -> how much a result counts against further ones."""
        sizes = self._corpus.sizes
        average = sum(sizes.values()) / max(1, len(sizes))
        return {name: 1 / (1 + LARGE * log(size / average)) for name, size in sizes.items() if size > average}

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        """The types of one mutation, its payload and its input, of which the mutation itself is the result."""
        return self._paths.of_one_mutation()


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
    scores = {
        each: with_fields[each] * NEIGHBOUR * types[name]
        for name in reversed(names[:MAX_LEADING])
        for each in with_fields.keys() & next_to(name)
    }
    for name in names:
        near = types.keys() & next_to(name)
        together = 0.0  # shares that the type lacks and a type next to it has
        for share in shares:
            most = max((share[each] for each in near & share.keys()), default=0.0)
            together += max(0.0, most - share.get(name, 0.0))
        scores[name] = types[name] + NEIGHBOUR * max(map(types.__getitem__, near), default=0.0) + TOGETHER * together
    return scores
