"""The catalog: what its caller may use of an endpoint, hidden entries too, and nothing that they may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle import CatalogTool, JSONObject
from handler.errors import ToolError
from handler.json_shape import to_well_formed_json
from handler.server.call import Call
from handler.server.listing import usable_tools
from handler.server.payload import TOO_LARGE
from handler.server.prompts import prompts_for
from handler.server.resources import resources_for, templates_for
from handler.tools.finding import Sections, find_in_catalog


async def call_catalog(call: Call, tool: CatalogTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Find what fits arguments that were checked, and return an MCP ``CallToolResult``.

    Raises:
        UpstreamError, McpError: as ``usable_tools``.
        ToolError: there is more of it than an answer may be.
    """
    declared = tool.arguments["properties"]
    wanted = {name: value for name, value in arguments.items() if name in declared}
    found = find_in_catalog(await _sections(call), **wanted)
    result = {"content": [{"type": "text", "text": to_well_formed_json(found).decode()}], "structuredContent": found}
    if not call.caller.room.fits(to_well_formed_json(result)):
        raise ToolError(TOO_LARGE)
    return result


async def _sections(call: Call) -> Sections:
    return {
        "tools": [each async for each in usable_tools(call)],
        "prompts": await prompts_for(call.caller),
        "resources": await resources_for(call.caller),
        "resource_templates": await templates_for(call.caller),
    }
