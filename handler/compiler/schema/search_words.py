"""The words of a schema, for the section of the schema index that a search reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handler.search.stored_words import write_words
from handler.strict_json import JSONObject


def with_words(content: JSONObject, synonyms: Mapping[str, Sequence[str]]) -> JSONObject:
    """Return the content of a schema index with its section of words. ``synonyms`` are the author's."""
    return {**content, "words": write_words(_texts(content["types"]), synonyms)}


def _texts(parts: Mapping[str, JSONObject]) -> Iterator[str]:
    """Yield the names and descriptions of parts, and of what is in them."""
    for name, part in parts.items():
        yield name
        yield part.get("description", "")
        for key in ("fields", "inputs", "arguments"):
            yield from _texts(part.get(key, {}))
        for value, (description, _) in part.get("values", {}).items():
            yield value
            yield description
