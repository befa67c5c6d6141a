"""The neighbourhood of a coordinate: the ways from the root types to its type, the type, and the types next to it.

All parts are bounded, so that a picture of them can be read for five types and for two thousand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from handler.commands.explaining.standings import CoordinateStanding, CoordinateStandings
from handler.graph.index import SchemaIndex
from handler.text.sentences import counted

MAX_USERS = 6
"""Types from which a field leads to the asked type, each with a way from a root type."""

MAX_DETOUR = 2
"""Steps by which a way may be longer than the first one: a long way makes a wide picture."""

MAX_ROWS = 24
"""Members of the asked type."""

MAX_ARGUMENTS = 8
"""Arguments of the asked field."""

MAX_TARGETS = 14
"""Types next to the asked type."""

MAX_WAYS = 3
"""Members of a type on the way that lead to one further type."""

FEW_TARGETS = 4
"""Types next to the asked type up to which each shows members, too."""

MAX_TARGET_ROWS = 6

Step = tuple[str, str, str]
"""A member, its argument or the empty string, and the type that it leads to. An empty member is a fragment."""

MEMBERS = {"enum": "value", "union": "member", "input": "input field"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of a box: a member of a type. ``target``: the box that the member leads to, if there is one."""

    coordinate: str
    text: str
    standing: CoordinateStanding
    target: str = ""
    asked: bool = False


@dataclass(slots=True, kw_only=True)
class Box:
    """A type, with its column from the left. ``more``: words for members and types that are not shown."""

    name: str
    kind: str
    standing: CoordinateStanding
    column: int
    rows: list[Row] = field(default_factory=list)
    more: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """Boxes in the order of reading, and words for types that are not shown, by column."""

    coordinate: str
    boxes: list[Box]
    more: dict[int, str]


def find_neighbourhood(index: SchemaIndex, coordinate: str, standings: CoordinateStandings) -> Neighbourhood:
    """Return the neighbourhood of a coordinate that the index has."""
    return _Neighbours(index, coordinate, standings).found()


