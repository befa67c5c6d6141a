"""The parts of an answer that may be cut: the rows of a list, or of a connection's lists, and long strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handler.answers.places import CHARACTERS, CutPlace, Spot
from handler.answers.plan import Argument, Member, Members
from handler.answers.sizes import Measured, size_of
from handler.records import record
from handler.strict_json import JSONObject

ELLIPSIS = "…"
"""The end of a string that was cut."""

MIN_STRING_BYTES = 40

BACKWARD = {"endCursor": "startCursor", "hasNextPage": "hasPreviousPage"}
"""The fields of a PageInfo at the end of a page, and at its start."""


FORWARD = {start: end for end, start in BACKWARD.items()}


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
        self._pages: JSONObject | None = None
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
        return bool(self._paging.arguments.keys() & {"after", "before", "offset"}) and not self._spot.nested

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
        if self._pages is None:
            self._pages = {key: self._holder[key] for key in self._members.page_info if key in self._holder}
        self._holder.update(self._pages)
        if self.whole:
            self._holder.update(self._lists)
            return Kept(size=self.used, rows=self.kept)
        kept = self.kept
        if part is not None and self._needs_cursor and self._cursor(kept) is None:
            part = within = None
        while part is None and kept and self._needs_cursor and self._cursor(kept - 1) is None:
            kept -= 1
        taken = kept + (part is not None)
        if not taken and self._needs_cursor:
            return None
        for key, items in self._lists.items():
            rows = self._measured.rows_of(items, 0, kept)
            extra = [] if part is None else [part[key]]
            self._holder[key] = [*extra, *rows] if self._paging.backward else [*rows, *extra]
        place = self._place(taken)
        if taken and place.dropped:
            self._tell(place.cursor)
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
            rows=tuple(self._lists[key][:SAMPLE]),
            plan=self._members.of(self._holder)[key],
        )

    @property
    def _needs_cursor(self) -> bool:
        """True if the connection names its last row, and no other way on is given."""
        return not self._paging.continues and states_end(self._holder, self._members, backward=self._paging.backward)

    def _cursor(self, row: int) -> Any:
        """Return the cursor of a row; ``None`` if the answer has none."""
        for key, items in self._lists.items():
            item, plan = self._measured.rows_of(items, row, row + 1)[0], self._items[key]
            names = plan.below.cursors if plan.below else ()
            found = next((item.get(name) for name in names if isinstance(item, dict)), None)
            if isinstance(found, str | int):
                return found
        return None

    def _tell(self, cursor: Any) -> None:
        """Have the connection's PageInfo name the last row that is kept."""
        if cursor is None and states_end(self._holder, self._members, backward=self._paging.backward):
            return  # it stays that of the API's page, of which the rest can be continued
        told = {"hasNextPage": True, "endCursor": cursor}
        for key, info, field, name in page_infos(self._holder, self._members):
            value = told.get(FORWARD.get(field, "") if self._paging.backward else field)
            if value is not None and info.get(name) is not None:
                self._holder[key] = {**self._holder[key], name: value}

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


def states_end(value: Mapping[str, Any], members: Members, *, backward: bool) -> bool:
    """Tell if a connection names its last row, or with ``backward`` its first."""
    wanted = BACKWARD["endCursor"] if backward else "endCursor"
    return any(field == wanted and info.get(name) is not None for _, info, field, name in page_infos(value, members))


def page_infos(value: Mapping[str, Any], members: Members) -> list[tuple[str, dict[str, Any], str, str]]:
    """Return each member of a connection's PageInfo: key and value of the PageInfo, the field, and its key."""
    found = []
    for key in members.page_info:
        info, plan = value.get(key), members.fields.get(key, Member()).below
        if isinstance(info, dict) and plan:
            found += [(key, info, field, name) for name, field in plan.info.items() if name in info]
    return found
