"""A list of tools within a budget, shortened without the loss of a tool or an argument.

Output schemas lose their inner levels, then tools lose their output schemas, then descriptions inside the types of
arguments go. Tools share the room evenly: the largest parts are cut first, to a size that falls slowly as tools are
added, so that a list with one more tool is about as long as before. The result depends on the entries alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from operator import is_
from typing import Any

from handler.json_schema.fast_path import REFERENCE
from handler.json_schema.shortening import schema_bytes, with_fewer_descriptions
from handler.strict_json import Entries, Entry, JSONObject, to_json_bytes

MOST_UNUSED = 1 / 24
"""The part of its budget that a list far above it leaves to vendors, whose APIs put some 40 bytes around each tool."""

LEAST_BYTES = 120
"""A smaller part of an output schema says nothing: some tools get as much, and the others none."""

MAX_REFERENCES = 4
"""References, or choices, that lead to each other. In an author's schema they may lead to themselves."""

INPUT, OUTPUT = "inputSchema", "outputSchema"

_OBJECT_BYTES = len(',"properties":{},"required":[],"additionalProperties":false')

_LEAF_KEYWORDS = frozenset({"const", "description", "enum", "format", "title", "type"})


def short_list(entries: Sequence[Entry], max_bytes: int) -> Sequence[Entry]:
    """Return the entries of a list, shortened as far as this goes if their JSON is longer than ``max_bytes``."""
    excess = Entries(entries).size_to(2 * max_bytes) - max_bytes
    if excess <= 0:
        return entries
    bare = bare_entries(entries)
    # A list that only just passes its budget hardly changes.
    target = max_bytes - int(min(excess / 8, max_bytes * MOST_UNUSED))
    room = target - Entries(bare).size_to(target)
    if room <= 0:
        return bare
    brief = [entry.only(frozenset(entry) - {OUTPUT}) for entry in entries]
    descriptions = sum(each.size for each in brief) - sum(each.size for each in bare)
    if descriptions > room:
        return _between(bare, brief, room, _with_fewer_descriptions)
    return _between(brief, entries, room - descriptions, _with_outer_levels)


def bare_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return the least that a list has of its tools: no output schemas, and no descriptions inside arguments."""
    schemas: dict[int, JSONObject] = {}  # by the identity of a whole schema, which tools may share

    def bare(entry: Entry) -> Entry:
        schema = entry[INPUT]
        if id(schema) not in schemas:
            schemas[id(schema)] = _with_fewer_descriptions(entry, inf)[INPUT]
        return Entry({**entry.only(frozenset(entry) - {OUTPUT}), INPUT: schemas[id(schema)]})

    return [entry.kept("bare", bare) for entry in entries]


def _between(
    least: Sequence[Entry], most: Sequence[Entry], room: int, cut: Callable[[Entry, int], Entry]
) -> list[Entry]:
    """Return entries between two forms of each, which share so many bytes evenly, beginning with the smallest.

    ``cut`` takes some bytes from an entry.
    """
    result = list(least)
    sizes = [whole.size - one.size for one, whole in zip(least, most, strict=True)]
    places = sorted((place for place, size in enumerate(sizes) if size), key=lambda place: (sizes[place], place))
    for number, place in enumerate(places):
        share = min(room, max(room // (len(places) - number), LEAST_BYTES))
        is_cut = sizes[place] > share >= LEAST_BYTES
        form = cut(most[place], sizes[place] - share) if is_cut else most[place]
        growth = len(form.json) - least[place].size
        if growth <= share:
            result[place] = form
            room -= growth
    return result


def _with_fewer_descriptions(entry: Entry, too_many: float) -> Entry:
    """Return an entry without the longest descriptions inside its arguments. Those of the arguments stay."""
    schema = entry[INPUT]
    kept: set[str] = set()
    for holder in (schema, schema.get("properties", {}).get("variables")):  # which holds those of an operation
        parts = [holder, *holder.get("properties", {}).values()] if isinstance(holder, dict) else []
        kept |= {part["description"] for part in parts if isinstance(part, dict) and "description" in part}
    return Entry({**entry, INPUT: with_fewer_descriptions(schema, too_many, kept=kept)})


def _with_outer_levels(entry: Entry, too_many: int) -> Entry:
    schema = entry[OUTPUT]
    return Entry({**entry, OUTPUT: outer_levels(schema, schema_bytes(schema) - too_many)})


def outer_levels(schema: JSONObject, max_bytes: int) -> JSONObject:
    """Return an output schema with so many bytes of its outer levels, which accepts each value that it accepts.

    A part that does not fit is any value of its type, or is not named. Only keywords are read below which a schema
    may accept more without the whole accepting less. References are resolved.
    """
    opened = partial(_opened, {REFERENCE + name: each for name, each in schema.get("$defs", {}).items()})
    top, root = opened({name: each for name, each in schema.items() if name != "$id"})
    is_cut = root is not top
    if "type" in schema:  # clients refuse a whole list for one output schema without it
        root = {**root, "type": schema["type"]}
    room, waiting = max_bytes - schema_bytes(root), [(top, root)] if is_cut else []
    for part, form in waiting:
        below: dict[str, tuple[Any, Any]] = {}
        members: JSONObject = {}
        match part:
            case {"anyOf": [*choices]} | {"oneOf": [*choices]}:
                below = {str(place): opened(each) for place, each in enumerate(choices)}
                members = {"anyOf": [form for _, form in below.values()]}
            case {"items": dict(items)} if "prefixItems" not in part:
                below = {"": opened(items)}
                members = {"items": below[""][1]}
            case {"properties": dict(properties)}:
                left = room - _OBJECT_BYTES
                for name, each in properties.items():
                    pair = opened(each)
                    growth = 2 * len(name.encode()) + schema_bytes(pair[1]) + len('"":,"",')
                    if growth <= left:
                        below[name] = pair
                        left -= growth
                required = [name for name in part.get("required", ()) if name in below]
                members = {"properties": {name: form for name, (_, form) in below.items()}, "required": required}
                if part.get("additionalProperties") is False and len(below) == len(properties):
                    members["additionalProperties"] = "patternProperties" in part
                members = {name: each for name, each in members.items() if each not in ({}, [], True)}
        growth = schema_bytes({**form, **members}) - schema_bytes(form)
        if members and growth <= room:
            form.update(members)
            room -= growth
            if part is top:
                below.pop("errors", None)  # of a GraphQL response, the same for each tool
            waiting += [pair for pair in below.values() if pair[0] is not pair[1]]
    return dict(root)


def _opened(definitions: JSONObject, part: Any, depth: int = 0) -> tuple[Any, Any]:
    """Return a part without references, and its form with nothing below; the part again if that is all of it."""
    if not isinstance(part, dict) or part.keys() <= _LEAF_KEYWORDS:
        return part, part
    form = {"type": part["type"]} if "type" in part else {}
    if "$id" in part:  # its references lead to definitions of its own
        return form, form
    if "$ref" in part and depth < MAX_REFERENCES:
        return _opened(definitions, definitions.get(str(part["$ref"]), {}), depth + 1)
    choices = part.get("anyOf", part.get("oneOf"))
    if isinstance(choices, list) and depth < MAX_REFERENCES:
        forms = [_opened(definitions, each, depth + 1)[1] for each in choices]
        if len(part) == 1 and "anyOf" in part and all(map(is_, forms, choices)):
            return part, part
        return part, {"anyOf": [*{to_json_bytes(each): each for each in forms}.values()]}  # 1 is not true
    return part, form
