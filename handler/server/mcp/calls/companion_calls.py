"""Call a companion of a GraphQL tool: search or describe the schema that its caller may use through that tool."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from handler.bundle.tools import CompanionTool, GraphQLTool
from handler.errors.calls import ToolError
from handler.list_entries.listed_sizes import BYTES_PER_TOKEN
from handler.server.asgi.deadlines import before
from handler.server.asgi.response_size import encoded
from handler.server.context.caller import Caller
from handler.server.endpoints.schema_views import schema_loading
from handler.server.mcp.messages.method_call import Call
from handler.strict_json import JSONObject

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
            graphql = call.caller.endpoint.bundle.graphql_tool_of(tool)
            text = await asyncio.to_thread(answer_of, call.caller, graphql, tool.does, arguments)
    result: JSONObject = {"content": [{"type": "text", "text": text}]}
    encoded(result, refuse=ToolError, room=call.caller.room)
    return result


def answer_of(caller: Caller, tool: GraphQLTool, does: str, arguments: Mapping[str, Any]) -> str:
    """Return the answer of a companion of a GraphQL tool to checked arguments. Blocks.

    Raises:
        StorageError, BundleError: the schema index cannot be loaded.
    """
    from handler.graph.found_sdl import described_text, found_text

    endpoint, evaluation = caller.endpoint, caller.evaluation
    view = endpoint.schema.view(tool, evaluation.outcome(tool.conditions))
    max_bytes = BYTES_PER_TOKEN * (arguments.get("maxTokens") or TOKENS[does])
    if does == "describe":
        return described_text(view, arguments["coordinates"], max_bytes=max_bytes)
    matches = endpoint.schema.search(tool, evaluation).search(arguments["question"], MATCHES)
    return found_text(view, [(match.coordinate, match.paths) for match in matches], max_bytes=max_bytes)
