"""Cut a value to a size by its plan: the longest lists first, whole items from the end, then long plain strings.

The outline of a value is all that is kept in any case. Each list that is not inside another list gets an equal share of
the room, and what a shorter list does not need goes to the longer ones. A list is inspected only as far as its share.
Its first item is itself cut if it alone exceeds the share; a later one only if no item is lost by that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from handler.answers.places import CHARACTERS, CutPlace, Spot
from handler.answers.plan import Argument, Member, Members
from handler.cold.records import record
from handler.strict_json import JSONObject, to_well_formed_json

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


MIN_STRING_CHARS = 200
"""Shorter strings are never cut."""


@record(frozen=True, slots=True, kw_only=True)
class CutForm:
    """How a value is cut. ``continues``: each list can be continued, whether or not its API can do that."""

    variables: Mapping[str, Any]
    strings: bool = False
    continues: bool = False
    size: int = 0  # of the whole answer, if it is known
    inner: bool = False  # in a row, where a second try would double the work with each level

    def inside(self, *, strings: bool) -> CutForm:
        """Return the way for a row that is kept in part; its strings are cut only if they are everywhere."""
        return replace(self, strings=self.strings and strings, size=0, inner=True)


class Outline:
    """Makes an outline, and gathers its units. ``room`` is that of the whole value."""

    def __init__(self, way: CutForm, *, room: int) -> None:
        self.units: list[Unit] = []
        self._way = way
        self._room = room

    def of_object(
        self,
        value: JSONObject,
        members: Members,
        paging: Mapping[str, Argument],
        spot: Spot,
        ends: PageEnds | None = None,
    ) -> JSONObject:
        """Return a copy of an object without its units.

        ``paging`` has the arguments of the field that returns it, and ``ends`` those of an object around it that has
        no lists of its own.
        """
        kept = dict(value)
        taken = set[str]()
        groups = [*_groups(kept, members, paging or (ends.paging if ends else {}))]
        own = PageEnds(kept, members, paging)
        ends = own if own.marks else ends
        for keys, arguments in groups:
            paged = Paging(
                arguments=arguments,
                backward=_is_backward(arguments, self._way.variables),
                continues=self._way.continues,
                ends=ends if keys[0] in members.rows or not members.rows else None,
            )
            if self._cut_rows(kept, keys, members, paged, spot):
                taken.update(keys)
        for key, member in members.of(value).items():
            if key not in taken and key in kept:
                self._put(kept, key, member, spot.to(key), None if groups else ends)
        return kept

    def _put(self, holder: Any, key: str | int, member: Member, spot: Spot, ends: PageEnds | None = None) -> None:
        each = holder[key]
        plain = member.any or not member.depth
        if type(each) is dict and member.below and plain:
            holder[key] = self.of_object(each, member.below, member.paging, spot, ends)
        elif type(each) is list and (member.any or member.depth) and (member.below or self._way.strings):
            holder[key] = self._of_list(each, member.item, spot)
        elif type(each) is str and member.string and plain and self._way.strings and len(each) >= MIN_STRING_CHARS:
            self.units.append(CuttableText(each, holder, key, spot))

    def _of_list(self, items: list[Any], item: Member, spot: Spot) -> list[Any]:
        """Return the outline of a list that stays whole."""
        found = [*items]
        if 2 * len(items) <= self._room:  # else it does not fit in any case
            for number in range(len(items)):
                self._put(found, number, item, spot.to(number))
        return found

    def _cut_rows(self, kept: JSONObject, keys: tuple[str, ...], members: Members, paging: Paging, spot: Spot) -> bool:
        """Take the rows of lists out of an object, if they may be cut. Tell if nothing is left to do about them."""
        lists = {key: kept[key] for key in keys}
        if not self._may_cut(kept, keys, members, paging):
            kept.update(lists)
            return False
        self.units.append(CuttableRows(lists, kept, spot, members=members, paging=paging))
        return True

    def _may_cut(self, kept: JSONObject, keys: tuple[str, ...], members: Members, paging: Paging) -> bool:
        """Return whether lists may be cut: nothing beside them would still name the end of the whole list."""
        if len({len(kept[key]) for key in keys}) != 1 or not kept[keys[0]]:
            return False
        if paging.may_hide_end:
            return True
        has_cursors = any(below and below.cursors for key in keys for below in [members.of(kept)[key].below])
        return has_cursors and not (paging.ends and any(mark.field == TOKEN for mark in paging.ends.marks))


def _groups(
    value: Mapping[str, Any], members: Members, paging: Mapping[str, Argument]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Argument]]]:
    """Yield the lists of an object, those of one connection together, with the arguments that page them."""
    lists = [key for key, member in members.of(value).items() if _is_list(value.get(key), member)]
    rows = tuple(key for key in lists if key in members.rows)
    others = [key for key in lists if key not in members.rows]
    objects = [key for key in others if members.of(value)[key].below]
    if rows:
        yield rows, paging
    alone = [] if rows else objects or others
    for key in others:
        own = members.of(value)[key].paging
        yield (key,), own or (paging if alone == [key] else {})


def _is_list(value: Any, member: Member) -> bool:
    return type(value) is list and bool(member.any or member.depth)


def _is_backward(arguments: Mapping[str, Argument], variables: Mapping[str, Any]) -> bool:
    """Tell if a request asks for the end of a list. Source: GraphQL Cursor Connections, "Pagination algorithm"."""
    given = {role for role, each in arguments.items() if each.value_in(variables) is not None}
    return "last" in given and "first" not in given


ELLIPSIS = "…"
"""The end of a string that was cut."""

MIN_STRING_BYTES = 40

TOKEN = ""
"""Stands for the field of a PageInfo, if a token beside a list names the list's end."""


