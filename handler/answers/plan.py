"""The plan of an answer: at which response keys there are lists, connections and plain strings.

The types of a schema decide, never the values of an answer: a custom scalar may hold a JSON list, which is one value.
The compiler stores the plan of a prescribed tool as one text, and the plan of a caller's document is made when its
answer is too large. Response keys without an entry stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
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
    paging: Mapping[str, Argument] = field(default_factory=dict)  # first | last | after | before | offset | page | size
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
    offers_cursors: bool = field(default=False, compare=False)  # of edges, selected or not; this is not stored
    any: bool = False  # every member is like ANYTHING

    def of(self, value: Mapping[str, Any]) -> Mapping[str, Member]:
        """Return the plans of an object's members."""
        return dict.fromkeys(value, ANYTHING) if self.any else self.fields


OPEN_MEMBERS = Members(fields={}, any=True)
"""The plan of a value without a schema: each list and each string may be cut."""

ANYTHING = Member(depth=1, below=OPEN_MEMBERS, string=True, any=True)


LISTS = ("rows", "cursors", "page_info", "tokens", "nullable")


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
