"""The texts with which a GraphQL tool's companions answer: the matches of a question, and the SDL of coordinates.

A slice of a view's SDL has a bounded number of bytes. A field that nobody asked for is shown with its required
arguments only; ``…`` stands for the others. Each type says how many of its members are left out. graphql-core is not
loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from handler.graph.found_request import WRAPPER_MEMBERS, found_request, is_leaf
from handler.graph.index import InputValue, named_type
from handler.graph.sdl import keyword_of, print_directive
from handler.graph.view import BUILT_IN_SCALARS, View

NAME = "[_A-Za-z][_0-9A-Za-z]*"
COORDINATE = re.compile(
    rf"@(?P<directive>{NAME})(?:\((?P<taken>{NAME}):\))?"
    rf"|(?P<type>{NAME})(?:\.(?P<member>{NAME})(?:\((?P<argument>{NAME}):\))?)?"
)
"""Source: GraphQL specification, section 3.14 (Schema Coordinates)."""

MIN_MATCHES, MAX_MATCHES = 3, 8

LEAST_BYTES, NAMED_BYTES, SHOWN_BYTES = 400, 1_000, 1_500
"""Bytes of an answer for each match: the least, those for a match that is not about as good as the best, and those for
a match whose other ways and surroundings are shown."""

MAX_VALUES = 12
"""An enum with more values is shown only if somebody asks for it: the values are seldom all new to a model."""

OTHER_WAY_BYTES = 600
"""Bytes of an answer for each way to a match beside the best one."""

TYPE_SHARE = 2
"""A type that a match returns or takes gets at most half of the room that is left."""

NOTHING = "Nothing here answers that. Ask with other words, or for less at a time."

MAX_NAMED = 20
"""Coordinates that a remark names; further ones are counted."""

MORE_BYTES = 24
"""Room for the comment on left out members of a type."""

MAX_DOC_CHARS = 120
"""Length of a description in a slice, of which the first sentence is shown."""

MAX_IMPLEMENTERS = 12
"""Implementers of an interface that are named."""


def found_text(
    view: View, matches: Sequence[tuple[str, Sequence[Sequence[str]]]], *, max_bytes: int, strong: int = MAX_MATCHES
) -> str:
    """Return the matches of a question, each with its best way from a root field, other ways, and the SDL of these.

    A request for the best match ends the text if the request takes at most half of the room.
    ``matches`` are coordinates, best first, each with its paths. ``strong`` of them are shown with SDL.
    """
    if not matches:
        return NOTHING
    shown = max(max_bytes // SHOWN_BYTES, 1)
    count = max(min(max(strong, max_bytes // NAMED_BYTES), max_bytes // LEAST_BYTES, MAX_MATCHES), MIN_MATCHES)
    ways = [_with_end(paths[0] if paths else (), coordinate) for coordinate, paths in matches[:count]]
    others = _other_ways(matches[:count], max_bytes // OTHER_WAY_BYTES)
    heading = ["Found, best first:", *(f"- {' > '.join(way)}" for way in ways)]
    heading += ["Other ways:", *(f"- {' > '.join(way)}" for way in others)] if others else []
    room = max_bytes - len("\n".join(heading).encode())
    request = found_request(view, ways[0], [coordinate for coordinate, _ in matches])
    ending = [f"A request for the first: {request}"] if 0 < TYPE_SHARE * len(request) <= room else []
    ways = ways[:strong]
    part = Slice(view, max_bytes=room - len("".join(ending)))
    fits = [_add_way(part, ways[0])]
    _add_around(view, part, ways[0])  # the best match is shown with its surroundings, before the others
    fits += [_add_way(part, way) for way in ways[1:]]
    for way in ways[1:shown]:
        _add_around(view, part, way)
    left_out = [way[-1] for way, fit in zip(ways, fits, strict=True) if not fit]
    remark = [f"Left out: {_some(left_out)}. Ask for fewer things at a time."] if left_out else []
    return "\n".join([*heading, "", part.text(), *remark, *ending])


def _with_end(way: Sequence[str], coordinate: str) -> Sequence[str]:
    return way if way and way[-1] == coordinate else (*way, coordinate)


def _other_ways(matches: Sequence[tuple[str, Sequence[Sequence[str]]]], limit: int) -> list[Sequence[str]]:
    """Return further ways to matches whose root fields are new, the second of each match first."""
    roots = {paths[0][0] for _, paths in matches if paths}
    others: dict[str, Sequence[str]] = {}
    for place in (1, 2):
        for _, paths in matches:
            for way in paths[place : place + 1]:
                if way[0] not in roots:
                    others.setdefault(way[0], way)
    return list(others.values())[:limit]


def described_text(view: View, coordinates: Sequence[str], *, max_bytes: int) -> str:
    """Return the SDL of coordinates, in their order as far as it fits, and the names of those that are unknown here."""
    unique = list(dict.fromkeys(coordinates))
    visible = [each for each in unique if is_visible(view, each)]
    unknown = [each for each in unique if each not in visible]
    directives = [print_directive(view, each.removeprefix("@")) for each in visible if each.startswith("@")]
    scalars = [f"scalar {each}" for each in visible if each in BUILT_IN_SCALARS]  # no schema defines them
    part = Slice(view, max_bytes=max_bytes - sum(len(each.encode()) + 2 for each in (*directives, *scalars)))
    left_out = [
        f"{type_name}.{member}"
        for type_name, member in members_named(visible)
        if member and not part.add(type_name, member, whole=True, described=True)
    ]
    whole = [type_name for type_name, member in members_named(visible) if not member]
    for place, type_name in enumerate(whole):
        if not part.fill(type_name, room=part.room // (len(whole) - place)) and not part.holds(type_name):
            left_out.append(type_name)
    remarks = [f"Left out for lack of room: {_some(left_out)}."] if left_out else []
    remarks += [f"Unknown here: {_some(unknown)}."] if unknown else []
    return "\n\n".join(filter(None, [part.text(), *scalars, *directives, *remarks]))


def _add_way(part: Slice, way: Sequence[str]) -> bool:
    steps = [(type_name, member) for type_name, member in members_named(way) if member]
    fits = [part.add(*step, whole=True, described=place == len(steps) - 1) for place, step in enumerate(steps)]
    return all(fits)


def _add_around(view: View, part: Slice, way: Sequence[str]) -> None:
    """Add the types that a request may select from at the end of a way, and the input types that the way takes."""
    returned = list(_returned(view, way[-1]))
    for place, name in enumerate(returned):
        if name in returned[:place] or is_leaf(view, name):
            continue
        part.fill(name, room=part.room // TYPE_SHARE)
        if len(view.members[name]) <= WRAPPER_MEMBERS:
            returned += [below for member in view.members[name] for below in _returned(view, f"{name}.{member}")]
    for name in taken_types(view, way):
        if view.index.kind(name) != "enum" or len(view.members[name]) <= MAX_VALUES:
            part.fill(name, room=part.room // TYPE_SHARE)


def _returned(view: View, coordinate: str) -> Iterator[str]:
    """Yield the type that a coordinate names or returns."""
    for type_name, member in members_named([coordinate]):
        if type_name not in view.members:
            continue
        if not member:
            yield type_name
        elif view.index.kind(type_name) in ("object", "interface"):
            yield named_type(view.index[type_name].fields[member].type)
        elif view.index.kind(type_name) == "union":
            yield member


def is_visible(view: View, coordinate: str) -> bool:
    """Return whether a view has a part of this coordinate."""
    match = COORDINATE.fullmatch(coordinate)
    if match is None or match["directive"]:
        return match is not None and not match["taken"] and match["directive"] in view.directives()
    type_name, member, argument = match["type"], match["member"], match["argument"]
    if type_name not in view.members or not member:
        return type_name in view.members
    kind = view.index.kind(type_name)
    if kind == "union" or member not in view.members[type_name]:
        return False
    return not argument or (kind in ("object", "interface") and argument in view.arguments(type_name, member))


def _some(names: Sequence[str]) -> str:
    more = [f"and {len(names) - MAX_NAMED} more"] if len(names) > MAX_NAMED else []
    return ", ".join([*(f"{name:.100}" for name in names[:MAX_NAMED]), *more])


class Slice:
    """Parts of a view, added in the order of their worth until the room is used up."""

    def __init__(self, view: View, *, max_bytes: int) -> None:
        self._view = view
        self.room = max_bytes  # the bytes that are left
        self._lines: dict[str, dict[str, str]] = {}  # type -> member -> its line

    def holds(self, type_name: str) -> bool:
        """Return whether a type has been added, with or without members."""
        return type_name in self._lines

    def add(self, type_name: str, member: str, *, whole: bool = False, described: bool = False) -> bool:
        """Add a member of a visible type. ``whole``: with all its arguments. False if it does not fit."""
        if member not in self._view.members.get(type_name, ()):
            return True
        lines = self._lines.get(type_name, {})
        if member in lines and not whole:
            return True
        line = self._line(type_name, member, whole=whole, described=described)
        if not self._take(type_name, len(line.encode()) + 1 - len(lines.get(member, "").encode())):
            return False
        self._lines[type_name][member] = line
        return True

    def _take(self, type_name: str, size: int = 0) -> bool:
        """Take the room for a line of a type, and for the type itself if it is new. False if there is not so much."""
        cost = size + (0 if type_name in self._lines else len(self._head(type_name)) + MORE_BYTES)
        if cost > self.room:
            return False
        self.room -= cost
        self._lines.setdefault(type_name, {})
        return True

    def fill(self, type_name: str, *, room: int) -> bool:
        """Add the members of a type, those without further selections first, in at most ``room`` bytes.

        True if all members fit.
        """
        if type_name in BUILT_IN_SCALARS or type_name not in self._view.members:
            return True
        reserve = max(self.room - room, 0)
        self.room -= reserve
        fits = self._take(type_name) and all(self.add(type_name, member) for member in self._by_worth(type_name))
        self.room += reserve
        return fits

    def text(self) -> str:
        """Return the SDL."""
        return "\n\n".join(self._definition(name, lines) for name, lines in self._lines.items())

    def _by_worth(self, name: str) -> list[str]:
        members = self._view.members[name]
        if self._view.index.kind(name) == "input":
            return sorted(members, key=lambda member: not self._view.input_field(name, member).required)
        if self._view.index.kind(name) not in ("object", "interface"):
            return list(members)
        fields = self._view.index[name].fields
        return sorted(members, key=lambda member: not is_leaf(self._view, fields[member].type))

    def _line(self, type_name: str, member: str, *, whole: bool, described: bool) -> str:
        entry = self._view.index[type_name]
        match entry.kind:
            case "object" | "interface":
                field, arguments = entry.fields[member], self._view.arguments(type_name, member)
                parts = [_input(name, value) for name, value in arguments.items() if whole or value.required]
                parts += ["…"] if len(parts) < len(arguments) else []
                signature = f"{member}({', '.join(parts)})" if arguments else member
                line = f"  {signature}: {field.type}{_deprecated(field.directives)}"
                description = field.description
            case "input":
                value = self._view.input_field(type_name, member)
                line, description = f"  {_input(member, value)}", value.description
            case "enum":
                description, directives = entry.values[member]
                line = f"  {member}{_deprecated(directives)}"
            case _:
                return member
        head = f'  "{sentence}"\n' if described and (sentence := first_sentence(description)) else ""
        return head + line

    def _head(self, name: str) -> str:
        return f"{keyword_of(self._view.index.kind(name))} {name}{self._related(name)} {{\n}}\n"

    def _related(self, name: str) -> str:
        """Return the interfaces of a type. An interface has its implementers, which fragments name, as a comment."""
        view = self._view
        above = [each for each in view.index.interfaces(name) if each in view.members]
        implements = f" implements {' & '.join(above)}" if above else ""
        if view.index.kind(name) != "interface":
            return implements
        below = [each for each in view.index.implementers.get(name, ()) if each in view.members]
        more = f" and {len(below) - MAX_IMPLEMENTERS} more" if len(below) > MAX_IMPLEMENTERS else ""
        return f"{implements} {{  # of {', '.join(below[:MAX_IMPLEMENTERS])}{more}" if below else implements

    def _definition(self, name: str, lines: Mapping[str, str]) -> str:
        kind, members = self._view.index.kind(name), self._view.members[name]
        if kind == "scalar":
            return f"scalar {name}"
        parts = [lines[member] for member in members if member in lines]
        more = [f"# and {len(members) - len(parts)} more"] if len(parts) < len(members) else []
        if kind == "union":
            return f"union {name} = {' | '.join(parts + more)}"
        body = "\n".join([*parts, *(f"  {each}" for each in more)])
        related = self._related(name)
        opening = "" if "{" in related else " {"
        return f"{keyword_of(kind)} {name}{related}{opening}\n{body}\n}}"


def first_sentence(printed: str) -> str:
    """Return the beginning of a printed description on one line, in characters that do not end a string."""
    text = " ".join(printed.strip('"').split()).replace("\\", "").replace('"', "'")
    sentence = text.partition(". ")[0].removesuffix(".")
    return sentence if len(sentence) <= MAX_DOC_CHARS else sentence[: MAX_DOC_CHARS - 1] + "…"


def members_named(coordinates: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the type and the member of each coordinate. The member is empty for a type; directives are left out."""
    for coordinate in coordinates:
        type_name, _, member = coordinate.partition(".")
        if not coordinate.startswith("@"):
            yield type_name, member.partition("(")[0]


def _input(name: str, value: InputValue) -> str:
    default = f" = {value.default}" if value.default else ""
    return f"{name}: {value.type}{default}{_deprecated(value.directives)}"


def _deprecated(directives: str) -> str:
    return " @deprecated" if "@deprecated" in directives else ""


def taken_types(view: View, path: Sequence[str]) -> list[str]:
    """Return the input types that the arguments of a path's steps take, those of required arguments first."""
    values = [
        value
        for type_name, member in members_named(path)
        if member in view.members.get(type_name, ()) and view.index.kind(type_name) in ("object", "interface")
        for value in view.arguments(type_name, member).values()
    ]
    ordered = sorted(values, key=lambda value: not value.required)
    return [name for value in ordered if (name := named_type(value.type)) not in BUILT_IN_SCALARS]
