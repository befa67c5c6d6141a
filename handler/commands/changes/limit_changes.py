"""The differences of limits of documents and values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields

from handler.bundle.operations import Limits
from handler.commands.changes.change import Change

RESULT = "max_result_bytes"


def limit_changes(before: Limits, after: Limits, *, about: str, where: str) -> Iterator[Change]:
    """Yield the limits that differ. ``where`` names the limits' owner in the sentences."""
    for each in fields(Limits):
        old, new = getattr(before, each.name), getattr(after, each.name)
        if each.name == RESULT:
            yield from result_size_change(old, new, about=about, where=where)
        else:
            yield from number_change(old, new, about=about, where=f"{where}: {each.name}")


def number_change(old: float, new: float, *, about: str, where: str) -> Iterator[Change]:
    """Yield the difference of a number that allows more if it is larger."""
    if old != new:
        code = "limit-raised" if new > old else "limit-lowered"
        yield Change(code=code, about=about, sentence=f"{where} is {_shown(new)}, and was {_shown(old)}")


def result_size_change(old: int, new: int, *, about: str, where: str) -> Iterator[Change]:
    """Yield the difference of the size of results, which has no limit if it is 0."""
    yield from number_change(old or math.inf, new or math.inf, about=about, where=f"{where}: {RESULT}")


def _shown(number: float) -> str:
    return "without limit" if number == math.inf else f"{number:,}"
