"""The words of a schema, for the section of the schema index that a search reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from handler.graph.index import texts_in
from handler.search.stored_words import write_words
from handler.strict_json import JSONObject


def with_words(content: JSONObject, synonyms: Mapping[str, Sequence[str]]) -> JSONObject:
    """Return the content of a schema index with its section of words. ``synonyms`` are the author's."""
    types = {name: texts_in(raw) for name, raw in content["types"].items()}
    return {**content, "words": write_words(types, synonyms)}
