"""Values of tools in Python, cut to the size that a result may have."""

from __future__ import annotations

from typing import Any, NamedTuple

from handler.answers.fit import cut_value
from handler.answers.places import CHARACTERS, CutPlace
from handler.answers.plan import ANYTHING
from handler.errors.calls import ToolError
from handler.strict_json import JSONObject, parse_json, to_well_formed_json

TRIES = 5
"""Cuts of one value, each with more room for the note."""


class FittedValue(NamedTuple):
    """A value within its limit, with its note.

    The note is empty if nothing was cut. Otherwise its member ``truncated`` has each place that was cut: the path in
    the value, and how many items or characters were kept and dropped.
    """

    value: Any
    note: JSONObject


def fit_value(value: Any, *, max_bytes: int) -> FittedValue:
    """Cut a JSON value so that its JSON and its note's have ``max_bytes`` together; 0 is no limit.

    Raises:
        ToolError: the value cannot be cut to that size.
        TypeError, ValueError, RecursionError: the value is not JSON.
    """
    if max_bytes < 0:
        raise ValueError(f"max_bytes: expected 0 or more, got {max_bytes}")
    text = to_well_formed_json(value)
    size = len(text)
    if not max_bytes or size <= max_bytes:
        return FittedValue(value, {})
    value = parse_json(text)  # tuples and other classes that JSON writes as lists, objects and texts
    room = max_bytes
    for _ in range(TRIES):
        found = cut_value(value, ANYTHING, max_bytes=room)
        if found is None:
            break
        kept, places = found
        note: JSONObject = {"truncated": [_told(place) for place in places]}
        size_kept = len(to_well_formed_json(kept))
        excess = size_kept + len(to_well_formed_json(note)) - max_bytes
        if excess <= 0:
            return FittedValue(kept, note)
        room = size_kept - excess
    raise ToolError(
        f"The result has {size:,} bytes, and a result of this tool may have {max_bytes:,}. It cannot be shortened to "
        "that. Ask for less."
    )


def _told(place: CutPlace) -> JSONObject:
    told: JSONObject = {"path": list(place.path[1:]), "kept": place.kept, "dropped": place.dropped}
    return {**told, "of": CHARACTERS} if place.of == CHARACTERS else told
