"""The outline of an answer: all that is kept in any case. The lists and strings that may be cut are left out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from handler.answers.places import Spot
from handler.answers.plan import Argument, Member, Members
from handler.answers.units import TOKEN, CuttableRows, CuttableText, PageEnds, Paging
from handler.cold.records import record
from handler.strict_json import JSONObject

MIN_STRING_CHARS = 200
"""Shorter strings are never cut."""

Unit = CuttableRows | CuttableText


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
