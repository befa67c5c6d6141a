"""Parts of a JSON Schema of YAML, in which scalars are read as texts: ``5`` and ``"5"`` are equal.

Source: JSON Schema draft-07, which editors' language servers read.
"""

from __future__ import annotations

from collections.abc import Mapping

from handler.strict_json import JSONObject

Keys = Mapping[str, JSONObject]
"""The schemas of the keys of a section."""

VARIABLE = "STEPZEN_[A-Za-z0-9_]+"
"""The name of a variable, which may stand for any scalar."""

BOOLEANS = (True, False, "true", "false")

NUMBER = r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"

SCALAR: JSONObject = {"type": ["string", "number", "boolean", "null"]}


def text(meaning: str) -> JSONObject:
    """Return the schema of a text."""
    return {"description": meaning, **SCALAR}


def condition(meaning: str) -> JSONObject:
    """Return the schema of a condition."""
    return {"description": meaning, "type": ["string", "boolean"]}


def anything(meaning: str) -> JSONObject:
    """Return the schema of a value that is not read."""
    return {"description": meaning}


def boolean(meaning: str) -> JSONObject:
    """Return the schema of a Boolean."""
    return {"description": meaning, **_one_of(*BOOLEANS)}


def choice(meaning: str, *known: str) -> JSONObject:
    """Return the schema of one of some texts."""
    return {"description": meaning, **_one_of(*known)}


def number(meaning: str, least: float, most: float) -> JSONObject:
    """Return the schema of a number between two bounds."""
    return {
        "description": meaning,
        "type": ["number", "string"],
        "minimum": least,
        "maximum": most,
        "pattern": f"^({NUMBER}|{VARIABLE})$",
    }


def integer(meaning: str, least: int, most: int) -> JSONObject:
    """Return the schema of a whole number between two bounds."""
    return {**number(meaning, least, most), "multipleOf": 1}


def texts(meaning: str, *known: str) -> JSONObject:
    """Return the schema of a list of texts, or of one text. ``known`` are the allowed texts; none: all."""
    item = _one_of(*known) if known else SCALAR
    return {"description": meaning, "anyOf": [item, {"type": "array", "items": item}]}


def section(meaning: str, keys: Mapping[str, JSONObject]) -> JSONObject:
    """Return the schema of a mapping with these keys."""
    return {
        "description": meaning,
        "type": ["object", "null"],
        "properties": dict(keys),
        "additionalProperties": False,
    }


def named(meaning: str, value: JSONObject) -> JSONObject:
    """Return the schema of a mapping whose keys are an author's own."""
    return {"description": meaning, "type": ["object", "null"], "additionalProperties": value}


def sections(meaning: str, keys: Mapping[str, JSONObject]) -> JSONObject:
    """Return the schema of a list of mappings, or of one mapping."""
    return _listed(meaning, {**section(meaning, keys), "type": "object"})


def sections_or_texts(meaning: str, keys: Mapping[str, JSONObject]) -> JSONObject:
    """Return the schema of a list in which a text may stand for a mapping, or of one item."""
    return _listed(meaning, {"anyOf": [SCALAR, {**section(meaning, keys), "type": "object"}]})


def section_or(value: JSONObject, keys: Mapping[str, JSONObject]) -> JSONObject:
    """Return the schema of a value, or of a mapping in its place."""
    meaning = value["description"]
    scalar = {key: each for key, each in value.items() if key != "description"}
    return {"description": meaning, "anyOf": [scalar, {**section(meaning, keys), "type": "object"}]}


def _listed(meaning: str, item: JSONObject) -> JSONObject:
    return {"description": meaning, "anyOf": [item, {"type": "array", "items": item}, {"type": "null"}]}


def _one_of(*known: object) -> JSONObject:
    return {"anyOf": [{"enum": list(known)}, {"type": "string", "pattern": f"^{VARIABLE}$"}]}
