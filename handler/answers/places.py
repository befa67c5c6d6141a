"""The places at which an answer was cut, and the place at which a continued call begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from handler.answers.plan import Argument, Member, Members
from handler.cold.records import record
from handler.strict_json import JSONObject

Path = tuple[str | int, ...]
"""Response keys and places in lists, below ``data``."""

ITEMS = "items"
CHARACTERS = "characters"


@record(frozen=True, slots=True)
class Spot:
    """The place of an object, in the answer that is returned and in the API's.

    ``at`` and ``from_`` follow behind each of the object's keys: the places of a row in its lists.
    """

    path: Path = ()
    origin: Path = ()
    at: Path = ()
    from_: Path = ()

    def to(self, key: str | int) -> Spot:
        """Return the place of a member or an item."""
        return Spot((*self.path, key, *self.at), (*self.origin, key, *self.from_))

    def item(self, at: int, from_: int) -> Spot:
        """Return the place of a row of lists in this object, as an object with an item for each list."""
        return Spot(self.path, self.origin, (*self.at, at), (*self.from_, from_))

    @property
    def nested(self) -> bool:
        """True if the place is inside a list."""
        return any(isinstance(part, int) for part in (*self.origin, *self.from_))


@record(frozen=True, slots=True, kw_only=True)
class CutPlace:
    """A list, or a string, of which a part was dropped.

    ``origin`` is the path in the API's answer, and ``path`` in the answer that is returned. They differ where a list
    does not begin with the API's first item. ``before`` counts the items that an earlier answer had.
    """

    path: Path
    origin: Path
    kept: int
    dropped: int
    of: str = ITEMS
    before: int = 0
    backward: bool = False  # the last items are kept
    keys: tuple[str, ...] = ()  # of the lists that have an item for each row: edges and nodes
    cursor: Any = None  # of the kept row at the cut; ``None`` if the answer has none
    paging: Mapping[str, Argument]
    pages: bool = False  # the answer, or an argument, leads to other pages
    rows: tuple[Any, ...] = ()  # some of the API's items, for the sizes of their fields
    plan: Member | None = None  # of a list of ``rows``

    @property
    def seen(self) -> int:
        """The number of items that the model has after this answer: the offset from which to go on."""
        return self.before + self.kept

    def lost(self, path: Any) -> bool:
        """Return whether the path of an error leads into a dropped item."""
        length = len(self.origin)
        if not self.keys or not isinstance(path, list) or len(path) <= length:
            return False
        row = path[length]
        inside = tuple(path[: length - 1]) == self.origin[:-1] and path[length - 1] in self.keys
        is_lost = type(row) is int and (row < self.dropped if self.backward else row >= self.seen)
        return inside and is_lost

    @property
    def nested(self) -> bool:
        """True if the place is inside a list, so that its paging arguments are those of its siblings, too."""
        return any(isinstance(part, int) for part in self.origin)


@record(frozen=True, slots=True, kw_only=True)
class Start:
    """The place at which a call begins: the list at ``path`` below ``data``, in the API's answer.

    ``offset`` counts the rows of the list that earlier answers had, from its end if ``backward``.
    """

    path: Path
    offset: int
    backward: bool = False

    @property
    def shown_path(self) -> Path:
        """The path of the list in the answer that is returned: a list around it has one item."""
        return tuple(0 if isinstance(part, int) else part for part in self.path)

    def rest_of(self, data: JSONObject, members: Members) -> JSONObject:
        """Return the data with the further rows of the list.

        Lists around it have the one item that leads to it. Other lists are empty: their rows are in earlier answers,
        or have cursors of their own. The given data is not changed.
        """
        return self._object(data, members, self.path)

    def placed(self, place: CutPlace) -> CutPlace:
        """Return a place of the rest as a place of the API's answer."""
        length = len(self.path)
        origin = tuple(
            self.path[number] if number < length and isinstance(part, int) else part
            for number, part in enumerate(place.origin)
        )
        if place.origin == self.shown_path:
            return replace(place, origin=origin, before=self.offset)
        if len(origin) > length and not self.backward:
            row = origin[length]
            if isinstance(row, int):
                origin = (*origin[:length], row + self.offset, *origin[length + 1 :])
        return replace(place, origin=origin)

    def is_stuck(self, places: Iterable[CutPlace]) -> bool:
        """Return whether an answer has no further row of the list, so that its cursor would be the earlier one."""
        return any(place.origin == self.path and not place.kept for place in places)

    def _object(self, value: Mapping[str, Any], members: Members, path: Path) -> JSONObject:
        key, *inner = path
        rows = members.rows if key in members.rows else (key,)
        rest = dict(value)
        for name, member in members.of(value).items():
            if name not in rest:
                continue
            if name == key or (name in rows and not inner):
                rest[name] = self._value(rest[name], member, tuple(inner))
            elif name in rows and isinstance(inner[0], int) and isinstance(rest[name], list):
                rest[name] = [emptied(each, member.item) for each in _one(rest[name], inner[0])]
            else:
                rest[name] = emptied(rest[name], member)
        return rest

    def _value(self, value: Any, member: Member, path: Path) -> Any:
        if isinstance(value, list):
            if path:
                return [self._value(each, member.item, path[1:]) for each in _one(value, path[0])]
            return value[: max(0, len(value) - self.offset)] if self.backward else value[self.offset :]
        if isinstance(value, dict) and member.below and path:
            return self._object(value, member.below, path)
        return value


def emptied(value: Any, member: Member) -> Any:
    """Return a value without the rows of its lists. A custom scalar is one value, also if it is a JSON list."""
    if isinstance(value, list) and (member.depth or member.any):
        return []
    if isinstance(value, dict) and member.below:
        fields = member.below.of(value)
        return {key: emptied(each, fields[key]) if key in fields else each for key, each in value.items()}
    return value


def _one(items: Any, number: Any) -> list[Any]:
    """Return the item of a number as a list; an empty list if there is none."""
    return items[number : number + 1] if isinstance(items, list) and isinstance(number, int) else []
