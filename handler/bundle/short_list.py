"""A list of tools within a budget, shortened without the loss of a tool or an argument.

Output schemas lose their inner levels, then tools lose their output schemas, then descriptions inside the types of
arguments go. Tools share the room evenly: the largest parts are cut first, to a size that falls slowly as tools are
added, so that a list with one more tool is about as long as before. The result depends on the entries alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any

from handler.json_schema.fast_path import REFERENCE
from handler.json_schema.shortening import schema_bytes, with_fewer_descriptions
from handler.strict_json import Entries, Entry, JSONObject

MOST_UNUSED = 1 / 24
"""The part of its budget that a list far above it leaves to vendors, whose APIs put some 40 bytes around each tool."""

LEAST_BYTES = 120
"""A smaller part of an output schema says nothing: some tools get as much, and the others none."""

MAX_REFERENCES = 4
"""References that lead to each other. In an author's schema they may lead to themselves."""

INPUT, OUTPUT = "inputSchema", "outputSchema"

_OBJECT_BYTES = len(',"properties":{},"required":[]')

_LEAF_KEYWORDS = frozenset({"const", "description", "enum", "format", "title", "type"})


def short_list(entries: Sequence[Entry], max_bytes: int) -> Sequence[Entry]:
    """Return the entries of a list, shortened as far as this goes if their JSON is longer than ``max_bytes``."""
    if Entries(entries).size_to(max_bytes) <= max_bytes:
        return entries
    bare = bare_entries(entries)
    target = int(max_bytes * (1 - MOST_UNUSED))
    room = target - Entries(bare).size_to(target)
    brief = [*map(_brief, entries)]
    descriptions = sum(each.size for each in brief) - sum(each.size for each in bare)
    if descriptions > room:
        return _between(bare, brief, room, _with_fewer_descriptions)
    return _between(brief, entries, room - descriptions, _with_outer_levels)


def bare_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return the least that a list has of its tools: no output schemas, and no descriptions inside arguments."""
    return [entry.kept("bare", lambda each: _with_fewer_descriptions(_brief(each), inf)) for entry in entries]


def _brief(entry: Entry) -> Entry:
    return entry.only(frozenset(entry) - {OUTPUT})


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
    root = {"type": schema["type"]} if "type" in schema else {}
    room, waiting = max_bytes - schema_bytes(root), [(schema, root)]
    for part, form in waiting:
        members: JSONObject = {}
        pairs: list[tuple[Any, Any]] = []
        match part:
            case {"anyOf": [*choices]} | {"oneOf": [*choices]}:
                pairs = [opened(each) for each in choices]
                members = {"anyOf": [short for _, short in pairs]}
            case {"items": dict(items)} if "prefixItems" not in part:
                pairs = [opened(items)]
                members = {"items": pairs[0][1]}
            case {"properties": dict(properties)}:
                left, named = room - _OBJECT_BYTES, dict[str, tuple[Any, Any]]()
                for name, each in properties.items():
                    pair = opened(each)
                    size = schema_bytes([name, name, pair[1]])  # the name is repeated if it is required
                    if size <= left:
                        named[name] = pair
                        left -= size
                required = [name for name in part.get("required", ()) if name in named]
                members = {"properties": {name: short for name, (_, short) in named.items()}, "required": required}
                members = {name: each for name, each in members.items() if each}
                # The errors of a GraphQL response are the same for each tool.
                pairs = [pair for name, pair in named.items() if part is not schema or name != "errors"]
        growth = schema_bytes({**form, **members}) - schema_bytes(form)
        if members and growth <= room:
            form.update(members)
            room -= growth
            waiting += [pair for pair in pairs if pair[0] is not pair[1]]
    return root


def _opened(definitions: JSONObject, part: Any) -> tuple[Any, Any]:
    """Return a part without references, and its form with nothing below; the part again if that is all of it."""
    part = _resolved(definitions, part)
    if not isinstance(part, dict) or part.keys() <= _LEAF_KEYWORDS:
        return part, part
    if "$id" in part:  # the references below an identifier lead to other definitions
        return {}, _of_type(part)
    forms = [_of_type(_resolved(definitions, each)) for each in part.get("anyOf") or part.get("oneOf") or ()]
    form = {"anyOf": [form for place, form in enumerate(forms) if form not in forms[:place]]}
    return part, form if "type" not in part and forms and all(forms) else _of_type(part)


def _resolved(definitions: JSONObject, part: Any) -> Any:
    for _ in range(MAX_REFERENCES):
        if isinstance(part, dict) and "$ref" in part:
            part = definitions.get(str(part["$ref"]), {})
    return part


def _of_type(part: Any) -> JSONObject:
    return {"type": part["type"]} if isinstance(part, dict) and "type" in part else {}
