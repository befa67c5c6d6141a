"""The answers about a part of the schema: the parts that a text may mean, and which personas reach a part, and how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from handler.audience.reach import Passage, Reach
from handler.audience.view_paths import resolve_in
from handler.commands.explaining import FieldReach
from handler.commands.page.page_answers import Reason, plain_causes, reason, shown_place
from handler.commands.page.personas import Persona
from handler.commands.page.served import ServedEndpoint, visitor_of
from handler.errors.authoring import UnknownCoordinate
from handler.graph.index import SchemaIndex, named
from handler.server.asgi.responses import Refused

MAX_MATCHES = 50
MAX_TEXT_CHARS = 500
"""Characters of the text that is looked for; a coordinate has two names of the schema."""

STEP = re.compile(r"\.\.\. on (\w+)|(\w+)", re.ASCII)

Ranked = tuple[int, int, str]


def reach_of_field(served: ServedEndpoint, personas: Sequence[Persona], text: str) -> dict[str, Any]:
    """Return the parts of the schema that a text may mean and, for the part that it names, who reaches it."""
    reach = served.reach
    if reach.index is None:
        return {"field": None, "matches": [], "personas": [], "note": "the endpoint has no schema"}
    coordinate, note = _resolved(reach.index, text)
    matches, more = matches_of(reach.index, text)
    if coordinate is None and len(matches) == 1 and not more:
        coordinate, note = matches[0]["coordinate"], ""
    return {
        "field": coordinate,
        "note": note,
        "matches": matches,
        "more": more,
        "personas": [_plain_persona(served, each, coordinate) for each in personas] if coordinate else [],
    }


def why_not_field(served: ServedEndpoint, persona: Persona, text: str) -> dict[str, Any]:
    """Return the rules that keep a persona from a part of the schema.

    Raises:
        Refused: 400, the schema has no such part.
    """
    coordinate = coordinate_of(text, served.reach)
    told = _plain_persona(served, persona, coordinate)
    return {"field": coordinate, "verdict": "yes" if told["reached"] else "no", "reasons": told["reasons"]}


def coordinate_of(text: str, reach: Reach) -> str:
    """Return the coordinate that a text names at an endpoint.

    Raises:
        Refused: 400, the schema has no such part.
    """
    coordinate, note = _resolved(reach.index, text) if reach.index else (None, "the endpoint has no schema")
    if coordinate is None:
        raise Refused("bad-request", note)
    return coordinate


def _resolved(index: SchemaIndex, text: str) -> tuple[str | None, str]:
    """Return the coordinate that a text names; ``None`` and the reason if it names none."""
    try:
        return resolve_in(index, text[:MAX_TEXT_CHARS].strip()), ""
    except UnknownCoordinate as exc:
        return None, str(exc)


def matches_of(index: SchemaIndex, text: str) -> tuple[list[dict[str, Any]], int]:
    """Return the types and members whose names have a text, the nearest first, and the number of further ones."""
    wanted = text[:MAX_TEXT_CHARS].strip().lower()
    if not wanted:
        return [], 0
    found = sorted(_ranked(index, wanted))
    return [_plain_match(index, name) for _, _, name in found[:MAX_MATCHES]], max(0, len(found) - MAX_MATCHES)


def _ranked(index: SchemaIndex, wanted: str) -> Iterator[Ranked]:
    """Yield matching coordinates with their ranks: the whole name, then its beginning, then a part of it."""
    of_owner, dot, of_member = wanted.rpartition(".")
    index.read_all(list(index))
    for owner in index:
        if not dot and wanted in owner.lower():
            yield _rank(owner, wanted), len(owner), owner
        if index.kind(owner) == "union" or (dot and of_owner not in owner.lower()):
            continue
        for member in index.members(owner):
            if of_member in member.lower():
                name = f"{owner}.{member}"
                yield _rank(member, of_member) + (dot != "" and owner.lower() != of_owner), len(name), name


def _rank(name: str, wanted: str) -> int:
    lower = name.lower()
    return 0 if lower == wanted else 2 if lower.startswith(wanted) else 4


def _plain_match(index: SchemaIndex, coordinate: str) -> dict[str, Any]:
    owner, _, member = coordinate.partition(".")
    slice_ = index[owner]
    type_ = ""
    if member in slice_.fields:
        type_ = slice_.fields[member].type
    elif member in slice_.inputs:
        type_ = slice_.inputs[member].type
    return {"coordinate": coordinate, "kind": index.kind(owner), "type": type_}


def _plain_persona(served: ServedEndpoint, persona: Persona, coordinate: str) -> dict[str, Any]:
    reach = served.reach
    visitor = visitor_of(reach, persona)
    (found,) = FieldReach(served.folder, reach, coordinate, visitors=[visitor]).classes
    reached = bool(found.ways) and not visitor.refusal
    return {
        "id": persona.id,
        "label": persona.label,
        "kind": persona.kind,
        "refused": visitor.refusal,
        "reached": reached,
        "through": [_plain_passage(served, reach, each) for each in found.passages if each.verdict != "no"],
        "reasons": [] if reached else _reasons(served, persona, coordinate),
    }


def _reasons(served: ServedEndpoint, persona: Persona, coordinate: str) -> list[Reason]:
    """Return the rules that keep a persona from a coordinate, through the entrances closed to it."""
    refusal = visitor_of(served.reach, persona).refusal
    if refusal:
        return [reason(f"the endpoint answers this caller 401: {refusal}", rule=refusal)]
    reach = served.explained
    visitor = visitor_of(reach, persona)
    view = FieldReach(served.folder, reach, coordinate, visitors=[visitor])
    (found,) = view.classes
    told = plain_causes(view.causes(found), served.folder)
    refused = [each for each in found.passages if each.verdict in ("401", "403", "refused") and each.note]
    told += [reason(f"{each.entrance.name}: {each.note}") for each in refused]
    if not told and not found.ways:
        told.append(reason("no tool of the endpoint leads there, and no rule hides it"))
    return told


def _plain_passage(served: ServedEndpoint, reach: Reach, passage: Passage) -> dict[str, Any]:
    entrance = passage.entrance
    file, line = shown_place(entrance.place, served.folder)
    return {
        "tool": entrance.name,
        "kind": entrance.kind,
        "verdict": passage.verdict,
        "note": passage.note,
        "path": _path(reach.index, passage),
        "document": passage.document,
        "file": file,
        "line": line,
    }


def _path(index: SchemaIndex | None, passage: Passage) -> str:
    """Return the way to a coordinate, such as ``Query.employee -> Employee.salary``."""
    if passage.path or index is None or not passage.document:
        return passage.path
    return " -> ".join(_steps(index, passage.document))


def _steps(index: SchemaIndex, document: str) -> Iterable[str]:
    """Yield the fields of a document with one way, each with its type."""
    head, _, body = document.partition("{")
    kind = head.split("(")[0].split("@")[0].strip() or "query"
    owner = index.roots.get(kind, "")
    for on, member in STEP.findall(_without_arguments(body)):
        if on:
            owner = on
        elif member != "__typename" and owner in index and member in index[owner].fields:
            yield f"{owner}.{member}"
            owner = named(index[owner].fields[member].type)


def _without_arguments(text: str) -> str:
    """Return a text without its parentheses and all that is in them."""
    kept, depth = [], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth == 0 and character != ")":
            kept.append(character)
    return "".join(kept)
