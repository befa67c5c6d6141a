"""Cut a value to a size by its plan: the longest lists first, whole items from the end, then long plain strings.

The outline of a value is the part that is kept in any case. Each list that is not inside another list gets an equal
share of the room, and the bytes that a shorter list does not need go to the longer ones. A list is inspected only as
far as its share. Its first item is itself cut if it alone exceeds the share; a later one only if no item is lost by
that.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from handler.answers.plan import CHARACTERS, Argument, CutPlace, Member, Members, Spot, with_outer
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


@record(frozen=True, slots=True, kw_only=True)
class CutForm:
    """How a value is cut. ``continues``: each list can be continued, whether or not its API can do that."""

    variables: Mapping[str, Any]
    strings: bool = False
    continues: bool = False
    size: int = 0  # of the whole answer, if it is known
    inner: bool = False  # in a row, where a second try would double the work with each level


@record(frozen=True, slots=True, kw_only=True)
class Kept:
    """The kept part of a unit, or of all. ``rows`` counts rows, ``emptied`` lists that lost all of theirs."""

    size: int  # nearly that of the JSON
    rows: int = 0
    emptied: int = 0
    places: tuple[CutPlace, ...] = ()


def cut(
    value: JSONObject, members: Members, *, room: int, form: CutForm, spot: Spot | None = None
) -> tuple[JSONObject, Kept] | None:
    """Return the value cut to ``room`` bytes, and the kept part; ``None`` if it cannot be cut to that size."""
    outline = Outline(form, room=room)
    rest, units = outline.of_object(value, members, {}, spot or Spot()), outline.units
    if exceeds(rest, room) or (size := json_size(rest)) > room:
        return None
    if form.size and len(units) == 1 and isinstance(units[0], CuttableRows):
        units[0].know(form.size - size)
    parts = _share(units, room - size, form)
    if parts is None:
        return None
    notes = NOTE_BYTES * sum(unit.divisible and not unit.whole for unit in units)
    return rest, Kept(
        size=size + notes + sum(part.size for part in parts),
        rows=sum(part.rows for part in parts),
        emptied=sum(part.emptied for part in parts),
        places=tuple(place for part in parts for place in part.places),
    )


def _share(units: Sequence[Unit], room: int, form: CutForm) -> list[Kept] | None:
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
    parts = {unit: part for unit in units if unit not in waiting and (part := unit.keep())}
    shares = _allotted(waiting, room, form)
    return None if shares is None else [parts.get(unit) or shares[unit] for unit in units]


def _allotted(units: Sequence[Unit], room: int, form: CutForm) -> dict[Unit, Kept] | None:
    """Cut each unit to an equal share of the room. Few rows fill it badly: then each unit is tried as the first."""
    parts = _in_turn(units, room, form, equal=True)
    if form.inner or not 1 < len(units) <= MOST_TRIED:
        return parts
    if parts and sum(part.rows for part in parts.values()) >= FEW_ROWS:
        return parts
    best, order = _worth(parts), units
    for first in units:
        others = [first, *(unit for unit in units if unit is not first)]
        trial = _in_turn(others, room, form, equal=False)
        if trial and best < _worth(trial) and _size(trial) <= room:
            best, order = _worth(trial), others
    return _in_turn(order, room, form, equal=order is units)


def _in_turn(units: Sequence[Unit], room: int, form: CutForm, *, equal: bool) -> dict[Unit, Kept] | None:
    parts: dict[Unit, Kept] = {}
    for number, unit in enumerate(units):
        part = _part(unit, room // (len(units) - number) if equal else room, form)
        if part is None:
            return None
        room -= part.size
        parts[unit] = part
    for unit in units[:-1] if equal and not form.inner else ():  # the room that the last ones left
        more = _part(unit, parts[unit].size + room, form) or parts[unit]
        room -= more.size - parts[unit].size
        parts[unit] = more
    return parts


def _worth(parts: Mapping[Unit, Kept] | None) -> tuple[float, int]:
    """Return the rank of a cut: a list that lost all its items is worse than many bytes less; no cut is the worst."""
    return (-sum(part.emptied for part in parts.values()), _size(parts)) if parts else (-math.inf, 0)


def _size(parts: Mapping[Unit, Kept]) -> int:
    return sum(part.size for part in parts.values())


def _part(unit: Unit, share: int, form: CutForm) -> Kept | None:
    unit.grow(share)
    if isinstance(unit, CuttableRows) and not unit.whole:
        room = share - unit.used
        if room >= LEAST_PART_BYTES and (unit.kept == 0 or (room * SLACK > share and unit.may_part)):
            # The strings of a later row are whole.
            inner = replace(form, strings=form.strings and unit.kept == 0, size=0, inner=True)
            row = unit.cut_next(room, inner)
            if row is not None:
                return unit.keep(*row)
    return unit.keep()


MIN_STRING_CHARS = 200
"""Shorter strings are never cut."""


class Outline:
    """Makes an outline, and gathers its units. ``room`` is that of the whole value."""

    def __init__(self, form: CutForm, *, room: int) -> None:
        self.units: list[Unit] = []
        self._form = form
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
        rest = dict(value)
        keys_of_units = set[str]()
        groups = [*_groups(rest, members, with_outer(paging, ends.paging if ends else {}))]
        own = PageEnds(rest, members, paging)
        ends = own if own.marks else ends
        for keys, arguments in groups:
            # A request asks for the end of a list. Source: GraphQL Cursor Connections, "Pagination algorithm".
            roles = {role for role, each in arguments.items() if each.value_in(self._form.variables) is not None}
            rows = Paging(
                arguments=arguments,
                backward="last" in roles and "first" not in roles,
                continues=self._form.continues,
                ends=ends if keys[0] in members.rows or not members.rows else None,
                total=next((rest[key] for key in members.counts if type(rest.get(key)) is int), None),
                counts=members.offers_counts,
            )
            if len(groups) > 1 and keys[0] not in members.rows:
                rows = replace(rows, total=None, counts=())
            lists = {key: rest[key] for key in keys}
            if _may_cut(lists, [members.of(rest)[key] for key in keys], rows):
                self.units.append(CuttableRows(lists, rest, spot, members=members, paging=rows))
                keys_of_units.update(keys)
        for key, member in members.of(value).items():
            if key not in keys_of_units and key in rest:
                self._put(rest, key, member, spot.to(key), None if groups else ends)
        return rest

    def _put(self, holder: Any, key: str | int, member: Member, spot: Spot, ends: PageEnds | None = None) -> None:
        each = holder[key]
        plain = member.any or not member.depth
        if type(each) is dict and member.below and plain:
            holder[key] = self.of_object(each, member.below, member.paging, spot, ends)
        elif type(each) is list and (member.any or member.depth) and (member.below or self._form.strings):
            items = holder[key] = [*each]  # the list stays whole
            if 2 * len(items) <= self._room:  # else it does not fit in any case
                for number in range(len(items)):
                    self._put(items, number, member.item, spot.to(number))
        elif type(each) is str and member.string and plain and self._form.strings and len(each) >= MIN_STRING_CHARS:
            self.units.append(CuttableText(each, holder, key, spot))


def _groups(
    value: Mapping[str, Any], members: Members, paging: Mapping[str, Argument]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Argument]]]:
    """Yield the lists of an object, those of one connection together, with the arguments that page them."""
    plans = members.of(value)
    lists = [key for key, each in plans.items() if type(value.get(key)) is list and (each.any or each.depth)]
    rows = tuple(key for key in lists if key in members.rows)
    others = [key for key in lists if key not in members.rows]
    objects = [key for key in others if plans[key].below]
    if rows:
        yield rows, paging
    alone = [] if rows else objects or others
    for key in others:
        yield (key,), with_outer(plans[key].paging, paging if alone == [key] else {})


def _may_cut(lists: Mapping[str, list[Any]], plans: Sequence[Member], paging: Paging) -> bool:
    """Return whether lists may be cut: nothing beside them would still name the end of the whole list."""
    lengths = {len(items) for items in lists.values()}
    if len(lengths) != 1 or lengths == {0}:
        return False
    has_cursors = any(plan.below and plan.below.cursors for plan in plans)
    by_token = paging.ends is not None and any(mark.field == TOKEN for mark in paging.ends.marks)
    return paging.may_hide_end or (has_cursors and not by_token)


@record(frozen=True, slots=True, kw_only=True)
class Paging:
    """How a list of one answer is paged."""

    arguments: Mapping[str, Argument]
    backward: bool = False
    continues: bool = False
    ends: PageEnds | None = None  # ``None``: nothing that names an end is about the list
    total: int | None = None
    counts: tuple[str, ...] = ()

    @property
    def naming(self) -> list[_Mark]:
        """The fields that name the end of the list, or with ``backward`` its start; null names none."""
        fields = (TOKEN, "startCursor" if self.backward else "endCursor")
        return [mark for mark in self.ends.marks if mark.field in fields] if self.ends else []

    @property
    def may_hide_end(self) -> bool:
        """True if nothing names the end of the list, or null can stand there and the list can be continued."""
        naming = [mark for mark in self.naming if mark.value is not None]
        return not naming or (self.continues and all(mark.nullable for mark in naming))


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


ELLIPSIS = "…"
"""The end of a string that was cut."""

MIN_STRING_BYTES = 40


class CuttableText:
    """A long plain string. ``holder`` gets the kept part of it."""

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
            self.used = json_size(self._text) - 2
        self.whole = 0 < self.used <= room

    def keep(self) -> Kept | None:
        """Put the kept part in its place; ``None`` if there is no room for one."""
        text = self._text
        if self.whole:
            self._holder[self._key] = text
            return Kept(size=self.used)
        if self._room < MIN_STRING_BYTES:
            return None
        room = self._room - json_size(ELLIPSIS)
        lengths = range(1, min(room, len(text)) + 1)
        length = bisect_right(lengths, room, key=lambda length: json_size(text[:length]))
        self._holder[self._key] = text[:length] + ELLIPSIS
        path, origin = self._spot.path, self._spot.origin
        sample, dropped = {"": [text[length:]]}, len(text) - length
        place = CutPlace(
            path=path, origin=origin, kept=length, dropped=dropped, of=CHARACTERS, paging={}, sample=sample
        )
        return Kept(size=self._room, places=(place,))


SAMPLE = 10
"""Items whose fields are measured, to name the largest."""

FEW = 4
"""Items of which one may be so large that they are counted before they are encoded."""


class CuttableRows:
    """The rows of a list, or those of a connection: an edge and a node each. ``holder`` gets the kept ones.

    The first rows are measured, or the last if the list is paged backward, as far as there is room. A row is one item
    of each list. Its size includes a comma for each of its items.
    """

    def __init__(
        self, lists: Mapping[str, list[Any]], holder: JSONObject, spot: Spot, *, members: Members, paging: Paging
    ) -> None:
        self._lists = lists
        self._holder = holder
        self._spot = spot
        self._plans = {key: members.of(holder)[key] for key in lists}
        self._items = {key: plan.item for key, plan in self._plans.items()}
        self._paging = paging
        self._length = len(next(iter(lists.values())))
        self._total = 0  # bytes of all rows; 0: unknown
        self.kept = 0  # measured rows
        self.used = 0  # bytes of the measured rows
        for key in lists:
            holder[key] = []

    @property
    def whole(self) -> bool:
        """True if all rows fit."""
        return self.kept == self._length

    @property
    def divisible(self) -> bool:
        """True if it can lose rows without losing all."""
        return self._length > 1

    @property
    def may_part(self) -> bool:
        """True if a row in part loses nothing: its list cannot be paged, or each cut list can be continued."""
        # Arguments of the API go on behind any row.
        can_page = self._paging.arguments.keys() & {"after", "before", "offset", "page"} and not self._spot.nested
        return any(item.below for item in self._items.values()) and (self._paging.continues or not can_page)

    def know(self, size: int) -> None:
        """Learn the size that the answer has more with the lists than without."""
        self._total = size + len(self._lists)

    def grow(self, room: int) -> None:
        """Measure as many rows as fit into ``room``."""
        if self.used > room:
            self.kept = self.used = 0
        if not self.kept and room < self._total < 2 * room:
            # The last rows, which are measured and dropped, are fewer than those that fit.
            self.kept, self.used = self._length, self._total
            while self.kept and self.used > room:
                step = min(self.kept, 1 + self.kept * (self.used - room) // self.used)
                self.used -= sum(map(_size_of_rows, self._rows(self.kept - step, self.kept)))
                self.kept -= step
        step, look = 1, True
        while not self.whole and self.used < room:
            step, free = min(step, self._length - self.kept), room - self.used
            parts = self._rows(self.kept, self.kept + step)
            too_large = look and any(exceeds(part, free) for part in parts)
            size = 2 * free + 2 if too_large else sum(map(_size_of_rows, parts))
            if size > free:
                if step == 1:
                    return
                step, look = max(1, min(step // 2, step * free // size)), True
                continue
            self.kept += step
            self.used += size
            # Rows are of similar sizes, mostly. The next ones are taken by the mean so far, twice as many at most.
            step, look = max(1, min(2 * self.kept, self.kept * (room - self.used) // self.used)), look and step < FEW

    def cut_next(self, room: int, form: CutForm) -> tuple[JSONObject, Kept] | None:
        """Cut the first row that is not measured: an object with an item for each list."""
        number = self.kept
        row = {key: items[0] for key, items in zip(self._lists, self._rows(number, number + 1), strict=True)}
        spot = (
            self._spot.item(0, self._length - number - 1) if self._paging.backward else self._spot.item(number, number)
        )
        return cut(row, Members(fields=self._items), room=room, form=form, spot=spot)

    def keep(self, part: JSONObject | None = None, within: Kept | None = None) -> Kept | None:
        """Put the kept rows in their places, with ``part`` of the next row; ``None`` if that would not be truthful."""
        rows, needs_cursor = self.kept, not (self.whole or self._paging.may_hide_end)
        if part is not None and needs_cursor and self._cursor(rows) is None:
            part = within = None
        while part is None and rows and needs_cursor and self._cursor(rows - 1) is None:
            rows -= 1
        count = rows + (part is not None)
        if not count and needs_cursor:
            return None
        for key, items in zip(self._lists, self._rows(0, rows), strict=True):
            extra = [] if part is None else [part[key]]
            self._holder[key] = [*extra, *items] if self._paging.backward else [*items, *extra]
        place = self._place(count)
        if self._paging.ends:
            self._paging.ends.show(self, place)
        inside = within or Kept(size=0)
        return Kept(
            size=self.used + inside.size,
            rows=count + inside.rows,
            emptied=inside.emptied + (not count),
            places=(*([place] if place.dropped else []), *inside.places),
        )

    def _place(self, kept: int) -> CutPlace:
        key, arguments = next(iter(self._lists)), self._paging.arguments
        spot = self._spot.to(key)
        dropped = self._rows(kept, self._length)
        return CutPlace(
            path=spot.path,
            origin=spot.origin,
            kept=kept,
            dropped=self._length - kept,
            backward=self._paging.backward,
            keys=tuple(self._lists),
            cursor=self._cursor(kept - 1) if kept else None,
            paging=arguments,
            pages="page" in arguments or bool(self._paging.naming),
            sample={  # by odd steps, because every second item may be null
                key: items[:: max(1, len(items) // SAMPLE) | 1][:SAMPLE]
                for key, items in zip(self._lists, dropped, strict=True)
            },
            plans=self._plans,
            total=self._paging.total,
            counts=self._paging.counts,
        )

    def _cursor(self, row: int) -> Any:
        """Return the cursor of a row; ``None`` if the answer has none."""
        for (item,), plan in zip(self._rows(row, row + 1), self._items.values(), strict=True):
            names = plan.below.cursors if plan.below else ()
            cursor = next((item.get(name) for name in names if isinstance(item, dict)), None)
            if isinstance(cursor, str | int):
                return cursor
        return None

    def _rows(self, start: int, end: int) -> list[list[Any]]:
        """Return the items of the rows from ``start`` up to ``end``, counted from the side that is kept, by list."""
        if self._paging.backward:
            start, end = self._length - end, self._length - start
        return [items[start:end] for items in self._lists.values()]


Unit = CuttableRows | CuttableText


def json_size(value: Any) -> int:
    """Return the size of a value's JSON in bytes."""
    return len(to_well_formed_json(value))


def _size_of_rows(items: Sequence[Any]) -> int:
    return json_size(items) - 1


def exceeds(value: Any, limit: int) -> bool:
    """Return whether a value's JSON is surely longer than ``limit``, after a look at so much of it."""
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
