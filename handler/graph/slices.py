"""Slices of a view's SDL for a model: what a search found, and what coordinates name, in a bounded number of bytes.

A field that nobody asked for is shown with its required arguments only; ``…`` stands for the others. Each type says how
many of its members are left out. graphql-core is not loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from handler.graph.index_types import InputValue, named
from handler.graph.view import BUILT_IN_SCALARS, View

KEYWORDS: Mapping[str, str] = {
    "object": "type",
    "interface": "interface",
    "union": "union",
    "enum": "enum",
    "input": "input",
    "scalar": "scalar",
}

MORE_BYTES = 24
"""Room for the comment on left out members of a type."""

MAX_DOC_CHARS = 120
"""Length of a description in a slice, of which the first sentence is shown."""

MAX_IMPLEMENTERS = 12
"""Implementers of an interface that are named."""

WRAPPER_MEMBERS = 6
"""A type with no more members leads to what it wraps: a page of a list, an edge, the payload of a mutation."""


class Slice:
    """Parts of a view, added in the order of their worth until the room is used up."""

    def __init__(self, view: View, *, max_bytes: int) -> None:
        self._view = view
        self._room = max_bytes
        self._lines: dict[str, dict[str, str]] = {}  # type -> member -> its line

    @property
    def room(self) -> int:
        """The bytes that are left."""
        return self._room

    def holds(self, type_name: str) -> bool:
        """Tell if a type has been added, with or without members."""
        return type_name in self._lines

    def add(self, type_name: str, member: str, *, whole: bool = False, described: bool = False) -> bool:
        """Add a member of a visible type. ``whole``: with all its arguments. False if it does not fit."""
        if member not in self._view.members.get(type_name, ()):
            return True
        lines = self._lines.get(type_name, {})
        if member in lines and not whole:
            return True
        line = self._line(type_name, member, whole=whole, described=described)
        cost = len(line.encode()) + 1 - len(lines.get(member, "").encode())
        cost += 0 if type_name in self._lines else len(self._head(type_name)) + MORE_BYTES
        if cost > self._room:
            return False
        self._room -= cost
        self._lines.setdefault(type_name, {})[member] = line
        return True

    def open(self, type_name: str) -> bool:
        """Add a type without its members. False if it does not fit."""
        if type_name not in self._view.members or type_name in BUILT_IN_SCALARS or type_name in self._lines:
            return True
        cost = len(self._head(type_name)) + MORE_BYTES
        if cost > self._room:
            return False
        self._room -= cost
        self._lines[type_name] = {}
        return True

    def fill(self, type_name: str, *, room: int) -> bool:
        """Add the members of a type, those without further selections first, in at most ``room`` bytes.

        True if all members fit.
        """
        if type_name in BUILT_IN_SCALARS or type_name not in self._view.members:
            return True
        kept = max(self._room - room, 0)
        self._room -= kept
        done = self.open(type_name) and all(self.add(type_name, member) for member in self._by_worth(type_name))
        self._room += kept
        return done

    def text(self) -> str:
        """Return the SDL."""
        return "\n\n".join(self._definition(name, lines) for name, lines in self._lines.items())

    def _by_worth(self, name: str) -> list[str]:
        members = self._view.members[name]
        if self._view.index.kind(name) == "input":
            inputs = self._view.index[name].inputs
            return sorted(members, key=lambda member: not inputs[member].required)
        if self._view.index.kind(name) not in ("object", "interface"):
            return list(members)
        fields = self._view.index[name].fields
        return sorted(members, key=lambda member: not is_leaf(self._view, fields[member].type))

    def _line(self, type_name: str, member: str, *, whole: bool, described: bool) -> str:
        entry = self._view.index[type_name]
        match entry.kind:
            case "object" | "interface":
                field = entry.fields[member]
                arguments = _arguments(self._view.arguments(type_name, member), whole=whole)
                line = f"  {member}{arguments}: {field.type}{_deprecated(field.directives)}"
                description = field.description
            case "input":
                line, description = f"  {_input(member, entry.inputs[member])}", entry.inputs[member].description
            case "enum":
                description, directives = entry.values[member]
                line = f"  {member}{_deprecated(directives)}"
            case _:
                return member
        told = f'  "{sentence}"\n' if described and (sentence := first_sentence(description)) else ""
        return told + line

    def _head(self, name: str) -> str:
        return f"{KEYWORDS[self._view.index.kind(name)]} {name}{self._related(name)} {{\n}}\n"

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
        shown = [lines[member] for member in members if member in lines]
        more = f"and {len(members) - len(shown)} more" if len(shown) < len(members) else ""
        if kind == "union":
            return f"union {name} = {' | '.join([*shown, *([f'# {more}'] if more else [])])}"
        body = "\n".join([*shown, *([f"  # {more}"] if more else [])])
        related = self._related(name)
        opening = "" if "{" in related else " {"
        return f"{KEYWORDS[kind]} {name}{related}{opening}\n{body}\n}}"


def is_leaf(view: View, type_text: str) -> bool:
    """Tell if a field of this type takes no selection."""
    return view.index.kind(named(type_text)) in ("scalar", "enum")


def first_sentence(printed: str) -> str:
    """Return the beginning of a printed description on one line, without what would end a string of SDL."""
    text = " ".join(printed.strip('"').split()).replace("\\", "").replace('"', "'")
    sentence = text.partition(". ")[0].removesuffix(".")
    return sentence if len(sentence) <= MAX_DOC_CHARS else sentence[: MAX_DOC_CHARS - 1] + "…"


def members_named(coordinates: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the type and the member of each coordinate. The member is empty for a type; directives are left out."""
    for coordinate in coordinates:
        type_name, _, member = coordinate.partition(".")
        if not coordinate.startswith("@"):
            yield type_name, member.partition("(")[0]


def _arguments(arguments: Mapping[str, InputValue], *, whole: bool) -> str:
    shown = [_input(name, value) for name, value in arguments.items() if whole or value.required]
    left_out = ["…"] if len(shown) < len(arguments) else []
    return f"({', '.join([*shown, *left_out])})" if arguments else ""


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
    return [name for value in ordered if (name := named(value.type)) not in BUILT_IN_SCALARS]
