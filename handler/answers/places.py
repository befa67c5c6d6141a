"""A place at which an answer was cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.answers.plan import Argument, Member
from handler.cold.records import record

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
        """Tell if the path of an error leads into a dropped item."""
        length = len(self.origin)
        if not self.keys or not isinstance(path, list) or len(path) <= length:
            return False
        row = path[length]
        inside = tuple(path[: length - 1]) == self.origin[:-1] and path[length - 1] in self.keys
        if not inside or type(row) is not int:
            return False
        return row < self.dropped if self.backward else row >= self.seen

    @property
    def nested(self) -> bool:
        """True if the place is inside a list, so that its paging arguments are those of its siblings, too."""
        return any(isinstance(part, int) for part in self.origin)
