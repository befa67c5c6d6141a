"""An API with the usual forms of paging, and operations over it: with and without cursors in the selection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from graphql import build_schema, graphql_sync

from tests.support.api import Api, Asked, Reply, running_api

ROWS = 40
NESTED = 6

SDL = """
type Row { id: ID! text: String! rows(first: Int, after: String): Connection! }
type Edge { cursor: String! node: Row! }
type PageInfo { endCursor: String startCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! }
type Connection { edges: [Edge!]! nodes: [Row!]! pageInfo: PageInfo! }
type StrictInfo { endCursor: String! hasNextPage: Boolean! }
type StrictConnection { edges: [Edge!]! nodes: [Row!]! pageInfo: StrictInfo! }
type Tokens { items: [Row!]! nextToken: String }
type Strings { items: [Row!]! warnings: [String!]! next_cursor: ID }
type Meta { nextCursor: String }
type Wrapped { data: Wrapping! meta: Meta! }
type Wrapping { items: [Row!]! }
type Info { pages: Int! next: Int hasNextPage: Boolean! }
type Page { items: [Row!]! info: Info! }
input Slice { limit: Int offset: Int }
type Query {
  relay(first: Int, after: String, last: Int, before: String): Connection!
  strict(first: Int, after: String): StrictConnection!
  offset(limit: Int, offset: Int): [Row!]!
  slice(slice: Slice): [Row!]!
  page(page: Int, perPage: Int): Page!
  tokens(limit: Int, nextToken: String): Tokens!
  beside(limit: Int, cursor: ID): Strings!
  wrapped(limit: Int, cursor: String): Wrapped!
  plain: [Row!]!
}
"""
SCHEMA = build_schema(SDL)


def _row(number: int) -> dict[str, Any]:
    def rows(_: Any, first: int | None = None, after: str | None = None) -> Any:
        return _connection(first, after, ids=range(1000 * number, 1000 * number + NESTED))

    return {"id": str(number), "text": f"row {number} " * (4 + number % 7), "rows": rows}


def _connection(
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    *,
    ids: Sequence[int] = range(1, ROWS + 1),
) -> dict[str, Any]:
    start = int(after.removeprefix("c")) + 1 if after else ids[0]
    end = int(before.removeprefix("c")) if before else ids[-1] + 1
    found = range(max(start, ids[0]), min(end, ids[-1] + 1))
    kept = found[:first] if first is not None else found
    kept = kept[max(0, len(kept) - last) :] if last is not None else kept
    info = {
        "startCursor": f"c{kept[0]}" if kept else "",
        "endCursor": f"c{kept[-1]}" if kept else "",
        "hasNextPage": bool(kept) and kept[-1] < ids[-1],
        "hasPreviousPage": bool(kept) and kept[0] > ids[0],
    }
    rows = [_row(number) for number in kept]
    edges = [{"cursor": f"c{row['id']}", "node": row} for row in rows]
    return {"edges": edges, "nodes": rows, "pageInfo": info}


def _sliced(limit: int | None, offset: int | None) -> list[dict[str, Any]]:
    return [_row(number) for number in range(1, ROWS + 1)][offset or 0 :][: ROWS if limit is None else limit]


def _next_of(rows: Sequence[Mapping[str, Any]]) -> str | None:
    return rows[-1]["id"] if rows and int(rows[-1]["id"]) < ROWS else None


class _Root:
    def relay(self, _: Any, **arguments: Any) -> Any:
        return _connection(**arguments)

    strict = relay

    def plain(self, _: Any) -> Any:
        return _sliced(None, None)

    def offset(self, _: Any, limit: int | None = None, offset: int | None = None) -> Any:
        return _sliced(limit, offset)

    def slice(self, _: Any, slice: Mapping[str, int] | None = None) -> Any:  # noqa: A002 - the argument's name
        return _sliced((slice or {}).get("limit"), (slice or {}).get("offset"))

    def page(self, _: Any, page: int | None = None, perPage: int | None = None) -> Any:  # noqa: N803 - the API's name
        number, size = page or 1, perPage or 10
        pages = -(-ROWS // size)
        info = {"pages": pages, "next": number + 1 if number < pages else None, "hasNextPage": number < pages}
        return {"items": _sliced(size, (number - 1) * size), "info": info}

    def tokens(self, _: Any, limit: int | None = None, nextToken: str | None = None) -> Any:  # noqa: N803
        rows = _sliced(limit, int(nextToken or 0))
        return {"items": rows, "nextToken": _next_of(rows)}

    def beside(self, _: Any, limit: int | None = None, cursor: str | None = None) -> Any:
        rows = _sliced(limit, int(cursor or 0))
        return {
            "items": rows,
            "warnings": [f"warning {'w' * 90} {each}" for each in range(9)],
            "next_cursor": _next_of(rows),
        }

    def wrapped(self, _: Any, limit: int | None = None, cursor: str | None = None) -> Any:
        rows = _sliced(limit, int(cursor or 0))
        return {"data": {"items": rows}, "meta": {"nextCursor": _next_of(rows)}}


def paging_api() -> AbstractContextManager[Api]:
    """The API, running on loopback."""

    def answer(asked: Asked) -> Reply:
        sent = asked.json
        result = graphql_sync(SCHEMA, sent["query"], _Root(), variable_values=sent.get("variables"))
        return Reply(result.formatted)

    return running_api(answer)


Ids = list[int]


@dataclass(frozen=True, kw_only=True)
class Form:
    """An operation over one form of paging. ``after``: the arguments by which an answer says to go on."""

    name: str
    root: str
    text: str  # the operation without its name
    size: str  # the argument of the page's size
    after: Callable[[Any], Mapping[str, Any]] = lambda _: {}
    backward: bool = False
    names_end: bool = False  # the answer has a cursor, or a token, for its end
    first: Mapping[str, Any] = field(default_factory=dict)  # arguments of the first call

    @property
    def document(self) -> str:
        return f"query {self.name.title().replace('_', '')}{self.text}"

    def ids(self, data: Any) -> Ids:
        """The ids of all rows in an answer, those in rows after their row."""
        return [*_ids(data[self.root])]


def _ids(value: Any) -> Iterator[int]:
    if isinstance(value, list):
        for each in value:
            yield from _ids(each)
    elif isinstance(value, dict):
        if "id" in value:
            yield int(value["id"])
        for each in value.values():
            yield from _ids(each)


def _info(field_name: str, *, backward: bool) -> Callable[[Any], Mapping[str, Any]]:
    more, cursor, argument = (
        ("hasPreviousPage", "startCursor", "before") if backward else ("hasNextPage", "endCursor", "after")
    )

    def after(data: Any) -> Mapping[str, Any]:
        info = data[field_name].get("pageInfo", {})
        return {argument: info[cursor]} if info.get(more) and info.get(cursor) is not None else {}

    return after


ROW = "id text"
NEST = "id text rows { edges { cursor node { id } } pageInfo { endCursor hasNextPage } }"
BARE = "id text rows { nodes { id } pageInfo { endCursor hasNextPage } }"


def _relay(cursor: bool, info: bool, kind: str, backward: bool, row: str) -> Form:
    rows = f"edges {{ {'cursor' if cursor else ''} node {{ {row} }} }}"
    rows = f"nodes {{ {row} }}" if kind == "nodes" else f"{rows} nodes {{ id }}" if kind == "both" else rows
    page = "startCursor hasPreviousPage" if backward else "endCursor hasNextPage"
    page = f"pageInfo {{ {page} }}" if info else ""
    size, way = ("last", "before") if backward else ("first", "after")
    api = "strict" if kind == "strict" else "relay"
    name = "_".join(
        [
            kind,
            "cursor" if cursor else "plain",
            "info" if info else "none",
            way,
            {ROW: "row", NEST: "nest", BARE: "bare"}[row],
        ]
    )
    return Form(
        name=name,
        root=api,
        text=f"(${size}: Int, ${way}: String) {{ {api}({size}: ${size}, {way}: ${way}) {{ {rows} {page} }} }}",
        size=size,
        after=_info(api, backward=backward),
        backward=backward,
        names_end=info,
    )


def _token(field_name: str, way: str, of: Callable[[Any], Any], rows: str, *, type_: str = "String") -> Form:
    def after(data: Any) -> Mapping[str, Any]:
        token = of(data[field_name])
        return {} if token is None else {way: token}

    return Form(
        name=field_name,
        root=field_name,
        text=f"($limit: Int, ${way}: {type_}) {{ {field_name}(limit: $limit, {way}: ${way}) {{ {rows} }} }}",
        size="limit",
        after=after,
        names_end=True,
    )


def forms() -> list[Form]:
    """All forms of paging."""
    relay = [
        _relay(cursor, info, kind, backward, row)
        for cursor, info, kind, backward, row in product(
            (True, False), (True, False), ("edges", "nodes", "both", "strict"), (False, True), (ROW, NEST, BARE)
        )
        if not (kind == "nodes" and cursor)
        and not (kind == "strict" and backward)
        and not (kind in ("both", "strict") and row != ROW)
    ]
    return [
        *relay,
        Form(
            name="offset",
            root="offset",
            text="($limit: Int, $offset: Int) { offset(limit: $limit, offset: $offset) { id text } }",
            size="limit",
        ),
        Form(
            name="slice",
            root="slice",
            text="($limit: Int, $offset: Int) { slice(slice: {limit: $limit, offset: $offset}) { id text } }",
            size="limit",
        ),
        Form(
            name="page",
            root="page",
            text="($page: Int, $perPage: Int) { page(page: $page, perPage: $perPage) { "
            "items { id text } info { next hasNextPage } } }",
            size="perPage",
            after=lambda data: {"page": data["page"]["info"]["next"]} if data["page"]["info"]["next"] else {},
            first={"page": 1},
        ),
        _token("tokens", "nextToken", lambda data: data["nextToken"], "items { id text } nextToken"),
        _token(
            "beside", "cursor", lambda data: data["next_cursor"], "items { id text } warnings next_cursor", type_="ID"
        ),
        _token(
            "wrapped",
            "cursor",
            lambda data: data["meta"]["nextCursor"],
            "data { items { id text } } meta { nextCursor }",
        ),
        Form(name="plain", root="plain", text=" { plain { id text } }", size=""),
    ]
