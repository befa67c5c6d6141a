from __future__ import annotations

from stile import Async, Toolkit

kit = Toolkit()


async def found() -> str:
    return "found"


@kit.tool  # 7: nothing goes on with it
async def first() -> Async:
    return Async("first", found())


@kit.tool  # 8: nor with this one
async def second() -> Async | str:
    return Async("second", found())
