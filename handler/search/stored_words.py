"""The stored form of a schema's words: a section of the schema index.

A search of a view would otherwise split and stem all names and descriptions of the schema. The compiler does so once,
and stores the parts of each word: ``words``. The section depends on the schema alone. What counts in a view, such as
the frequency of a word, is counted by the search over visible parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from handler.graph.index import SchemaIndex, Text, expected_shape, names_in, text_in
from handler.search.postings import END, Postings, find_postings, read_steps, write_steps
from handler.search.words import Vocabulary
from handler.strict_json import JSONObject

RULES = 3
"""The rules of the section. A change of splitting, of a stem or of the form raises the number: a section by other rules
is not used."""


def write_words(types: Mapping[str, Sequence[Text]], synonyms: Mapping[str, Sequence[str]]) -> JSONObject:
    """Return the section for a schema's types, each with its texts, and an author's synonyms."""
    postings = find_postings(types, Vocabulary().words)
    given = {"synonyms": {word: list(others) for word, others in synonyms.items()}} if synonyms else {}
    return {
        "rules": RULES,
        "sizes": write_steps(_ends(postings.sizes)),
        "words": " ".join(f"{word}{END}{lists}" for word, lists in postings.entries.items()),
        **given,
    }


def read_vocabulary(raw: Mapping[str, Any]) -> Vocabulary:
    """Read the author's synonyms from the section.

    Raises:
        BundleError: the section does not have the shape that the compiler writes.
    """
    with expected_shape("the schema index's words"):
        return Vocabulary({word: names_in(others) for word, others in raw.get("synonyms", {}).items()})


def read_postings(index: SchemaIndex) -> Postings:
    """Read the postings of an index, or find them if it has none by these rules, as an index of an older release.

    Raises:
        BundleError: the index does not have the shape that the compiler writes.
    """
    if index.words.get("rules") != RULES:
        index.read_all(index)
        return find_postings({name: index.texts(name) for name in index}, Vocabulary().words)
    with expected_shape("the schema index's words"):
        ends = [0, *read_steps(text_in(index.words, "sizes"))]
        sizes = [end - start - 1 for start, end in pairwise(ends)]
        entries = dict(entry.split(END, 1) for entry in text_in(index.words, "words").split(" ") if entry)
        if len(sizes) != len(tuple(index)):
            raise ValueError("sizes")
        return Postings(sizes, entries)


def _ends(sizes: Sequence[int]) -> list[int]:
    """Return the number of the last part of each type."""
    ends = []
    last = 0
    for size in sizes:
        last += size + 1
        ends.append(last)
    return ends
