"""The stored form of a vocabulary: a section of the schema index.

A search of a view stems thousands of different words. The compiler does so once: ``stems`` has each stem with its
words, a word that begins with the stem by its ending. A word of the schema that is not there is its own stem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from handler.graph.index_types import expected_shape, names_in, text_in
from handler.search.stems import stem
from handler.search.words import STOP_WORDS, Vocabulary, split
from handler.strict_json import JSONObject

RULES = 1
"""The rules of splitting and stemming. A change of a stem raises the number: a section by other rules is not used."""

WHOLE = "="
"""Mark of a word that does not begin with its stem."""


def write_words(texts: Iterable[str], synonyms: Mapping[str, Sequence[str]]) -> JSONObject:
    """Return the section for the words of a schema's texts and an author's synonyms."""
    words = {word for text in texts for word in split(text) if word not in STOP_WORDS}
    by_stem: dict[str, list[str]] = {}
    for word in sorted(words):
        if stem(word) != word:
            by_stem.setdefault(stem(word), []).append(word)
    stems = (",".join((root, *(_written(root, word) for word in found))) for root, found in sorted(by_stem.items()))
    given = {"synonyms": {word: list(others) for word, others in synonyms.items()}} if synonyms else {}
    return {"rules": RULES, "stems": " ".join(stems), **given}


def read_words(raw: Mapping[str, Any]) -> Vocabulary:
    """Read the section. Without one, as in an index of an older release, each word is stemmed when it is met.

    Raises:
        BundleError: the section does not have the shape that the compiler writes.
    """
    with expected_shape("the schema index's words"):
        synonyms = {word: names_in(others) for word, others in raw.get("synonyms", {}).items()}
        if raw.get("rules") != RULES:
            return Vocabulary(synonyms=synonyms)
        stems = {}
        for line in text_in(raw, "stems").split():
            root, *words = line.split(",")
            for word in words:
                stems[word[1:] if word[:1] == WHOLE else f"{root}{word}"] = root
        return Vocabulary(stems, synonyms)


def _written(root: str, word: str) -> str:
    return word.removeprefix(root) if word.startswith(root) else f"{WHOLE}{word}"
