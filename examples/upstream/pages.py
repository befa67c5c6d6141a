import base64
import binascii
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Generic, TypeAlias, TypeVar

import strawberry

from examples.upstream.errors import BadInputError

MAX_FIRST = 100

T = TypeVar("T")
First: TypeAlias = Annotated[
    int, strawberry.argument(description=f"How many to return at most, from 1 to {MAX_FIRST}.")
]
After: TypeAlias = Annotated[
    str | None,
    strawberry.argument(description="Continue after this cursor, the endCursor of the page before."),
]


@strawberry.type(description="Whether a list goes on after this page, and from where.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether there are more after this page.")
    end_cursor: str | None = strawberry.field(
        description="The cursor of the last one on this page, to be given as `after` for the next page."
    )


@strawberry.type(description="One place in a list.")
class Edge(Generic[T]):
    cursor: str = strawberry.field(description="Where in the list this is, to continue after it.")
    node: T = strawberry.field(description="What stands at this place.")


@strawberry.type(description="One page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = strawberry.field(description="What is on this page, in the order of the list.")
    page_info: PageInfo = strawberry.field(description="How to get the next page.")
    total_count: int = strawberry.field(description="How many there are on all pages together.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """A table that can be paged through by id."""

    table: str
    node_of: Callable[[sqlite3.Row], T]
    newest_first: bool = False


def read_connection(
    database: sqlite3.Connection,
    listing: Listing[T],
    conditions: Mapping[str, object],
    *,
    first: int,
    after: str | None,
) -> Connection[T]:
    """Read the page of ``first`` rows behind the cursor ``after``.

    Raises:
        BadInputError: ``first`` is out of bounds, or ``after`` is no cursor of this list.
    """
    limit = require_page_size(first)
    beyond, direction = ("id < ?", "desc") if listing.newest_first else ("id > ?", "asc")
    where, values = where_clause(conditions)
    (total_count,) = database.execute(f"select count(*) from {listing.table}{where}", values).fetchone()
    where, values = where_clause({**conditions, beyond: parse_cursor(after, table=listing.table)})
    rows = database.execute(
        f"select * from {listing.table}{where} order by id {direction} limit ?", [*values, limit + 1]
    ).fetchall()
    edges = [Edge(cursor=cursor_of(row, table=listing.table), node=listing.node_of(row)) for row in rows[:limit]]
    return Connection(
        edges=edges,
        page_info=PageInfo(has_next_page=len(rows) > limit, end_cursor=edges[-1].cursor if edges else None),
        total_count=total_count,
    )


def require_page_size(first: int) -> int:
    if not 1 <= first <= MAX_FIRST:
        raise BadInputError(f"first: expected 1 to {MAX_FIRST}, got {first}")
    return first


def where_clause(conditions: Mapping[str, object]) -> tuple[str, list[object]]:
    """The SQL for those conditions whose value was given, and their values in the same order."""
    given = {sql: value for sql, value in conditions.items() if value not in (None, strawberry.UNSET)}
    return (f" where {' and '.join(given)}" if given else ""), list(given.values())


def cursor_of(row: sqlite3.Row, *, table: str) -> str:
    return base64.urlsafe_b64encode(f"{table}:{row['id']}".encode()).decode()


def parse_cursor(cursor: str | None, *, table: str) -> str | None:
    """The id a cursor stands for."""
    if not cursor:
        return None
    try:
        found, _, node_id = base64.urlsafe_b64decode(cursor).decode().partition(":")
    except (binascii.Error, ValueError):
        found, node_id = "", ""
    if found != table or not node_id:
        raise BadInputError(f'after: "{cursor}" is not a cursor of this list')
    return node_id
