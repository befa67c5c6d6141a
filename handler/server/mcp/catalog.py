"""The catalog: search all that its caller may use of an endpoint, hidden entries included, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle.tools import CatalogTool
from handler.code_tools.catalog_search import Sections, find_in_catalog
from handler.errors.calls import ToolError
from handler.server.asgi.response_size import encoded
from handler.server.mcp.method_call import Call
from handler.server.mcp.prompts import prompts_for
from handler.server.mcp.resources import resources_for, templates_for
from handler.server.mcp.tools_list import usable_tools
from handler.strict_json import JSONObject, to_well_formed_json


async def call_catalog(call: Call, tool: CatalogTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Find the entries that fit checked arguments, and return an MCP ``CallToolResult``.

    Raises:
        UpstreamError, McpError: as ``usable_tools``.
        ToolError: the result is larger than an answer may be.
    """
    declared = tool.arguments["properties"]
    wanted = {name: value for name, value in arguments.items() if name in declared}
    found = find_in_catalog(await _sections(call), **wanted)
    result = {"content": [{"type": "text", "text": to_well_formed_json(found).decode()}], "structuredContent": found}
    encoded(result, refuse=ToolError, room=call.caller.room)
    return result


async def _sections(call: Call) -> Sections:
    return {
        "tools": [each async for each in usable_tools(call)],
        "prompts": await prompts_for(call.caller),
        "resources": await resources_for(call.caller),
        "resource_templates": await templates_for(call.caller),
    }
