"""The stored places of words are those that the index itself has, and are read back as they were written."""

from __future__ import annotations

import json
from random import Random

import pytest
from graphql import build_schema

from handler.compiler.schema.schema_index import build_index, with_words
from handler.errors.infrastructure import BundleError
from handler.graph.index import SchemaIndex, read_index, write_index
from handler.search.postings import (
    IN_ARGUMENTS,
    IN_NAMES,
    IN_TEXTS,
    RULES,
    Postings,
    read_postings,
    read_steps,
    write_steps,
)
from handler.search.words import Vocabulary
from handler.strict_json import JSONObject
from tests.search.schemas import index_of, random_worded_sdl


@pytest.mark.parametrize("step", [1, 2, 57, 58, 59, 91, 92, 93, 2_000, 55_000, 57_250, 57_251, 57_252, 70_000, 500_000])
def test_steps_are_read_as_they_were_written(step: int) -> None:
    parts = [step, step + 1, 2 * step + 2]

    assert list(read_steps(write_steps(parts))) == parts
    assert list(read_steps(json.loads(json.dumps(write_steps(parts))))) == parts


def test_common_parts_cost_a_byte_each() -> None:
    text = write_steps(range(91, 9_100, 91))

    assert len(text.encode()) == len(json.dumps(text)) - 2 == 99


@pytest.mark.parametrize("seed", range(10))
def test_stored_places_are_those_of_an_index_without_them(seed: int) -> None:
    sdl = random_worded_sdl(Random(seed))
    stored, found = read_postings(index_of(sdl)), read_postings(old_index(sdl, {}))

    assert stored.entries
    assert (list(stored.sizes), dict(stored.entries)) == (list(found.sizes), dict(found.entries))
    assert (list(stored.names), list(stored.texts)) == (list(found.names), list(found.texts))


def test_words_stored_by_other_rules_are_not_used() -> None:
    sdl = "type Query { mergedAt: Int }"
    old = old_index(sdl, {"rules": 1, "stems": "wrong,merged", "words": "wrong!#", "sizes": "#"})

    own, stored = read_postings(index_of(sdl)), read_postings(old)
    assert list(stored.parts("merg", IN_NAMES)) == list(own.parts("merg", IN_NAMES)) != []


@pytest.mark.parametrize(
    "words",
    [
        {"rules": RULES},
        {"rules": RULES, "sizes": "#", "words": "merg"},
        {"rules": RULES, "sizes": "", "words": ""},
        {"rules": RULES, "sizes": "$", "words": ""},
        {"rules": RULES, "sizes": "$", "words": "", "counts": ["#$$", "#$"]},
        {"rules": RULES, "sizes": "$", "words": "", "counts": ["#$$$", "#$$$"]},
        {"rules": RULES, "sizes": "$", "words": "", "counts": [3, 3]},
    ],
)
def test_a_section_of_another_shape_is_refused(words: JSONObject) -> None:
    with pytest.raises(BundleError, match="words is malformed"):
        read_postings(old_index("type Query { mergedAt: Int }", words))


def test_any_text_is_a_description() -> None:
    texts = ["ﷺ", "⑴!", "a!b#c ~d", "\x85\u2028\u3000x", "注文 Straße", "\U0001f600 \U0001d4aa", "\ud7ff\ue000"]
    fields = " ".join(f"f{place}: Int" for place in range(len(texts)))
    content = build_index(build_schema(f"type Query {{ {fields} }}"))
    for field, text in zip(content["types"]["Query"]["fields"].values(), texts, strict=True):
        field["description"] = text
    digest, stored = write_index(with_words(content, {}))
    postings = read_postings(read_index(stored, sha256=digest))

    assert all(list(postings.parts(word, IN_TEXTS)) for text in texts for word in Vocabulary().words(text))


def test_names_descriptions_and_arguments_are_told_apart() -> None:
    postings = read_postings(index_of('type Query { "Paid" order(status: Int, oldStatus: Int): Int }'))
    (order,) = postings.parts("order", IN_NAMES)

    assert places(postings, "order") == ([order], [], [])
    assert places(postings, "pai") == ([], [order], [])
    assert places(postings, "status") == ([], [], [order])
    assert places(postings, "unknown") == ([], [], [])


def places(postings: Postings, word: str) -> tuple[list[int], list[int], list[int]]:
    in_names, in_texts = postings.parts(word, IN_NAMES), postings.parts(word, IN_TEXTS)
    return list(in_names), list(in_texts), list(postings.parts(word, IN_ARGUMENTS))


def old_index(sdl: str, words: JSONObject) -> SchemaIndex:
    """An index whose section of words is another release's, or absent."""
    content = build_index(build_schema(sdl))
    digest, stored = write_index({**content, **({"words": words} if words else {})})
    return read_index(stored, sha256=digest)
