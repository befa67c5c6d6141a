"""The plan of an answer: at which response keys there are lists, connections and plain strings. And places in one.

The types of a schema decide, never the values of an answer: a custom scalar may hold a JSON list, which is one value.
The compiler stores the plan of a prescribed tool as one text, and the plan of a caller's document is made when its
answer is too large. Response keys without an entry stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from handler.cold.records import record
from handler.errors.infrastructure import BundleError
from handler.strict_json import JSONObject, parse_json, to_json_bytes

SIZES = ("first", "last", "limit", "take", "top", "pageSize", "page_size", "perPage", "per_page", "count", "size")
"""Arguments that set the number of a list's items."""

OFFSETS = ("offset", "skip")
"""Arguments that set the number of items that come before a list's first."""

PAGES = ("page", "pageNumber", "page_number", "pageIndex", "page_index")
"""Arguments that number pages."""

FILTER = "filter:"
"""Begins the role of an argument that narrows a list; its name follows."""

COUNTS = ("totalcount", "total", "totalitems", "totalresults", "totalelements", "count", "filteredcount")
"""Fields beside a list that count all its items; in small letters, without ``_``."""

TOKENS = (
    *("cursor", "endcursor", "nextcursor", "nextpagecursor", "nexttoken", "nextpagetoken", "continuationtoken"),
    *("next", "nextmarker", "nextlink", "lastevaluatedkey", "scrollid"),
)
"""Fields beside a list that name its end, from which the API would go on; in small letters, without ``_``."""


@record(frozen=True, slots=True)
class Argument:
    """An argument of a field. ``variable`` leads to its value in the variables.

    ``value`` is a whole number in the text, or the variable's default.

    ``given``: the text has the argument.
    """

    name: str
    variable: tuple[str, ...] = ()
    value: Any = None
    given: bool = True

    def value_in(self, variables: Mapping[str, Any]) -> Any:
        """Return the value of a call, ``None`` if it gives none."""
        if not self.variable or self.variable[0] not in variables:
            return self.value
        value: Any = variables
        for name in self.variable:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


@record(frozen=True, slots=True, kw_only=True)
class Member:
    """The value at a response key: ``depth`` lists around an object, a plain string, or another leaf."""

    depth: int = 0
    below: Members | None = None
    string: bool = False
    # first | last | after | before | offset | page | size, and arguments that narrow the list: FILTER and a name
    paging: Mapping[str, Argument] = field(default_factory=dict)
    any: bool = False  # the value says by itself if it is a list, an object or a string

    @property
    def item(self) -> Member:
        """The plan of an item of the list."""
        return self if self.any else Member(depth=self.depth - 1, below=self.below, string=self.string)


@record(frozen=True, slots=True, kw_only=True)
class Members:
    """The plan of an object, by response key. Keys of a connection's parts are named by the part that they are."""

    fields: Mapping[str, Member]
    rows: tuple[str, ...] = ()  # lists of one connection, which have an item for each of its rows: edges and nodes
    cursors: tuple[str, ...] = ()  # of an edge: its cursor
    page_info: tuple[str, ...] = ()  # of a connection
    info: Mapping[str, str] = field(default_factory=dict)  # of a PageInfo: response key -> field
    tokens: tuple[str, ...] = ()  # cursors beside a list that name its end
    nullable: tuple[str, ...] = ()  # of the keys of tokens and info
    counts: tuple[str, ...] = ()  # numbers beside a list that count all its items
    offers_counts: tuple[str, ...] = field(default=(), compare=False)  # such fields, not selected; this is not stored
    offers_cursors: bool = field(default=False, compare=False)  # of edges, selected or not; this is not stored
    any: bool = False  # every member is like ANYTHING

    def of(self, value: Mapping[str, Any]) -> Mapping[str, Member]:
        """Return the plans of an object's members."""
        return dict.fromkeys(value, ANYTHING) if self.any else self.fields


OPEN_MEMBERS = Members(fields={}, any=True)
"""The plan of a value without a schema: each list and each string may be cut."""

