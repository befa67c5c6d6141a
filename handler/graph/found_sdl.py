"""The texts with which a GraphQL tool's companions answer: what a question found, and what coordinates name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from handler.graph.index_types import named
from handler.graph.sdl import print_directive
from handler.graph.slices import WRAPPER_MEMBERS, Slice, is_leaf, members_named, taken_types
from handler.graph.view import BUILT_IN_SCALARS, View

NAME = "[_A-Za-z][_0-9A-Za-z]*"
COORDINATE = re.compile(rf"@{NAME}|{NAME}(?:\.{NAME}(?:\({NAME}:\))?)?")

MATCH_BYTES = 400
"""Room for one match: an answer has as many of them as fit, within the next two bounds."""

MIN_MATCHES, MAX_MATCHES = 3, 8

MAX_VALUES = 12
"""An enum with more values is shown only if somebody asks for it: the values are seldom all new to a model."""

TYPE_SHARE = 2
"""A type that a match returns or takes gets at most half of the room that is left."""

NOTHING = "Nothing here answers that. Ask with other words, or for less at a time."

MAX_NAMED = 20
"""Coordinates that a remark names; further ones are counted."""


def found_text(view: View, found: Sequence[tuple[str, Sequence[Sequence[str]]]], *, max_bytes: int) -> str:
    """Return the matches of a question, each with its first way from a root field, and the SDL of these ways.

    ``found`` has coordinates, best first, each with its paths.
    """
    if not found:
        return NOTHING
    count = min(max(max_bytes // MATCH_BYTES, MIN_MATCHES), MAX_MATCHES)
    ways = [_way(coordinate, paths) for coordinate, paths in found[:count]]
    heading = ["Found, best first:", *(f"- {' > '.join(way)}" for way in ways)]
    shown = Slice(view, max_bytes=max_bytes - len("\n".join(heading).encode()))
    fits = [_add_way(shown, ways[0])]
    _add_around(view, shown, ways[0])  # the best match is shown with what surrounds it, before the others
    fits += [_add_way(shown, way) for way in ways[1:]]
    for way in ways[1:]:
        _add_around(view, shown, way)
    left_out = [" > ".join(way) for way, fit in zip(ways, fits, strict=True) if not fit]
    remark = [f"Left out: {_some(left_out)}. Ask for fewer things at a time."] if left_out else []
    return "\n".join([*heading, "", shown.text(), *remark])


def described_text(view: View, coordinates: Sequence[str], *, max_bytes: int) -> str:
    """Return the SDL of coordinates, in their order as far as it fits, and the names of those that are unknown here."""
    wanted = list(dict.fromkeys(coordinates))
    unknown = [each for each in wanted if not is_visible(view, each)]
    known = [each for each in wanted if each not in set(unknown)]
    directives = [print_directive(view, each.removeprefix("@")) for each in known if each.startswith("@")]
    scalars = [f"scalar {each}" for each in known if each in BUILT_IN_SCALARS]  # no schema defines them
    shown = Slice(view, max_bytes=max_bytes - sum(len(each.encode()) + 2 for each in (*directives, *scalars)))
    left_out = [
        f"{type_name}.{member}"
        for type_name, member in members_named(known)
        if member and not shown.add(type_name, member, whole=True, described=True)
    ]
    whole = [type_name for type_name, member in members_named(known) if not member]
    for place, type_name in enumerate(whole):
        if not shown.fill(type_name, room=shown.room // (len(whole) - place)) and not shown.holds(type_name):
            left_out.append(type_name)
    remarks = [f"Left out for lack of room: {_some(left_out)}."] if left_out else []
    remarks += [f"Unknown here: {_some(unknown)}."] if unknown else []
    return "\n\n".join(part for part in [shown.text(), *scalars, *directives, *remarks] if part)


def _way(coordinate: str, paths: Sequence[Sequence[str]]) -> list[str]:
    way = list(paths[0] if paths else ())
    return way if way and way[-1] == coordinate else [*way, coordinate]


def _add_way(shown: Slice, way: Sequence[str]) -> bool:
    steps = [(type_name, member) for type_name, member in members_named(way) if member]
    fits = [shown.add(*step, whole=True, described=place == len(steps) - 1) for place, step in enumerate(steps)]
    return all(fits)


def _add_around(view: View, shown: Slice, way: Sequence[str]) -> None:
    """Add what a request along a way may select at the end of the way, and what it takes."""
    waiting = list(_returned(view, way[-1]))
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        if name in seen or is_leaf(view, name):
            continue
        seen.add(name)
        shown.fill(name, room=shown.room // TYPE_SHARE)
        if len(view.members[name]) <= WRAPPER_MEMBERS:
            waiting += [below for member in view.members[name] for below in _returned(view, f"{name}.{member}")]
    for name in taken_types(view, way):
        if view.index.kind(name) != "enum" or len(view.members[name]) <= MAX_VALUES:
            shown.fill(name, room=shown.room // TYPE_SHARE)


def _returned(view: View, coordinate: str) -> Iterator[str]:
    """Yield the type that a coordinate names or returns."""
    for type_name, member in members_named([coordinate]):
        if type_name not in view.members:
            continue
        if not member:
            yield type_name
        elif view.index.kind(type_name) in ("object", "interface"):
            yield named(view.index[type_name].fields[member].type)
        elif view.index.kind(type_name) == "union":
            yield member


def is_visible(view: View, coordinate: str) -> bool:
    """Tell if a view has a part of this coordinate."""
    if not COORDINATE.fullmatch(coordinate):
        return False
    if coordinate.startswith("@"):
        return coordinate.removeprefix("@") in view.directives()
    type_name, _, rest = coordinate.partition(".")
    member, _, argument = rest.removesuffix(":)").partition("(")
    if type_name not in view.members or (member and view.index.kind(type_name) == "union"):
        return False
    if member and member not in view.members[type_name]:
        return False
    return not argument or (
        view.index.kind(type_name) in ("object", "interface") and argument in view.arguments(type_name, member)
    )


def _some(names: Sequence[str]) -> str:
    more = [f"and {len(names) - MAX_NAMED} more"] if len(names) > MAX_NAMED else []
    return ", ".join([*(f"{name:.100}" for name in names[:MAX_NAMED]), *more])
