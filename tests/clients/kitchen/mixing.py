"""A tool in Python with parameters of several kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from stile import Toolkit

kit = Toolkit()


@dataclass
class Ingredient:
    """What goes in, and how much of it."""

    name: str
    grams: float
    roasted: bool = False


@kit.tool
def mix(
    ingredients: list[Ingredient],
    speed: Literal["slow", "fast"] = "slow",
    minutes: int = 5,
    note: str | None = None,
) -> dict[str, Any]:
    """Mix some ingredients."""
    roasted = [each.name for each in ingredients if each.roasted]
    grams = sum(each.grams for each in ingredients)
    return {"grams": grams, "roasted": roasted, "speed": speed, "minutes": minutes, "note": note}
