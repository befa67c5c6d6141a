"""Call a companion of a GraphQL tool: search or describe the schema that its caller may use through that tool."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from handler.bundle.tools import CompanionTool
from handler.errors.calls import ToolError
from handler.server.asgi.deadlines import before
from handler.server.asgi.response_size import encoded
from handler.server.endpoints.schema_views import schema_loading
from handler.server.mcp.method_call import Call
from handler.strict_json import JSONObject

BYTES_PER_TOKEN = 4

TOKENS: Mapping[str, int] = {"search": 300, "describe": 800}
"""The size of an answer by what a companion does, if its caller does not give one."""

MATCHES = 8


async def call_companion(call: Call, tool: CompanionTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Answer checked arguments, and return an MCP ``CallToolResult``.

    Raises:
        UpstreamError: the schema cannot be loaded.
        ToolError: the result is larger than an answer may be.
        DeadlinePassed: the answer would come too late.
    """
    with schema_loading():
        async with before(call.caller.deadline):
            text = await asyncio.to_thread(_answer, call, tool, arguments)
    result: JSONObject = {"content": [{"type": "text", "text": text}]}
    encoded(result, refuse=ToolError, room=call.caller.room)
    return result


def _answer(call: Call, tool: CompanionTool, arguments: Mapping[str, Any]) -> str:
    from handler.graph.found_sdl import described_text, found_text

    endpoint, evaluation = call.caller.endpoint, call.caller.evaluation
    graphql = endpoint.graphql_tool(tool)
    view = endpoint.schema.view(graphql, evaluation.outcome(graphql.conditions))
    max_bytes = BYTES_PER_TOKEN * (arguments.get("maxTokens") or TOKENS[tool.does])
    if tool.does == "describe":
        return described_text(view, arguments["coordinates"], max_bytes=max_bytes)
    matches = endpoint.schema.search(graphql, evaluation).search(arguments["question"], MATCHES)
    return found_text(view, [(match.coordinate, match.paths) for match in matches], max_bytes=max_bytes)