class _Mark(NamedTuple):
    """A field that a cut changes: its object's key in the holder (empty: the holder), its own key, and its value."""

    key: str
    name: str
    field: str  # of a PageInfo, or TOKEN
    value: Any
    nullable: bool


class PageEnds:
    """The fields that name the ends of an object's lists: tokens, and those of a PageInfo.

    Lists that share these fields may be cut in any order, and again.
    """

    def __init__(self, holder: JSONObject, members: Members, paging: Mapping[str, Argument]) -> None:
        self.paging = paging
        self._holder = holder
        self._cuts: dict[object, CutPlace] = {}
        plans = [("", members), *((key, members.fields[key].below) for key in members.page_info)]
        self.marks = [
            _Mark(key, name, field, self._inside(key)[name], name in plan.nullable)
            for key, plan in plans
            if plan
            for name, field in {**dict.fromkeys(plan.tokens, TOKEN), **plan.info}.items()
            if name in self._inside(key)
        ]

    def naming(self, *, backward: bool) -> list[_Mark]:
        """Return the fields for the end of the lists, or with ``backward`` for their start; null names none."""
        return [mark for mark in self.marks if mark.field in (TOKEN, "startCursor" if backward else "endCursor")]

    def show(self, rows: object, place: CutPlace) -> None:
        """Name the last kept row of a list, or null if the row has no cursor."""
        self._cuts.pop(rows, None)
        if place.dropped:
            self._cuts[rows] = place
        for mark in self.marks:
            value = mark.value
            if value is None:
                continue
            for each in self._cuts.values():
                if mark.field == TOKEN:
                    value = None
                elif mark.field.startswith(("start", "hasPrevious")) == each.backward:
                    value = each.cursor if mark.field.endswith("Cursor") else True
            self._inside(mark.key)[mark.name] = value

    def _inside(self, key: str) -> JSONObject:
        inside = self._holder.get(key) if key else self._holder
        return inside if isinstance(inside, dict) else {}


@record(frozen=True, slots=True, kw_only=True)
class Kept:
    """The kept part of a unit. ``rows`` counts rows, ``emptied`` lists that lost all of theirs."""

    size: int
    rows: int = 0
    emptied: int = 0
    places: tuple[CutPlace, ...] = ()


class CuttableText:
    """A long plain string. ``holder`` gets what is kept of it."""

    divisible = True

    def __init__(self, text: str, holder: Any, key: str | int, spot: Spot) -> None:
        self._text = text
        self._holder = holder
        self._key = key
        self._spot = spot
        self._room = 0
        self.used = 0
        self.whole = False
        holder[key] = ""

    def grow(self, room: int) -> None:
        """Measure the string as far as ``room``."""
        self._room = room
        if not self.used and len(self._text) <= room:
            self.used = size_of(self._text) - 2
        self.whole = 0 < self.used <= room

    def keep(self) -> Kept | None:
        """Put the kept part in its place; ``None`` if there is no room for one."""
        if self.whole:
            self._holder[self._key] = self._text
            return Kept(size=self.used)
        if self._room < MIN_STRING_BYTES:
            return None
        room = self._room - size_of(ELLIPSIS)
        kept, end = 0, min(room, len(self._text))
        while kept < end:
            middle = (kept + end + 1) // 2
            if size_of(self._text[:middle]) <= room:
                kept = middle
            else:
                end = middle - 1
        self._holder[self._key] = self._text[:kept] + ELLIPSIS
        place = CutPlace(
            path=self._spot.path,
            origin=self._spot.origin,
            kept=kept,
            dropped=len(self._text) - kept,
            of=CHARACTERS,
            paging={},
        )
        return Kept(size=self._room, places=(place,))