ANYTHING = Member(depth=1, below=OPEN_MEMBERS, string=True, any=True)


LISTS = ("rows", "cursors", "page_info", "tokens", "nullable", "counts")


def write_plan(root: Members) -> str:
    """Return the stored form of a plan, in which equal parts stand once. It has ``'`` for ``"``, which no name has."""
    writer = _Writer()
    writer.members(root)
    return (b"[%b]" % b",".join(writer.parts)).decode().replace('"', "'")


def read_plan(text: str) -> Members:
    """Read the stored form that ``write_plan`` returns.

    Raises:
        BundleError: another text.
    """
    try:
        parts: list[Members] = []
        for raw in parse_json(text.replace("'", '"').encode()):
            fields = {key: _read_member(each, parts) for key, each in raw["f"].items()}
            lists: dict[str, Any] = {name: tuple(raw.get(name, ())) for name in LISTS}
            parts.append(Members(fields=fields, info=raw.get("info", {}), **lists))
        return parts[-1]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
        raise BundleError("the plan of an answer is malformed: publish again") from exc


class _Writer:
    def __init__(self) -> None:
        self.parts: dict[bytes, int] = {}
        self._known: dict[int, int] = {}  # by identity: walked at each use, shared parts would be exponentially many

    def members(self, members: Members) -> int:
        if id(members) not in self._known:
            raw: JSONObject = {"f": {key: self._member(each) for key, each in members.fields.items()}}
            raw |= {name: list(value) for name in LISTS if (value := getattr(members, name))}
            raw |= {"info": dict(members.info)} if members.info else {}
            self._known[id(members)] = self.parts.setdefault(to_json_bytes(raw), len(self.parts))
        return self._known[id(members)]

    def _member(self, member: Member) -> Any:
        raw: JSONObject = {"d": member.depth} if member.depth else {}
        raw |= {"s": 1} if member.string else {}
        raw |= {"o": self.members(member.below)} if member.below else {}
        raw |= {"p": {role: _write_argument(each) for role, each in member.paging.items()}} if member.paging else {}
        return 0 if raw == {"s": 1} else raw


def _write_argument(argument: Argument) -> list[Any]:
    if argument.variable:  # a call fills in its default
        return [argument.name, ".".join(argument.variable)]
    value = argument.value if type(argument.value) is int else None
    return [argument.name, None, value] if argument.given else [argument.name]


def _read_member(raw: Any, parts: list[Members]) -> Member:
    if raw == 0:
        return Member(string=True)
    return Member(
        depth=raw.get("d", 0),
        below=parts[raw["o"]] if "o" in raw else None,
        string="s" in raw,
        paging={role: _read_argument(*each) for role, each in raw.get("p", {}).items()},
    )


def _read_argument(name: str, *rest: Any) -> Argument:
    match rest:
        case (str(variable),):
            return Argument(name, tuple(variable.split(".")))
        case (None, value):
            return Argument(name, value=value)
        case _:
            return Argument(name, given=False)


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
    # Some of the dropped items of each list, for the sizes of their fields, or the dropped text under an empty key.
    sample: Mapping[str, Sequence[Any]]
    plans: Mapping[str, Member] = field(default_factory=dict)  # of the lists
    total: int | None = None  # all items that the API has, if the answer says so
    counts: tuple[str, ...] = ()  # fields that would say so

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

    def rest_of(self, value: Mapping[str, Any], members: Members, path: Path) -> JSONObject:
        """Return an object with the further rows of the list at ``path`` below it.

        Lists around it have the one item that leads to it. Other lists are empty: their rows are in earlier answers,
        or have cursors of their own. The given object is not changed.
        """
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
            return self.rest_of(value, member.below, path)
        return value


def with_outer(paging: Mapping[str, Argument], outer: Mapping[str, Argument]) -> Mapping[str, Argument]:
    """Return the arguments that page a list: those of a field around it, if its own field does not page."""
    return paging if any(not role.startswith(FILTER) for role in paging) else {**outer, **paging}


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
