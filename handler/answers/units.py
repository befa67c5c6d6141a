"""The parts of an answer that may be cut: the rows of a list, or of a connection's lists, and long strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from handler.answers.places import CHARACTERS, CutPlace, Spot
from handler.answers.plan import Argument, Members
from handler.answers.sizes import Measured, size_of
from handler.cold.records import record
from handler.strict_json import JSONObject

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
