"""The best cut of small answers, by trying all: every prefix of every list. It shares no code with the product."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

from handler.answers.plan import Member, Members

ROW = Members(fields={"rows": Member(depth=1), "text": Member(string=True)})
PLAN = Members(fields={name: Member(depth=1, below=ROW) for name in ("a", "b")})
"""Two lists of rows that cannot be paged, and that have a list each."""

NOTE_BYTES = 200
"""The least that the note of one list takes."""


def small_answer(random: Random) -> dict[str, Any]:
    """Two lists of few rows, some of which have a list of their own."""
    size = random.choice([2_000, 4_000])
    return {"a": _rows(random, random.randint(1, 5), size), "b": _rows(random, random.randint(0, 3), size)}


def _rows(random: Random, count: int, size: int) -> list[dict[str, Any]]:
    inner = random.choice([0, 0, 3])
    return [
        {
            "id": random.randint(0, 9) * "x" + "y" * random.randint(size // 2, size),
            "rows": ["z" * random.randint(size // 4, size) for _ in range(random.randint(0, inner))],
        }
        for _ in range(count)
    ]


def rows_in(data: dict[str, Any]) -> int:
    """The number of items of all lists."""
    return sum(len(rows) + sum(len(row["rows"]) for row in rows) for rows in data.values())


def most_rows(data: dict[str, Any], *, max_bytes: int) -> int:
    """The most rows that any cut within the limit keeps, if each cut list takes a note."""
    best = 0
    ways = {name: [*_prefixes(rows)] for name, rows in data.items()}
    envelope = len('{"data":{"a":,"b":},"extensions":{"stile":{"truncated":[]}}}')
    for a, b in product(ways["a"], ways["b"]):
        size = envelope + a[0] + b[0] + NOTE_BYTES * (a[2] + b[2])
        if size <= max_bytes:
            best = max(best, a[1] + b[1])
    return best


def _prefixes(rows: list[dict[str, Any]]) -> Iterator[tuple[int, int, int]]:
    """Yield the size, the rows, and the number of cut lists of each cut of a list."""
    for kept in range(len(rows) + 1):
        for inner in product(*(range(len(row["rows"]) + 1) for row in rows[:kept])):
            cut = [{**row, "rows": row["rows"][:some]} for row, some in zip(rows, inner, strict=False)]
            places = (kept < len(rows)) + sum(len(row["rows"]) > some for row, some in zip(rows, inner, strict=False))
            size = len(json.dumps(cut, separators=(",", ":")))
            yield size, kept + sum(inner), places
