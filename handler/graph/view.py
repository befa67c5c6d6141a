"""A view: the part of a schema that one caller may use through one tool. Pure data, no graphql-core.

The input is hidden coordinates; the compiler has already added those that hiding one hides with it (interfaces,
inputs). This module removes the rest: a type without visible members, every field that needs a removed type, the
interface fields that a removed field implements, and finally everything that the root types do not reach.

The rules stand once, in ``Removals`` and ``leads``. ``build_view`` adds them up for one caller, as sets, and
``views_of`` of ``handler/audience/ways.py`` for many callers, as integers with a bit for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import replace

from handler.cold.records import record
from handler.graph.index import Directive, InputValue, Lazy, SchemaIndex, named_type
from handler.policy.evaluation import DEFAULT

BUILT_IN_SCALARS = frozenset({"Int", "Float", "String", "Boolean", "ID"})


@record(frozen=True, slots=True)
class View:
    """Visible types in the index's order, each with its visible members (fields, inputs, values or union members)."""

    index: SchemaIndex
    members: Mapping[str, tuple[str, ...]]
    gone: Set[str]  # coordinates that are not visible, including those of arguments and defaults

    def arguments(self, type_name: str, field_name: str) -> Mapping[str, InputValue]:
        """Return the visible arguments of a visible field."""
        return self._visible(self.index[type_name].fields[field_name].arguments, f"{type_name}.{field_name}")

    def input_field(self, type_name: str, member: str) -> InputValue:
        """Return a visible field of an input object."""
        return self._without_gone_default(self.index[type_name].inputs[member], f"{type_name}.{member}")

    def is_leaf(self, type_text: str) -> bool:
        """Return whether a field of this type takes no selection."""
        return self.index.kind(named_type(type_text)) in ("scalar", "enum")

    def directives(self) -> dict[str, Directive]:
        """Return the visible directives that a request may carry, each with its visible arguments."""
        if not self.root_fields():
            return {}
        return {
            name: replace(directive, arguments=self._visible(directive.arguments, f"@{name}"))
            for name, directive in self.index.directives.items()
            if f"@{name}" not in self.gone
        }

    def _visible(self, arguments: Mapping[str, InputValue], owner: str) -> dict[str, InputValue]:
        return {
            name: self._without_gone_default(value, f"{owner}({name}:)")
            for name, value in arguments.items()
            if f"{owner}({name}:)" not in self.gone
        }

    def _without_gone_default(self, value: InputValue, coordinate: str) -> InputValue:
        """Return an input as a request has to give it: the API applies a default that the view does not have."""
        if f"{coordinate}{DEFAULT}" not in self.gone:
            return value
        return replace(value, type=f"{value.type.removesuffix('!')}!", default="")

    def root_fields(self) -> dict[str, tuple[str, ...]]:
        """Return operation kind -> visible fields of its root type."""
        return {kind: self.members[name] for kind, name in self.index.roots.items() if name in self.members}


def build_view(index: SchemaIndex, hidden: Collection[str]) -> View:
    """Reduce ``index`` to its visible and reachable parts. ``hidden`` are schema coordinates.

    Few coordinates are hidden, so only their consequences are followed; the rest is walked once.
    """
    gone = _gone(index, hidden)
    reachable = _reachable(index, gone)

    def members(name: str) -> tuple[str, ...]:
        return tuple(member for member in index.members(name) if f"{name}.{member}" not in gone)

    return View(index, Lazy({name: None for name in index if name in reachable}, members), gone)


