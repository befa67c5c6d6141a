"""A view: the part of a schema that one caller may use through one tool. Pure data, no graphql-core.

The input is hidden coordinates; the compiler has already added those that hiding one hides with it (interfaces,
inputs). This module removes the rest: a type without visible members, every field that needs a removed type, the
interface fields that a removed field implements, and finally everything that the root types do not reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from handler.graph.index import SchemaIndex
from handler.graph.index_types import Directive, InputValue, named
from handler.records import record

BUILT_IN_SCALARS = frozenset({"Int", "Float", "String", "Boolean", "ID"})


@record(frozen=True, slots=True)
class View:
    """Visible types in the index's order, each with its visible members (fields, inputs, values or union members)."""

    index: SchemaIndex
    members: Mapping[str, tuple[str, ...]]
    gone: Set[str]  # coordinates that are not visible, including those of arguments

    def arguments(self, type_name: str, field_name: str) -> Mapping[str, InputValue]:
        """Return the visible arguments of a visible field."""
        arguments = self.index[type_name].fields[field_name].arguments
        return {
            name: argument
            for name, argument in arguments.items()
            if f"{type_name}.{field_name}({name}:)" not in self.gone
        }

    def directives(self) -> dict[str, Directive]:
        """Return the visible directives that a request may carry, each with its visible arguments."""
        return _visible_directives(self.index, self.gone) if self.root_fields() else {}

    def root_fields(self) -> dict[str, tuple[str, ...]]:
        """Return operation kind -> visible fields of its root type."""
        return {kind: self.members[name] for kind, name in self.index.roots.items() if name in self.members}


def build_view(index: SchemaIndex, hidden: Collection[str]) -> View:
    """Reduce ``index`` to its visible and reachable parts. ``hidden`` are schema coordinates.

    Few coordinates are hidden, so only their consequences are followed; the rest is walked once.
    """
    gone = _Gone(index).with_all(hidden)
    reachable = _reachable(index, gone)
    return View(index, _Members(index, {name: None for name in index if name in reachable}, gone), gone)


class _Members(Mapping[str, tuple[str, ...]]):
    """The visible members of visible types, computed at their first use: a request touches few types of many."""

    def __init__(self, index: SchemaIndex, visible: Mapping[str, None], gone: Set[str]) -> None:
        self._index = index
        self._visible = visible
        self._gone = gone
        self._known: dict[str, tuple[str, ...]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._visible)

    def __len__(self) -> int:
        return len(self._visible)

    def __contains__(self, name: object) -> bool:
        return name in self._visible

    def __getitem__(self, name: str) -> tuple[str, ...]:
        known = self._known.get(name)
        if known is None:
            if name not in self._visible:
                raise KeyError(name)
            known = self._known[name] = _left(self._index, name, self._gone)
        return known


def _left(index: SchemaIndex, name: str, gone: Set[str]) -> tuple[str, ...]:
    return tuple(member for member in index.members(name) if f"{name}.{member}" not in gone)


