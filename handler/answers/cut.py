"""Cut a value to a size by its plan: the longest lists first, whole items from the end, then long plain strings.

Each list that is not inside another list gets an equal share of the room, and what a shorter list does not need goes to
the longer ones. A list is inspected only as far as its share. Its first item is itself cut if it alone exceeds the
share; a later one only if no item is lost by that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from handler.answers.outline import CutForm, Outline, Unit
from handler.answers.places import CutPlace, Spot
from handler.answers.plan import Members
from handler.answers.sizes import exceeds, size_of
from handler.answers.units import CuttableRows, Kept
from handler.cold.records import record
from handler.strict_json import JSONObject

NOTE_BYTES = 100
"""The least room for the note of one cut list or string."""

SLACK = 20
"""A row is kept in part if it would leave more than this part of its list's share empty."""

LEAST_PART_BYTES = 256
"""The least room for a part of a row. Rows in parts of rows would otherwise double with each level."""

FEW_ROWS = 20
"""From so many kept rows on, one more or less is at most the twentieth part."""

MOST_TRIED = 4
"""Lists that are tried as the first."""

TOP = Spot()


@record(frozen=True, slots=True, kw_only=True)
class Cut:
    """A value that fits, and what is kept in it; the size is nearly that of its JSON."""

    value: JSONObject
    kept: Kept

    @property
    def places(self) -> tuple[CutPlace, ...]:
        """The places that were cut."""
        return self.kept.places


def cut(value: JSONObject, members: Members, *, room: int, way: CutForm, spot: Spot = TOP) -> Cut | None:
    """Return the value cut to ``room`` bytes; ``None`` if it cannot be cut to that size."""
    outline = Outline(way, room=room)
    kept = outline.of_object(value, members, {}, spot)
    if exceeds(kept, room):
        return None
    left = room - size_of(kept)
    if way.size and len(outline.units) == 1 and isinstance(outline.units[0], CuttableRows):
        outline.units[0].know(way.size - (room - left))
    parts = _share(outline.units, left, way) if left >= 0 else None
    if parts is None:
        return None
    notes = NOTE_BYTES * sum(unit.divisible and not unit.whole for unit in outline.units)
    whole = Kept(
        size=room - left + notes + sum(each.size for each in parts),
        rows=sum(each.rows for each in parts),
        emptied=sum(each.emptied for each in parts),
        places=tuple(place for each in parts for place in each.places),
    )
    return Cut(value=kept, kept=whole)


def _share(units: Sequence[Unit], room: int, way: CutForm) -> list[Kept] | None:
    """Put into the outline: units that need no more than an equal share whole, and the others cut to theirs."""
    waiting = list(units)
    fitting: list[Unit] = waiting
    while waiting and fitting:
        share = room // len(waiting)
        for unit in waiting:
            unit.grow(share)
        fitting = [unit for unit in waiting if unit.whole]
        room -= sum(unit.used for unit in fitting)
        waiting = [unit for unit in waiting if not unit.whole]
    room -= NOTE_BYTES * sum(unit.divisible for unit in waiting)
    if room < 0:
        return None
    parts = {unit: kept for unit in units if unit not in waiting and (kept := unit.keep())}
    cut_to = _allotted(waiting, room, way)
    return None if cut_to is None else [parts.get(unit) or cut_to[unit] for unit in units]


def _allotted(units: Sequence[Unit], room: int, way: CutForm) -> dict[Unit, Kept] | None:
    """Cut each unit to an equal share of the room. Few rows fill it badly: then each unit is tried as the first."""
    parts = _in_turn(units, room, way, equal=True)
    if way.inner or not 1 < len(units) <= MOST_TRIED:
        return parts
    if parts and sum(each.rows for each in parts.values()) >= FEW_ROWS:
        return parts
    best, order = _worth(parts), units
    for first in units:
        others = [first, *(unit for unit in units if unit is not first)]
        tried = _in_turn(others, room, way, equal=False)
        if tried and best < _worth(tried) and _size(tried) <= room:
            best, order = _worth(tried), others
    return _in_turn(order, room, way, equal=order is units)


def _in_turn(units: Sequence[Unit], room: int, way: CutForm, *, equal: bool) -> dict[Unit, Kept] | None:
    parts: dict[Unit, Kept] = {}
    for number, unit in enumerate(units):
        part = _part(unit, room // (len(units) - number) if equal else room, way)
        if part is None:
            return None
        room -= part.size
        parts[unit] = part
    for unit in units[:-1] if equal and not way.inner else ():  # what the last ones left
        more = _part(unit, parts[unit].size + room, way) or parts[unit]
        room -= more.size - parts[unit].size
        parts[unit] = more
    return parts


def _worth(parts: Mapping[Unit, Kept] | None) -> tuple[float, int]:
    """Return the rank of a cut: a list that lost all its items is worse than many bytes less; no cut is the worst."""
    return (-sum(each.emptied for each in parts.values()), _size(parts)) if parts else (-math.inf, 0)


def _size(parts: Mapping[Unit, Kept]) -> int:
    return sum(each.size for each in parts.values())


def _part(unit: Unit, share: int, way: CutForm) -> Kept | None:
    unit.grow(share)
    if not isinstance(unit, CuttableRows) or unit.whole:
        return unit.keep()
    left = share - unit.used
    if left >= LEAST_PART_BYTES and (unit.kept == 0 or (left * SLACK > share and _may_part(unit, way))):
        inner = way.inside(strings=unit.kept == 0)
        row = cut(unit.next_row(), unit.row_plan, room=left, way=inner, spot=unit.spot_of_next)
        if row is not None:
            return unit.keep(row.value, within=row.kept)
    return unit.keep()


def _may_part(unit: CuttableRows, way: CutForm) -> bool:
    """Tell if a row in part loses nothing: its list cannot be paged, or each cut list can be continued."""
    return unit.holds_objects and (way.continues or not unit.can_page)