class _Neighbours:
    def __init__(self, index: SchemaIndex, coordinate: str, standings: CoordinateStandings) -> None:
        self._index = index
        self._coordinate = coordinate
        self._standings = standings
        self._owner = coordinate.partition("(")[0].partition(".")[0]
        self._boxes: dict[str, Box] = {}
        self._more: dict[int, str] = {}
        self._reached: dict[str, str] = {}  # the types that the caller reaches, each with the one before it

    def found(self) -> Neighbourhood:
        self._add_ways()
        centre = self._add_asked()
        self._add_targets(centre)
        for box in list(self._boxes.values()):
            if not box.asked and box.column < centre.column:
                self._add_steps(box, last=centre.column)
        return Neighbourhood(coordinate=self._coordinate, boxes=list(self._boxes.values()), more=self._more)

    def _steps(self, name: str) -> Iterator[Step]:
        """Yield the members and arguments of a type, then the types for fragments."""
        if name not in self._index:
            return
        yield from self._index.references(name)
        yield from (("", "", each) for each in self._index.implementers.get(name, ()))

    def _name_of(self, owner: str, step: Step) -> str:
        """Return the coordinate of a step: of the type if the step is a fragment."""
        member, argument, target = step
        if not member or self._index.kind(owner) == "union":
            return target
        return f"{owner}.{member}" + (f"({argument}:)" if argument else "")

    def _is_open(self, owner: str, step: Step) -> bool:
        return self._standings.is_reached(self._name_of(owner, step)) and self._standings.is_reached(step[2])

    def _tree(self, *, reached: bool) -> dict[str, str]:
        """Return each type with the type before it on a shortest way from a root. ``reached``: for the caller."""
        roots = [each for each in self._index.roots.values() if each in self._index]
        found = {each: "" for each in roots if not reached or self._standings.is_reached(each)}
        waiting = deque(found)
        while waiting:
            owner = waiting.popleft()
            for step in self._steps(owner):
                target = step[2]
                if target not in found and target in self._index and (not reached or self._is_open(owner, step)):
                    found[target] = owner
                    if target != self._owner:
                        waiting.append(target)
        return found

    def _add_ways(self) -> None:
        """Add the types that lead to the asked type, those that the caller reaches first, each with its way."""
        if self._owner in self._index.roots.values() or self._owner not in self._index:
            return
        reached, whole = self._tree(reached=True), self._tree(reached=False)
        self._reached = reached
        users = {
            user: any(self._is_open(user, step) for step in self._steps(user) if step[2] == self._owner)
            for user in self._users()
            if user != self._owner and user in whole
        }
        ways = {user: _way(user, reached if user in reached and is_open else whole) for user, is_open in users.items()}
        order = sorted(ways, key=lambda user: (not (users[user] and user in reached), len(ways[user])))
        near = [user for user in order if len(ways[user]) <= len(ways[order[0]]) + MAX_DETOUR]
        shown = near[:MAX_USERS]
        for user in shown:
            for column, name in enumerate(ways[user]):
                self._add(name, column)
        if len(order) > len(shown):
            last = max(box.column for box in self._boxes.values())
            self._more[last] = f"and {counted(len(order) - len(shown), 'more type')} before {self._owner}"

    def _users(self) -> Iterator[str]:
        yield from self._index.users.get(self._owner, ())
        yield from (each for each in self._index.interfaces(self._owner) if each in self._index)

    def _add(self, name: str, column: int) -> Box:
        box = self._boxes.get(name)
        if box is None:
            kind = next((kind for kind, root in self._index.roots.items() if root == name), self._kind(name))
            box = self._boxes[name] = Box(name=name, kind=kind, standing=self._standings.of(name), column=column)
        box.column = max(box.column, column)
        return box

    def _kind(self, name: str) -> str:
        return "directive" if name.startswith("@") else self._index.kind(name)

    def _add_asked(self) -> Box:
        column = max((box.column for box in self._boxes.values()), default=-1) + 1
        box = self._add(self._owner, column)
        box.asked = True
        rows = self._rows_of_asked()
        asked = [each for each in rows if each.asked]
        first = [*asked, *(each for each in rows if not each.asked)]
        box.rows = first[: max(MAX_ROWS, len(asked))]
        left = len(first) - len(box.rows)
        box.more = f"and {_counted(left, box.kind, 'more ')}" if left else ""
        return box

    def _rows_of_asked(self) -> list[Row]:
        if self._owner.startswith("@"):
            return self._rows_of_directive()
        member = self._coordinate.partition("(")[0].partition(".")[2]
        rows: list[Row] = []
        for row in self._rows(self._owner):
            is_asked = bool(member) and row.coordinate == f"{self._owner}.{member}"
            rows.append(_asked(row) if is_asked else row)
            if is_asked and self._index.kind(self._owner) in ("object", "interface"):
                rows += self._arguments(member)
        return rows

    def _rows(self, owner: str) -> Iterator[Row]:
        """Yield the members of a type."""
        kind, slice_ = self._index.kind(owner), self._index[owner]
        values = slice_.inputs if kind == "input" else slice_.fields
        targets = {member: target for member, argument, target in self._steps(owner) if member and not argument}
        for member in self._index.members(owner):
            coordinate = member if kind == "union" else f"{owner}.{member}"
            text = f"{member}: {values[member].type}" if member in values else member
            target = targets.get(member, "")
            yield self._row(coordinate, f"... on {member}" if kind == "union" else text, target)
        if kind == "interface":
            for each in self._index.implementers.get(owner, ()):
                yield self._row(each, f"... on {each}", each)

    def _row(self, coordinate: str, text: str, target: str) -> Row:
        known = target if target in self._index and self._index.kind(target) != "scalar" else ""
        return Row(coordinate=coordinate, text=text, standing=self._standings.of(coordinate), target=known)

    def _arguments(self, member: str) -> list[Row]:
        """Return the rows of the asked field's arguments, the asked argument first."""
        arguments = self._index[self._owner].fields[member].arguments
        wanted = self._coordinate.removesuffix(":)").partition("(")[2]
        targets = {(name, argument): target for name, argument, target in self._steps(self._owner)}
        names = sorted(arguments, key=lambda each: each != wanted)
        rows = [
            self._row(f"{self._owner}.{member}({each}:)", f"  {each}: {arguments[each].type}", targets[member, each])
            for each in names[:MAX_ARGUMENTS]
        ]
        return [_asked(each) for each in rows]

    def _rows_of_directive(self) -> list[Row]:
        arguments = self._index.directives[self._owner.removeprefix("@")].arguments
        rows = (
            self._row(f"{self._owner}({name}:)", f"{name}: {value.type}", value.type.strip("[]!"))
            for name, value in arguments.items()
        )
        return [_asked(each) if each.coordinate == self._coordinate else each for each in rows]

    def _add_targets(self, centre: Box) -> None:
        """Add the types that the shown members of the asked type lead to."""
        targets = dict.fromkeys(row.target for row in centre.rows if row.target)
        new = [each for each in targets if each not in self._boxes]
        shown = new[:MAX_TARGETS]
        for name in shown:
            box = self._add(name, centre.column + 1)
            rows = list(islice(self._rows(name), MAX_TARGET_ROWS)) if len(new) <= FEW_TARGETS else []
            box.rows = [Row(coordinate=each.coordinate, text=each.text, standing=each.standing) for each in rows]
            left = len(self._index.members(name)) - len(rows)
            words = f"and {_counted(left, box.kind, 'more ')}" if rows else _counted(left, box.kind)
            box.more = words if left > 0 else ""
        steps = self._steps(self._owner) if self._owner in self._index else ()
        others = {
            each[2] for each in steps if each[1] == "" and each[2] in self._index and self._kind(each[2]) != "scalar"
        }
        left = len(others - self._boxes.keys() - set(shown))
        if left:
            self._more[centre.column + 1] = f"and {counted(left, 'more type')}"

    def _add_steps(self, box: Box, *, last: int) -> None:
        """Add the members of a type on the way that lead to types right of it."""
        right = {name for name, each in self._boxes.items() if box.column < each.column <= last}
        steps = [step for step in self._steps(box.name) if step[2] in right]
        steps.sort(key=lambda step: not self._is_open(box.name, step))
        for target in dict.fromkeys(step[2] for step in steps):
            ways = [step for step in steps if step[2] == target]
            for step in ways[:MAX_WAYS]:
                box.rows.append(self._row_of_step(box.name, step))
        members = {row.coordinate.partition("(")[0] for row in box.rows}
        left = len(self._index.members(box.name)) - len(members)
        box.more = f"and {_counted(left, box.kind, 'more ')}" if left > 0 else ""

    def _row_of_step(self, owner: str, step: Step) -> Row:
        member, argument, target = step
        if not member or self._index.kind(owner) == "union":
            row = self._row(target, f"... on {target}", target)
            return row if owner in self._reached else replace(row, standing=self._unreached(owner, row.standing))
        text = f"{member}({argument}:)" if argument else f"{member}: {self._type_of(owner, member)}"
        return self._row(self._name_of(owner, step), text, target)

    def _unreached(self, owner: str, standing: CoordinateStanding) -> CoordinateStanding:
        """Return the standing of a fragment on a type that the caller does not reach, or reaches by name alone."""
        own = self._standings.of(owner)
        return next((each for each in (own, standing) if each.standing == "ruled"), CoordinateStanding("unasked"))

    def _type_of(self, owner: str, member: str) -> str:
        slice_ = self._index[owner]
        return (slice_.inputs if slice_.kind == "input" else slice_.fields)[member].type


def _counted(count: int, kind: str, more: str = "") -> str:
    """Return a number of members of a kind of type in words."""
    return counted(count, f"{more}{MEMBERS.get(kind, 'field')}")


def _asked(row: Row) -> Row:
    return replace(row, asked=True)


def _way(name: str, tree: dict[str, str]) -> list[str]:
    """Return the types from a root to a type."""
    way = [name]
    while tree[way[0]]:
        way.insert(0, tree[way[0]])
    return way