class _Gone:
    """The removed coordinates, with all that each removes. A union's members are written as coordinates, too."""

    def __init__(self, index: SchemaIndex) -> None:
        self._index = index
        self._gone: set[str] = set()
        self._waiting: list[str] = []
        self._members: dict[str, frozenset[str]] = {}  # of the types that lose members
        self._lost: Counter[str] = Counter()  # type -> number of lost members
        self._named_by: dict[str, dict[str, list[str]]] = {}

    def with_all(self, hidden: Collection[str]) -> Set[str]:
        """Return the hidden coordinates and those that name an absent type, with all that they remove."""
        self._waiting = [*hidden, *(coordinate for name in self._index.missing for coordinate in self._users(name))]
        while self._waiting:
            coordinate = self._waiting.pop()
            known = coordinate.startswith("@") or coordinate.partition(".")[0] in self._index
            if known and coordinate not in self._gone:
                self._gone.add(coordinate)
                self._take_along(coordinate)
        return self._gone

    def _users(self, name: str) -> list[str]:
        """Return the coordinates that name a type."""
        users = self._index.users.get(name, ())
        of_directives = (place for place, type_ in _arguments_of_directives(self._index) if type_ == name)
        return [*of_directives, *(each for user in users for each in self._naming(user).get(name, ()))]

    def _naming(self, user: str) -> Mapping[str, Sequence[str]]:
        """Return the coordinates of one type by the type that they name."""
        found = self._named_by.get(user)
        if found is None:
            found = self._named_by[user] = {}
            for member, argument, type_ in self._index.references(user):
                found.setdefault(type_, []).append(f"{user}.{member}" + (f"({argument}:)" if argument else ""))
        return found

    def _take_along(self, coordinate: str) -> None:
        type_name, _, rest = coordinate.partition(".")
        member, _, argument = rest.partition("(")
        if coordinate.startswith("@"):
            self._take_along_directive(coordinate)
        elif not member:
            self._waiting += [f"{type_name}.{each}" for each in self._index.members(type_name)]
            self._waiting += self._users(type_name)
        elif member not in self._members_of(type_name):
            return
        elif argument:
            self._take_along_argument(type_name, member, argument.removesuffix(":)"))
        else:
            self._take_along_member(type_name, member)

    def _take_along_directive(self, coordinate: str) -> None:
        """Remove the directive of a required argument."""
        name, _, argument = coordinate.removeprefix("@").removesuffix(":)").partition("(")
        directive = self._index.directives.get(name)
        if directive and argument in directive.arguments and directive.arguments[argument].required:
            self._waiting.append(f"@{name}")

    def _take_along_argument(self, type_name: str, field_name: str, name: str) -> None:
        """Remove the field of a required argument, and the argument of the same field on the type's interfaces.

        Selecting a field on an interface selects it on the implementers.
        """
        argument = self._index[type_name].fields[field_name].arguments.get(name)
        if argument and argument.required:
            self._waiting.append(f"{type_name}.{field_name}")
        self._waiting += self._on_interfaces(type_name, field_name, f"({name}:)")

    def _take_along_member(self, type_name: str, name: str) -> None:
        self._waiting += self._on_interfaces(type_name, name)
        required = self._index.kind(type_name) == "input" and self._index[type_name].inputs[name].required
        self._lost[type_name] += 1  # each member comes here once
        if required or self._lost[type_name] == len(self._members_of(type_name)):
            self._waiting.append(type_name)

    def _members_of(self, type_name: str) -> frozenset[str]:
        found = self._members.get(type_name)
        if found is None:
            found = self._members[type_name] = frozenset(self._index.members(type_name))
        return found

    def _on_interfaces(self, type_name: str, field_name: str, argument: str = "") -> list[str]:
        interfaces = [name for name in self._index.interfaces(type_name) if name in self._index]
        return [f"{name}.{field_name}{argument}" for name in interfaces if field_name in self._members_of(name)]


def _reachable(index: SchemaIndex, gone: Set[str]) -> set[str]:
    """Return the types that a request can reach from the root types.

    An interface that a field returns brings its implementers. An interface that only implementing types name brings
    none, because nothing returns it.
    """
    found: set[str] = set()
    opened: set[str] = set()
    cut = {coordinate.partition(".")[0] for coordinate in gone}
    returned, met = set(index.roots.values()), _types_of_directives(index, gone)
    while returned or met:
        there = {name for name in returned | met if name in index and name not in gone}
        fresh, opening = there - found, (there & returned & index.implementers.keys()) - opened
        found |= fresh
        opened |= opening
        returned, met = set(), set()
        for name in fresh:
            returned.update(_visible_targets(index, name, gone) if name in cut else index.targets(name))
            met.update(index.interfaces(name))
        for name in opening:
            returned.update(index.implementers[name])
    return found


def _types_of_directives(index: SchemaIndex, gone: Set[str]) -> set[str]:
    """Return the types that visible directives take; none if no request can carry a directive."""
    if not any(root in index and root not in gone for root in index.roots.values()):
        return set()
    visible = _visible_directives(index, gone).values()
    return {named(argument.type) for directive in visible for argument in directive.arguments.values()}


def _visible_directives(index: SchemaIndex, gone: Set[str]) -> dict[str, Directive]:
    return {
        name: replace(
            directive,
            arguments={
                argument: value
                for argument, value in directive.arguments.items()
                if f"@{name}({argument}:)" not in gone
            },
        )
        for name, directive in index.directives.items()
        if f"@{name}" not in gone
    }


def _arguments_of_directives(index: SchemaIndex) -> Iterator[tuple[str, str]]:
    """Yield the coordinate of each argument of a directive, and the type that it names."""
    for name, directive in index.directives.items():
        yield from ((f"@{name}({each}:)", named(value.type)) for each, value in directive.arguments.items())


def _visible_targets(index: SchemaIndex, name: str, gone: Set[str]) -> set[str]:
    return {
        type_
        for member, argument, type_ in index.references(name)
        if f"{name}.{member}" not in gone and (not argument or f"{name}.{member}({argument}:)" not in gone)
    }