class Removals:
    """The rules of removal: the coordinates that go with another. A union's members are coordinates, too."""

    def __init__(self, index: SchemaIndex) -> None:
        self._index = index
        self._members: dict[str, frozenset[str]] = {}  # of the types that lose members
        self._named_by: dict[str, dict[str, list[str]]] = {}  # a type -> the types that it names -> coordinates

    def knows(self, coordinate: str) -> bool:
        """True if a coordinate is a directive's, or that of a type that the schema has."""
        return coordinate.startswith("@") or coordinate.partition(".")[0] in self._index

    def at_start(self) -> list[str]:
        """Return the coordinates that name an absent type."""
        return [coordinate for name in self._index.missing for coordinate in self._users(name)]

    def of(self, coordinate: str) -> list[str]:
        """Return the coordinates that go whenever one goes.

        With its last member goes a type, too: see ``owner``. An argument goes with those of the same field on the
        type's interfaces, because selecting a field on an interface selects it on the implementers.
        """
        if coordinate.startswith("@"):
            name, _, argument = coordinate.removeprefix("@").removesuffix(":)").partition("(")
            directive = self._index.directives.get(name)
            value = directive.arguments.get(argument) if directive else None
            return [f"@{name}"] if value and value.required else []
        type_name, _, rest = coordinate.partition(".")
        member, _, argument = rest.partition("(")
        if not member:
            return [*(f"{type_name}.{each}" for each in self._index.members(type_name)), *self._users(type_name)]
        if member not in self.members(type_name):
            return []
        above = [name for name in self._index.interfaces(type_name) if name in self._index]
        others = [f"{name}.{rest}" for name in above if member in self.members(name)]
        if argument:
            value = self._index[type_name].fields[member].arguments.get(argument.removesuffix(":)"))
            return [*others, f"{type_name}.{member}"] if value and value.required else others
        required = self._index.kind(type_name) == "input" and self._index[type_name].inputs[member].required
        return [*others, type_name] if required else others

    def owner(self, coordinate: str) -> str:
        """Return the type that goes when all of its members are gone, for one of them; else the empty string."""
        type_name, _, member = coordinate.partition(".")
        return type_name if member and "(" not in member and member in self.members(type_name) else ""

    def members(self, type_name: str) -> frozenset[str]:
        """Return the members of a type."""
        if type_name not in self._members:
            self._members[type_name] = frozenset(self._index.members(type_name))
        return self._members[type_name]

    def _users(self, name: str) -> list[str]:
        """Return the coordinates that name a type."""
        coordinates = [path[-1] for type_, path in taken_by_directives(self._index) if type_ == name]
        for user in self._index.users.get(name, ()):
            if user not in self._named_by:
                by_type = self._named_by[user] = {}
                for type_, path in leads(self._index, user):
                    by_type.setdefault(type_, []).append(path[-1])
            coordinates += self._named_by[user].get(name, ())
        return coordinates


def leads(index: SchemaIndex, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the types that a type's members and arguments name, each with the coordinates that lead there."""
    for member, argument, type_ in index.references(name):
        field = f"{name}.{member}"
        yield type_, (field, f"{field}({argument}:)") if argument else (field,)


def taken_by_directives(index: SchemaIndex) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the types that directives take, each with the coordinates that lead there."""
    for name, directive in index.directives.items():
        for argument, value in directive.arguments.items():
            yield named_type(value.type), (f"@{name}", f"@{name}({argument}:)")


def _gone(index: SchemaIndex, hidden: Collection[str]) -> Set[str]:
    """Return the hidden coordinates and those that name an absent type, with all that they remove."""
    removals, gone, lost = Removals(index), set[str](), Counter[str]()
    waiting = [*hidden, *removals.at_start()]
    while waiting:
        coordinate = waiting.pop()
        if coordinate in gone or not removals.knows(coordinate):
            continue
        gone.add(coordinate)
        waiting += removals.of(coordinate)
        if owner := removals.owner(coordinate):
            lost[owner] += 1  # each member comes here once
            if lost[owner] == len(removals.members(owner)):
                waiting.append(owner)
    return gone


def _reachable(index: SchemaIndex, gone: Set[str]) -> set[str]:
    """Return the types that a request can reach from the root types.

    An interface that a field returns brings its implementers. An interface that only implementing types name brings
    none, because nothing returns it. The types that directives take are reached if a request can carry a directive.
    """
    reached: set[str] = set()
    opened: set[str] = set()
    there = set(index) - gone
    cut = {coordinate.partition(".")[0] for coordinate in gone}
    returned, met = set(index.roots.values()), set[str]()
    if not there.isdisjoint(returned):
        met.update(type_ for type_, path in taken_by_directives(index) if gone.isdisjoint(path))
    while returned or met:
        fresh = ((returned | met) & there) - reached
        opening = (returned & there & index.implementers.keys()) - opened
        reached |= fresh
        opened |= opening
        returned = set().union(*map(index.targets, fresh - cut), *(index.implementers[name] for name in opening))
        met = set().union(*map(index.interfaces, fresh))
        for name in fresh & cut:  # the lines of other types do not have to be read
            returned.update(type_ for type_, path in leads(index, name) if gone.isdisjoint(path))
    return reached