class CuttableRows:
    """The rows of a list, or those of a connection: an edge and a node each. ``holder`` gets those that are kept."""

    def __init__(
        self, lists: Mapping[str, list[Any]], holder: JSONObject, spot: Spot, *, members: Members, paging: Paging
    ) -> None:
        self._lists = lists
        self._holder = holder
        self._spot = spot
        self._members = members
        self._items = {key: members.of(holder)[key].item for key in lists}
        self._paging = paging
        self._measured = Measured([*lists.values()], backward=paging.backward)
        for key in lists:
            holder[key] = []

    @property
    def whole(self) -> bool:
        """True if all rows fit."""
        return self._measured.whole

    @property
    def divisible(self) -> bool:
        """True if it can lose rows without losing all."""
        return self._measured.length > 1

    @property
    def used(self) -> int:
        """The bytes of the measured rows."""
        return self._measured.used

    @property
    def kept(self) -> int:
        """The number of measured rows."""
        return self._measured.kept

    @property
    def holds_objects(self) -> bool:
        """True if the items are objects."""
        return any(each.below for each in self._items.values())

    @property
    def can_page(self) -> bool:
        """True if arguments of the API go on behind any row."""
        return bool(self._paging.arguments.keys() & {"after", "before", "offset", "page"}) and not self._spot.nested

    @property
    def row_plan(self) -> Members:
        """The plan of ``next_row``."""
        return Members(fields=self._items)

    def next_row(self) -> JSONObject:
        """Return the first row that is not measured: an item for each list."""
        return {key: self._row(each)[0] for key, each in self._lists.items()}

    @property
    def spot_of_next(self) -> Spot:
        """The place of ``next_row``."""
        total, kept = self._measured.length, self.kept
        if self._paging.backward:
            return self._spot.item(0, total - kept - 1)
        return self._spot.item(kept, kept)

    def know(self, size: int) -> None:
        """Learn the size that the answer has more with the lists than without."""
        self._measured.total = size + len(self._lists)

    def grow(self, room: int) -> None:
        """Measure rows as far as ``room``."""
        if self._measured.used > room:
            self._measured.restart()
        self._measured.grow(room)

    def keep(self, part: JSONObject | None = None, *, within: Kept | None = None) -> Kept | None:
        """Put the kept rows in their places, with ``part`` of the next row; ``None`` if that would not be truthful."""
        kept, needs_cursor = self.kept, not (self.whole or self._paging.may_hide_end)
        if part is not None and needs_cursor and self._cursor(kept) is None:
            part = within = None
        while part is None and kept and needs_cursor and self._cursor(kept - 1) is None:
            kept -= 1
        taken = kept + (part is not None)
        if not taken and needs_cursor:
            return None
        for key, items in self._lists.items():
            rows = self._measured.rows_of(items, 0, kept)
            extra = [] if part is None else [part[key]]
            self._holder[key] = [*extra, *rows] if self._paging.backward else [*rows, *extra]
        place = self._place(taken)
        if self._paging.ends:
            self._paging.ends.show(self, place)
        inside = within or Kept(size=0)
        return Kept(
            size=self.used + inside.size,
            rows=taken + inside.rows,
            emptied=inside.emptied + (not taken),
            places=(*([place] if place.dropped else []), *inside.places),
        )

    def _place(self, taken: int) -> CutPlace:
        key = next(iter(self._lists))
        spot = self._spot.to(key)
        return CutPlace(
            path=spot.path,
            origin=spot.origin,
            kept=taken,
            dropped=self._measured.length - taken,
            backward=self._paging.backward,
            keys=tuple(self._lists),
            cursor=self._cursor(taken - 1) if taken else None,
            paging=self._paging.arguments,
            pages="page" in self._paging.arguments or bool(self._paging.naming),
            rows=tuple(self._lists[key][:SAMPLE]),
            plan=self._members.of(self._holder)[key],
        )

    def _cursor(self, row: int) -> Any:
        """Return the cursor of a row; ``None`` if the answer has none."""
        for key, items in self._lists.items():
            item, plan = self._measured.rows_of(items, row, row + 1)[0], self._items[key]
            names = plan.below.cursors if plan.below else ()
            found = next((item.get(name) for name in names if isinstance(item, dict)), None)
            if isinstance(found, str | int):
                return found
        return None

    def _row(self, items: Sequence[Any]) -> Sequence[Any]:
        return self._measured.rows_of(items, self.kept, self.kept + 1)


