"""The part of an answer with which a continued call begins: the rows of one list, and the objects around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from handler.answers.places import CutPlace, Path
from handler.answers.plan import Member, Members
from handler.cold.records import record
from handler.strict_json import JSONObject


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
        """Tell if an answer has no further row of the list, so that its cursor would be the one that was given."""
        return any(place.origin == self.path and not place.kept for place in places)

    def _object(self, value: Mapping[str, Any], members: Members, path: Path) -> JSONObject:
        key, *inner = path
        rows = members.rows if key in members.rows else (key,)
        kept = dict(value)
        for name, member in members.of(value).items():
            if name not in kept:
                continue
            if name == key or (name in rows and not inner):
                kept[name] = self._value(kept[name], member, tuple(inner))
            elif name in rows and isinstance(inner[0], int) and isinstance(kept[name], list):
                kept[name] = [emptied(each, member.item) for each in _one(kept[name], inner[0])]
            else:
                kept[name] = emptied(kept[name], member)
        return kept

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
