from __future__ import annotations

from collections.abc import Iterator

from stile import Async, Err, Ok, Toolkit

kit = Toolkit()


async def found() -> str:
    return "found"


def parts(tag: str, outcome: Ok | Err) -> Iterator[str]:  # 10: one result is needed
    yield tag
    yield str(outcome)


@kit.tool(resume=parts)
async def search() -> Async:
    return Async("index", found())
