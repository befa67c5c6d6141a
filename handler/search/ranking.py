"""Ranking of documents by the words of a question: BM25 over weighted fields (BM25F).

Source: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

from handler.records import record
from handler.search.words import Vocabulary


@record(frozen=True, slots=True)
class Ranked:
    """What has a name, texts about it, and parts with names of their own, such as the arguments of a tool."""

    key: str
    names: tuple[str, ...]
    texts: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


NAME, TEXT, PART = 3.0, 1.0, 0.5
"""Weights of a word by its place."""

K1 = 1.2
"""How soon a repeated word stops to count."""

B = 0.5
"""How much a long text weighs less for each of its words."""


def rank(
    documents: Sequence[Ranked], question: str, *, vocabulary: Vocabulary | None = None
) -> list[tuple[str, float]]:
    """Return the keys of the documents that share a word with a question, the best first, each with a score of 0 to 1.

    Equal scores are ordered by key.
    """
    vocabulary = vocabulary or Vocabulary()
    asked = vocabulary.question(question)
    weighed = [_weighed(document, vocabulary) for document in documents]
    lengths = [sum(each.values()) for each in weighed]
    average = sum(lengths) / max(1, len(lengths)) or 1.0
    frequency = Counter(word for each in weighed for word in each)
    rarity = {word: log(1 + (len(documents) - frequency[word] + 0.5) / (frequency[word] + 0.5)) for word in asked}
    most = sum(rarity.values()) or 1.0
    found = []
    for document, weights, length in zip(documents, weighed, lengths, strict=True):
        score = sum(
            rarity[word] * weights[word] / (weights[word] + K1 * (1 - B + B * length / average))
            for word in asked
            if word in weights
        )
        if score:
            found.append((document.key, score / most))
    return sorted(found, key=lambda each: (-each[1], each[0]))


def _weighed(document: Ranked, vocabulary: Vocabulary) -> Mapping[str, float]:
    found: Counter[str] = Counter()
    for texts, weight in ((document.names, NAME), (document.texts, TEXT), (document.parts, PART)):
        for text in texts:
            for word in vocabulary.words(text):
                found[word] += weight  # type: ignore[assignment]
    return found
