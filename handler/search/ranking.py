"""Ranking of documents, such as tools, by the words of a question: BM25 over weighted fields (BM25F).

Rare words of the texts of the best documents count a little, too: they show further subjects of the question.

Sources: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; V. Lavrenko and
W. B. Croft, "Relevance-Based Language Models", 2001.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from heapq import nlargest
from itertools import takewhile
from math import log
from typing import TypeVar

from handler.cold.records import record
from handler.search.question import read_question
from handler.search.words import Vocabulary

_Key = TypeVar("_Key", int, str)

NAME, TEXT, PART = 5.0, 1.0, 0.5
"""Weights of a word by its place: a name, a text, the name of a part."""

VERB = 0.7
"""Least weight of a word of a question: tools are named by verbs, such as ``get``, that say little of a schema."""

LONG_NAMES, LONG_TEXTS, MANY_PARTS = 0.3, 0.5, 0.5
"""How much less each word weighs among more words of its place (BM25's b)."""

K1 = 1.2
"""How soon a repeated word stops to count."""

MAX_TELLING, MAX_RELATED = 3, 10
"""Best documents whose texts give words that are related to the question, and such words."""

RELATED = 0.06
"""Weight of the related words beside those of the question."""


@record(frozen=True, slots=True)
class Ranked:
    """A document: names, texts about it, and the names of its parts, such as the arguments of a tool."""

    key: str
    names: tuple[str, ...]
    texts: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class Ranking:
    """Documents, ready to be ranked by questions. Every number that counts is of these documents alone."""

    def __init__(self, documents: Sequence[Ranked], vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary or Vocabulary()
        self._keys = [document.key for document in documents]
        self._weights: defaultdict[str, dict[int, float]] = defaultdict(dict)  # word -> document -> weight
        self._add(_counts([document.names for document in documents], self._vocabulary), NAME, LONG_NAMES)
        self._texts = _counts([document.texts for document in documents], self._vocabulary)
        self._add(self._texts, TEXT, LONG_TEXTS)
        self._add(_counts([document.parts for document in documents], self._vocabulary), PART, MANY_PARTS)
        self._sorted = sorted(self._weights)

    def rank(self, question: str) -> list[tuple[str, float]]:
        """Return the keys of the documents that share a word with a question, each with a score of 0 to 1.

        The best is first. Equal scores are ordered by key.
        """
        read = read_question(question, self._vocabulary, self._weights.__contains__, self._begun)
        scores: dict[int, float] = {}
        most = 0.0
        for word, words in read.words.items():
            weights: dict[int, float] = {}  # the greatest in each document of the words that stand for one
            for each in words:
                for document, weight in self._weights.get(each, {}).items():
                    weights[document] = max(weight, weights.get(document, 0.0))
            worth = max(VERB, read.weights[word]) * rarity(len(weights), of=len(self._keys))
            most += worth
            for document, weight in weights.items():
                scores[document] = scores.get(document, 0.0) + worth * weight / (weight + K1)
        related = self._related(scores, {each for words in read.words.values() for each in words})
        for word, share in related.items():
            for document, weight in self._weights[word].items():
                if document in scores:
                    scores[document] += RELATED * most * share * weight / (weight + K1)
        ranked = ((self._keys[document], score / most / (1 + RELATED)) for document, score in scores.items())
        return sorted(ranked, key=lambda each: (-each[1], each[0]))

    def _related(self, scores: Mapping[int, float], words: Set[str]) -> dict[str, float]:
        """Return further words that most set the best documents apart from others, each with its share of 1."""
        weights: dict[str, float] = {}
        for document in best(scores, MAX_TELLING):
            for word, times in self._texts[document].items():
                having = len(self._weights[word])
                if word not in words and having > 1:
                    weight = scores[document] * rarity(having, of=len(self._keys)) * times / (times + K1)
                    weights[word] = weights.get(word, 0.0) + weight
        related = best(weights, MAX_RELATED)
        most = sum(weights[word] for word in related)
        return {word: weights[word] / most for word in related}

    def _add(self, counts: Sequence[Counter[str]], weight: float, longer: float) -> None:
        average = sum(count.total() for count in counts) / max(1, len(counts)) or 1.0
        for document, count in enumerate(counts):
            norm = 1 - longer + longer * count.total() / average
            for word, times in count.items():
                weights = self._weights[word]
                weights[document] = weights.get(document, 0.0) + weight * times / norm

    def _begun(self, start: str) -> tuple[str, ...]:
        return tuple(takewhile(lambda word: word.startswith(start), self._sorted[bisect_left(self._sorted, start) :]))


def _counts(places: Sequence[Sequence[str]], vocabulary: Vocabulary) -> list[Counter[str]]:
    return [Counter(word for text in texts for word in vocabulary.words(text)) for texts in places]


def best(scores: Mapping[_Key, float], limit: int) -> Sequence[_Key]:
    """Return the keys with the greatest scores; equal scores are ordered by key."""
    least = nlargest(limit, scores.values())[-1:] or [0.0]
    keys = (key for key, score in scores.items() if score >= least[0])
    return sorted(keys, key=lambda key: (-scores[key], key))[:limit]


def rarity(having: int, *, of: int) -> float:
    """Return the information of a word that ``having`` parts of all have."""
    return log(1 + (of - having + 0.5) / (having + 0.5))
