"""Tools that differ from caller to caller, and who may use them."""

from __future__ import annotations

import asyncio
from typing import Any

from stile import Context, ToolError, Toolkit

PLUGINS = {"acme": ["invoice", "refund"], "globex": ["invoice"]}

MIRRORED = {"routed": "string", "misrouted": "object"}
"""Tenants of an argument that headers repeat, and its type."""


class Plugins:
    """A tenant's plugins."""

    async def tools(self, ctx: Context) -> list[dict[str, Any]]:
        tenant = (ctx.auth or {}).get("tenant", "")
        if tenant == "slow":
            await asyncio.sleep(600)
        if tenant == "broken":
            raise RuntimeError("boom at /home/author")
        if tenant in MIRRORED:
            mirrored = {"type": MIRRORED[tenant], "x-mcp-header": "Region"}
            return [{"name": "regional", "inputSchema": {"type": "object", "properties": {"region": mirrored}}}]
        return [{"name": name, "inputSchema": {"type": "object"}} for name in PLUGINS.get(tenant, [])]

    async def call(self, name: str, arguments: dict[str, Any], ctx: Context) -> Any:
        if name == "refund":
            raise ToolError("nothing to refund")
        return {"done": name, "for": (ctx.auth or {})["tenant"], "arguments": arguments}


def _is_known(entry: dict[str, Any], ctx: Context) -> bool:
    if (ctx.auth or {}).get("tenant") == "undecided":
        raise RuntimeError("boom at /home/author")
    return entry["name"] != "report" or (ctx.auth or {}).get("tenant") == "acme"


kit = Toolkit(allow=_is_known)


@kit.tool(scopes=["reports"])
def report() -> str:
    """A tenant's report."""
    return "all well"


@kit.tool
def help_me() -> str:
    """For everybody."""
    return "help"


kit.add_provider(Plugins())
