"""List entries of the functions under each package's decorator: ``python -m tests.familiar.listing``."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tests.familiar.functions import functions

JSONObject = dict[str, Any]


def ours() -> list[JSONObject]:
    """The entries of a toolkit."""
    from stile import Context, Text, Toolkit
    from stile.testing import TestClient

    kit = Toolkit()
    for function in functions(Context, Text):
        kit.tool(function)
    return TestClient(kit).list_tools()


def official_sdk() -> list[JSONObject]:
    """The entries of the official SDK's server."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.types import TextContent

    server = MCPServer("familiar")
    for function in functions(Context, TextContent):
        server.tool()(function)
    return _dumped(asyncio.run(server.list_tools()))


def fastmcp() -> list[JSONObject]:
    """The entries of FastMCP's server; it is imported by name, for it lives in an environment of its own."""
    package: Any = importlib.import_module("fastmcp")
    types: Any = importlib.import_module("mcp.types")
    server = package.FastMCP("familiar")
    for function in functions(package.Context, types.TextContent):
        server.tool(function)
    return _dumped([each.to_mcp_tool() for each in asyncio.run(server.list_tools())])


def _dumped(tools: Any) -> list[JSONObject]:
    return [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in tools]


PACKAGES: Mapping[str, Callable[[], list[JSONObject]]] = {
    "ours": ours,
    "official-sdk": official_sdk,
    "fastmcp": fastmcp,
}

if __name__ == "__main__":
    json.dump(PACKAGES[sys.argv[1]](), sys.stdout)
