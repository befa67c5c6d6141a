"""Tools of an author who gives on texts that were cut in the middle of a character."""

from __future__ import annotations

from typing import Any

from stile import Context, McpError, ToolError, Toolkit

HALF = "Party \ud83c"

kit = Toolkit()


@kit.tool
def data() -> dict[str, Any]:
    """Return data."""
    return {"title": HALF, HALF: [HALF]}


@kit.tool
def text() -> str:
    """Return a text."""
    return HALF


@kit.tool
def refused() -> str:
    """Refuse to answer."""
    raise ToolError(HALF)


@kit.tool
def protocol() -> str:
    """Answer with an error of JSON-RPC."""
    raise McpError(1001, HALF, {HALF: HALF})


@kit.tool
def broken() -> str:
    """Fail."""
    raise LookupError(HALF)


@kit.tool
async def told(ctx: Context) -> str:
    """Tell something before the answer."""
    await ctx.log("info", HALF)
    return "done"


@kit.prompt
def greeting() -> str:
    """Greet somebody."""
    return HALF


@kit.resource("acme://half")
def half() -> dict[str, str]:
    """Something to read."""
    return {"title": HALF}
