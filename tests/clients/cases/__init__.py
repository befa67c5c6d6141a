"""Calls of every tool of an endpoint, and the answers: written by hand, from the rows that the APIs hold."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call. In ``answer``, ``{"matches": "..."}`` stands for a text that matches this pattern."""

    tool: str
    arguments: Mapping[str, Any]
    answer: Any
    image: bool = False  # whether the chart of orders comes too


def read_cases(name: str) -> list[Case]:
    """The calls of an endpoint, in the order of its tools."""
    text = Path(__file__).with_name(f"{name}.json").read_text("utf-8")
    return [Case(**each) for each in json.loads(text)]


def fits(expected: Any, found: Any) -> bool:
    """Compare an answer, down to its patterns."""
    match expected:
        case {"matches": str(pattern)}:
            return isinstance(found, str) and re.fullmatch(pattern, found) is not None
        case dict():
            return (
                isinstance(found, dict)
                and found.keys() == expected.keys()
                and all(fits(value, found[key]) for key, value in expected.items())
            )
        case list():
            return isinstance(found, list) and len(found) == len(expected) and all(map(fits, expected, found))
        case _:
            return isinstance(found, bool) == isinstance(expected, bool) and bool(found == expected)


MONTHS = 12
BAR, GAP, BLUE = 24, 8, 1


def highest_months(png: str) -> list[int]:
    """The months, from 1 on, whose bars reach the top of the chart of orders."""
    raw = base64.b64decode(png.rpartition(",")[2])
    assert raw.startswith(b"\x89PNG\r\n\x1a\n")
    at = raw.index(b"IDAT")
    pixels = zlib.decompress(raw[at + 4 : at + 4 + int.from_bytes(raw[at - 4 : at], "big")])
    top = pixels[1 : 1 + GAP + MONTHS * (BAR + GAP)]  # behind the byte that names the row's filter
    return [month for month in range(1, MONTHS + 1) if top[GAP + (month - 1) * (BAR + GAP)] == BLUE]
