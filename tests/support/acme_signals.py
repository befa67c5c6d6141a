"""Tools of an author that tell their client something beside the answer, or have arguments that headers repeat."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from stile import Context, Toolkit

kit = Toolkit()

WHERE = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "x-mcp-header": "Limit"},
    },
    "additionalProperties": False,
}


@kit.tool
async def count(to: int, ctx: Context, stumble: bool = False) -> str:
    """Count, and tell how far it has come."""
    for number in range(1, min(to, 2_000) + 1):
        await ctx.report_progress(number, to)
        await ctx.info(f"counted {number}")
    if stumble:
        raise ValueError("stumbled")
    return f"counted to {to}"


@kit.tool
async def wait() -> str:
    """Wait for longer than anybody does."""
    await asyncio.sleep(60)
    return "done"


@kit.tool(input_schema=WHERE)
def look(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Look in a region."""
    return {"looked": dict(arguments)}
