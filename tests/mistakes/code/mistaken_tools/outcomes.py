from __future__ import annotations

from stile import Async, Tool, Toolkit

kit = Toolkit()


async def found(query: str) -> str:
    return query


class Search(Tool):
    """Search the index."""

    async def call(self, query: str) -> Async:
        return Async("index", found(query))

    async def resume(self, tag: str, outcome: str) -> str:  # 3: it gets Ok or Err
        return f"{tag} {outcome}"


kit.add(Search)
