"""Sizes of values as JSON, measured as far as a limit: a large answer is not encoded once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handler.strict_json import to_well_formed_json

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
