"""Tools in Python with arguments of every sort. What they do themselves costs nothing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from stile import Context, Toolkit

kit = Toolkit()


class Part(BaseModel):
    """Something that has others of its kind."""

    name: str
    size: int | None = None
    tags: set[str] = set()
    parts: list[Part] = []


@kit.tool
def numbers(values: list[int] | None = None) -> int:
    """Take numbers."""
    return len(values or [])


@kit.tool
def distinct(values: set[int | str]) -> int:
    """Take values that differ."""
    return len(values)


@kit.tool
def patterned(codes: list[Annotated[str, Field(pattern=r"^[A-Z]{2,10}-[0-9]+$", max_length=40)]]) -> int:
    """Take codes."""
    return len(codes)


@kit.tool
def parts(part: Part, more: dict[str, Part] | None = None) -> str:
    """Take an object."""
    return part.name


@kit.tool
def either(value: int | str | list[int] | dict[str, float] | None, mode: Literal["a", "b", "c"] = "a") -> str:
    """Take one of several."""
    return mode


@kit.tool
def anything(value: Any) -> str:
    """Take what comes."""
    return type(value).__name__


@kit.tool
async def pass_on(query: str, ctx: Context, variables: dict[str, Any] | None = None) -> dict[str, Any]:
    """Ask the API."""
    return {"data": await ctx.graphql(query, variables)}