SAMPLE = 10
"""Items whose fields are measured, to name the largest."""


@record(frozen=True, slots=True, kw_only=True)
class Paging:
    """How a list of one answer is paged."""

    arguments: Mapping[str, Argument]
    backward: bool = False
    continues: bool = False
    ends: PageEnds | None = None  # ``None``: nothing that names an end is about the list

    @property
    def naming(self) -> list[_Mark]:
        """The fields that name the end of the list."""
        return self.ends.naming(backward=self.backward) if self.ends else []

    @property
    def may_hide_end(self) -> bool:
        """True if nothing names the end of the list, or null can stand there and the list can be continued."""
        naming = [mark for mark in self.naming if mark.value is not None]
        return not naming or (self.continues and all(mark.nullable for mark in naming))


FEW = 4
"""Items of which one may be so large that they are counted before they are encoded."""


def size_of(value: Any) -> int:
    """Return the size of a value's JSON in bytes."""
    return len(to_well_formed_json(value))


def exceeds(value: Any, limit: int) -> bool:
    """Tell if a value's JSON is surely longer than ``limit``, after a look at so much of it."""
    waiting = [value]
    while waiting and limit >= 0:
        each = waiting.pop()
        limit -= 1
        if type(each) is str:
            limit -= len(each)
        elif type(each) is dict:
            limit -= sum(map(len, each)) + 3 * len(each)
            if limit >= 0:
                waiting += each.values()
        elif type(each) is list:
            limit -= len(each)
            if limit >= 0:
                waiting += each
    return limit < 0


class Measured:
    """The first rows of parallel lists, or the last if ``backward``, measured as far as asked.

    A row is one item of each list. Its size includes a comma for each of its items.
    """

    def __init__(self, lists: Sequence[Sequence[Any]], *, backward: bool = False) -> None:
        self._lists = lists
        self._backward = backward
        self.length = len(lists[0])
        self.kept = 0
        self.used = 0
        self.total = 0  # the size of all rows; 0: unknown

    def restart(self) -> None:
        """Forget what was measured."""
        self.kept = self.used = 0

    @property
    def whole(self) -> bool:
        """True if all rows are measured."""
        return self.kept == self.length

    def grow(self, room: int) -> None:
        """Take as many further rows as fit into ``room`` together with those before."""
        if not self.kept and room < self.total < 2 * room:
            self._shrink(room)
        step, look = 1, True
        while not self.whole and self.used < room:
            step = min(step, self.length - self.kept)
            size = self._size_of_next(step, limit=room - self.used, look=look)
            if size > room - self.used:
                if step == 1:
                    return
                step, look = max(1, min(step // 2, step * (room - self.used) // size)), True
                continue
            self.kept += step
            self.used += size
            # Rows are of similar sizes, mostly. The next ones are taken by the mean so far, twice as many at most.
            step, look = max(1, min(2 * self.kept, self.kept * (room - self.used) // self.used)), look and step < FEW

    def _shrink(self, room: int) -> None:
        """Take all rows but the last ones, which are fewer than those that fit."""
        self.kept, self.used = self.length, self.total
        while self.kept and self.used > room:
            step = min(self.kept, 1 + self.kept * (self.used - room) // self.used)
            self.used -= sum(size_of(self.rows_of(each, self.kept - step, self.kept)) - 1 for each in self._lists)
            self.kept -= step

    def _size_of_next(self, count: int, *, limit: int, look: bool) -> int:
        """Return the size of the next rows, or with a first ``look`` a size above ``limit``."""
        parts = [self.rows_of(each, self.kept, self.kept + count) for each in self._lists]
        if look and any(exceeds(part, limit) for part in parts):
            return 2 * limit + 2
        return sum(size_of(part) - 1 for part in parts)

    def rows_of(self, items: Sequence[Any], start: int, end: int) -> Sequence[Any]:
        """Return the items of the rows from ``start`` up to ``end``, counted from the side that is kept."""
        return items[len(items) - end : len(items) - start] if self._backward else items[start:end]


Unit = CuttableRows | CuttableText
