"""Ranking of documents, such as tools, by the words of a question: BM25 over weighted fields (BM25F).

Source: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from math import log

from handler.records import record
from handler.search.question import read_question
from handler.search.words import Vocabulary

NAME, TEXT, PART = 5.0, 1.0, 0.5
"""Weights of a word by its place: a name, a text, the name of a part."""

VERB = 0.7
"""Least weight of a word of a question: tools are named by verbs, such as ``get``, that say little of a schema."""

LONG_NAMES, LONG_TEXTS, MANY_PARTS = 0.3, 0.5, 0.5
"""How much less each word weighs among more words of its place (BM25's b)."""

K1 = 1.2
"""How soon a repeated word stops to count."""


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
        self._add([document.names for document in documents], NAME, LONG_NAMES)
        self._add([document.texts for document in documents], TEXT, LONG_TEXTS)
        self._add([document.parts for document in documents], PART, MANY_PARTS)
        self._sorted = sorted(self._weights)

    def rank(self, question: str) -> list[tuple[str, float]]:
        """Return the keys of the documents that share a word with a question, each with a score of 0 to 1.

        The best is first. Equal scores are ordered by key.
        """
        asked = read_question(question, self._vocabulary, self._weights.__contains__, self._begun)
        found: dict[int, float] = {}
        most = 0.0
        for word, words in asked.words.items():
            weights = self._weights_of(words)
            rarity = max(VERB, asked.weights[word]) * log(
                1 + (len(self._keys) - len(weights) + 0.5) / (len(weights) + 0.5)
            )
            most += rarity
            for document, weight in weights.items():
                found[document] = found.get(document, 0.0) + rarity * weight / (weight + K1)
        ranked = ((self._keys[document], score / most) for document, score in found.items())
        return sorted(ranked, key=lambda each: (-each[1], each[0]))

    def _add(self, places: Sequence[Sequence[str]], weight: float, longer: float) -> None:
        counts = [Counter(word for text in texts for word in self._vocabulary.words(text)) for texts in places]
        average = sum(count.total() for count in counts) / max(1, len(counts)) or 1.0
        for document, count in enumerate(counts):
            norm = 1 - longer + longer * count.total() / average
            for word, times in count.items():
                weights = self._weights[word]
                weights[document] = weights.get(document, 0.0) + weight * times / norm

    def _weights_of(self, words: Sequence[str]) -> Mapping[int, float]:
        """Return the greatest weight in each document of words that stand for one."""
        found: dict[int, float] = {}
        for word in words:
            for document, weight in self._weights.get(word, {}).items():
                found[document] = max(weight, found.get(document, 0.0))
        return found

    def _begun(self, start: str) -> tuple[str, ...]:
        return tuple(takewhile(lambda word: word.startswith(start), self._sorted[bisect_left(self._sorted, start) :]))


def rank(
    documents: Sequence[Ranked], question: str, *, vocabulary: Vocabulary | None = None
) -> list[tuple[str, float]]:
    """Rank documents once. See ``Ranking.rank``."""
    return Ranking(documents, vocabulary).rank(question)
