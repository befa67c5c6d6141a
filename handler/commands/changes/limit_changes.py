"""The differences of limits of documents and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from handler.bundle.operations import Limits
from handler.commands.changes.change import Change


def limit_changes(before: Limits, after: Limits, *, about: str, where: str) -> Iterator[Change]:
    """Yield the limits that differ. ``where`` names the limits' owner in the sentences."""
    for each in fields(Limits):
        yield from number_change(
            getattr(before, each.name), getattr(after, each.name), about=about, where=f"{where}: {each.name}"
        )


def number_change(old: float, new: float, *, about: str, where: str) -> Iterator[Change]:
    """Yield the difference of a number that allows more if it is larger."""
    if old != new:
        code = "limit-raised" if new > old else "limit-lowered"
        yield Change(code=code, about=about, sentence=f"{where} is {new:,}, and was {old:,}")
