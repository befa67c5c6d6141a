"""The views of many classes of callers at once: each coordinate with the classes that do not see it.

The rules are those of ``handler/graph/view.py``, which builds the view of one caller. Here sets of classes are integers
with a bit for each, so that thousands of views cost little more than one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from handler.graph.index import SchemaIndex
from handler.graph.index_types import named


def views_of(index: SchemaIndex, hidden: Mapping[str, int], everybody: int) -> dict[str, int]:
    """Return visible coordinate -> the classes that see it. ``hidden`` has those that may not use a coordinate."""
    gone = _Lost(index, everybody).with_all(hidden)
    return dict(_visible(index, gone, everybody))


class _Lost:
    """The classes for which each coordinate is removed, with all that each removal removes."""

    def __init__(self, index: SchemaIndex, everybody: int) -> None:
        self._index = index
        self._everybody = everybody
        self._gone: defaultdict[str, int] = defaultdict(int)
        self._waiting: list[tuple[str, int]] = []
        self._named_by: dict[str, dict[str, list[str]]] = {}
        self._members: dict[str, frozenset[str]] = {}

    def with_all(self, hidden: Mapping[str, int]) -> Mapping[str, int]:
        """Return the removed coordinates, those that name an absent type included."""
        self._waiting = [each for each in hidden.items() if each[1]]
        self._waiting += [(each, self._everybody) for name in self._index.missing for each in self._users(name)]
        while self._waiting:
            coordinate, bits = self._waiting.pop()
            fresh = bits & ~self._gone[coordinate]
            known = coordinate.startswith("@") or coordinate.partition(".")[0] in self._index
            if fresh and known:
                self._gone[coordinate] |= fresh
                self._waiting += self._taken_along(coordinate, fresh)
        return self._gone

    def _taken_along(self, coordinate: str, bits: int) -> Iterator[tuple[str, int]]:
        owner, _, rest = coordinate.partition(".")
        member, _, argument = rest.removesuffix(":)").partition("(")
        if coordinate.startswith("@"):
            name, _, of_directive = coordinate.removeprefix("@").removesuffix(":)").partition("(")
            known = self._index.directives.get(name)
            if known and of_directive in known.arguments and known.arguments[of_directive].required:
                yield f"@{name}", bits
        elif not member:
            yield from ((f"{owner}.{each}", bits) for each in self._index.members(owner))
            yield from ((each, bits) for each in self._users(owner))
        elif member in self._members_of(owner):
            yield from (
                self._of_argument(owner, member, argument, bits) if argument else self._of_member(owner, member, bits)
            )

    def _of_argument(self, owner: str, member: str, argument: str, bits: int) -> Iterator[tuple[str, int]]:
        known = self._index[owner].fields[member].arguments.get(argument)
        if known and known.required:
            yield f"{owner}.{member}", bits
        yield from ((f"{each}({argument}:)", bits) for each in self._on_interfaces(owner, member))

    def _of_member(self, owner: str, member: str, bits: int) -> Iterator[tuple[str, int]]:
        yield from ((each, bits) for each in self._on_interfaces(owner, member))
        if self._index.kind(owner) == "input" and self._index[owner].inputs[member].required:
            yield owner, bits
            return
        left = bits
        for each in self._members_of(owner):
            left &= self._gone.get(f"{owner}.{each}", 0)
            if not left:
                return
        yield owner, left

    def _on_interfaces(self, owner: str, member: str) -> list[str]:
        above = [name for name in self._index.interfaces(owner) if name in self._index]
        return [f"{name}.{member}" for name in above if member in self._members_of(name)]

    def _members_of(self, name: str) -> frozenset[str]:
        found = self._members.get(name)
        if found is None:
            found = self._members[name] = frozenset(self._index.members(name))
        return found

    def _users(self, name: str) -> list[str]:
        of_directives = [
            f"@{directive}({argument}:)"
            for directive, known in self._index.directives.items()
            for argument, value in known.arguments.items()
            if named(value.type) == name
        ]
        users = self._index.users.get(name, ())
        return [*of_directives, *(each for user in users for each in self._naming(user).get(name, ()))]

    def _naming(self, user: str) -> Mapping[str, list[str]]:
        found = self._named_by.get(user)
        if found is None:
            found = self._named_by[user] = {}
            for member, argument, type_ in self._index.references(user):
                found.setdefault(type_, []).append(_coordinate(user, member, argument))
        return found


def _coordinate(owner: str, member: str, argument: str) -> str:
    return f"{owner}.{member}({argument}:)" if argument else f"{owner}.{member}"


def _visible(index: SchemaIndex, gone: Mapping[str, int], everybody: int) -> Iterator[tuple[str, int]]:
    found = _reached(index, gone, everybody)
    for name in index:
        if found.get(name, 0):
            yield name, found[name]
            yield from _visible_parts(index, gone, name, found[name])
    rooted = 0
    for root in index.roots.values():
        rooted |= found.get(root, 0)
    for name, directive in index.directives.items():
        bits = rooted & ~gone.get(f"@{name}", 0)
        if bits:
            yield f"@{name}", bits
            arguments = {f"@{name}({each}:)" for each in directive.arguments}
            yield from ((each, bits & ~gone.get(each, 0)) for each in arguments if bits & ~gone.get(each, 0))


def _visible_parts(index: SchemaIndex, gone: Mapping[str, int], name: str, bits: int) -> Iterator[tuple[str, int]]:
    of_members = {member: bits & ~gone.get(f"{name}.{member}", 0) for member in index.members(name)}
    yield from ((f"{name}.{member}", seen) for member, seen in of_members.items() if seen)
    for member, argument, _ in index.references(name):
        seen = of_members[member] & ~gone.get(f"{name}.{member}({argument}:)", 0) if argument else 0
        if seen:
            yield f"{name}.{member}({argument}:)", seen


def _reached(index: SchemaIndex, gone: Mapping[str, int], everybody: int) -> Mapping[str, int]:
    """Return type -> the classes that a request can lead to it."""
    found: defaultdict[str, int] = defaultdict(int)
    opened: defaultdict[str, int] = defaultdict(int)
    waiting: list[tuple[str, int, bool]] = [(name, everybody, True) for name in index.roots.values()]
    waiting += [(name, bits, False) for name, bits in _taken_by_directives(index, gone, everybody)]
    while waiting:
        name, bits, returned = waiting.pop()
        if name not in index:
            continue
        bits &= ~gone.get(name, 0)
        if returned and name in index.implementers:
            opening = bits & ~opened[name]
            opened[name] |= opening
            if opening:
                waiting += [(each, opening, True) for each in index.implementers[name]]
        fresh = bits & ~found[name]
        if fresh:
            found[name] |= fresh
            waiting += [(each, fresh, False) for each in index.interfaces(name)]
            for member, argument, target in index.references(name):
                seen = fresh & ~gone.get(f"{name}.{member}", 0)
                if argument and seen:
                    seen &= ~gone.get(f"{name}.{member}({argument}:)", 0)
                if seen & ~found[target] or (target in index.implementers and seen & ~opened[target]):
                    waiting.append((target, seen, True))
    return found


def _taken_by_directives(index: SchemaIndex, gone: Mapping[str, int], everybody: int) -> Iterator[tuple[str, int]]:
    rooted = 0
    for root in index.roots.values():
        rooted |= everybody & ~gone.get(root, 0) if root in index else 0
    for name, directive in index.directives.items():
        for argument, value in directive.arguments.items():
            bits = rooted & ~gone.get(f"@{name}", 0) & ~gone.get(f"@{name}({argument}:)", 0)
            if bits:
                yield named(value.type), bits
