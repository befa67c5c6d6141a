"""What a caller sees of an endpoint's tools, and what happens when one is called."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handler.bundle import Bundle, GraphQLTool, JSONObject, PrescribedTool, Tool, to_json_bytes
from handler.errors import BundleError, CallError, StorageError, ToolNotFound, UpstreamError
from handler.http import HttpClient
from handler.policy import Mask
from handler.server.endpoints import Endpoint
from handler.server.upstream import GraphQLRequest, execute

MAX_RESULT_BYTES = 2_500_000
"""Text and structured content say the same twice, and Lambda's answer may have 6 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One endpoint as one caller has it: the outcome says which conditions hold for them."""

    endpoint: Endpoint
    outcome: Mask
    http: HttpClient


def list_entries(bundle: Bundle, outcome: Mask) -> list[JSONObject]:
    """The ``tools/list`` entries for callers of one outcome, in the order of the bundle."""
    entries = (_entry(tool, outcome) for tool in bundle.tools)
    return [entry for entry in entries if entry is not None]


async def call_tool(caller: Caller, name: str, arguments: Mapping[str, Any]) -> JSONObject:
    """Call a tool and return an MCP ``CallToolResult``.

    What goes wrong for a reason that a model can act on is a result with ``isError``.

    Raises:
        ToolNotFound: there is no such tool for this caller, which is the same whether or not it exists.
    """
    tool = caller.endpoint.tools.get(name)
    if tool is None or _entry(tool, caller.outcome) is None:
        raise ToolNotFound(name)
    try:
        caller.endpoint.validator(tool).check(arguments)
        match tool:
            case PrescribedTool():
                return await _call_prescribed(caller, tool, arguments)
            case GraphQLTool():
                return await _call_graphql(caller, tool, arguments)
    except CallError as exc:
        return {"content": [_text(str(exc))], "isError": True}


def _entry(tool: Tool, outcome: Mask) -> JSONObject | None:
    match tool:
        case PrescribedTool():
            return tool.entry if tool.mask <= outcome else None
        case GraphQLTool():
            return next((listing.entry for listing in tool.listings if listing.outcome == outcome), None)


async def _call_prescribed(caller: Caller, tool: PrescribedTool, arguments: Mapping[str, Any]) -> JSONObject:
    request = GraphQLRequest(
        text=tool.operation.text,
        operation_name=tool.operation.name,
        variables=arguments if tool.flat else arguments.get("variables", {}),
        is_query=tool.operation.kind == "query",
    )
    response = await execute(caller.http, caller.endpoint.bundle.upstream, request)
    return _result(response, structured="outputSchema" in tool.entry)


async def _call_graphql(caller: Caller, tool: GraphQLTool, arguments: Mapping[str, Any]) -> JSONObject:
    from handler.graph.document import answer_introspection, check_document

    try:
        schema = await asyncio.to_thread(caller.endpoint.view_schema, tool, caller.outcome)
    except (StorageError, BundleError) as exc:
        raise UpstreamError("The schema of this tool cannot be loaded at the moment. Try later.") from exc
    checked = check_document(
        arguments["query"],
        schema=schema,
        operation_name=arguments.get("operationName"),
        variables=arguments.get("variables") or {},
        limits=caller.endpoint.bundle.limits,
    )
    if checked.introspection:
        return _result(answer_introspection(checked, schema), structured=False)
    request = GraphQLRequest(
        text=checked.text,
        operation_name=checked.name,
        variables=checked.variables,
        is_query=checked.kind == "query",
    )
    return _result(await execute(caller.http, caller.endpoint.bundle.upstream, request), structured=False)


def _result(response: JSONObject, *, structured: bool) -> JSONObject:
    """A GraphQL response as a tool result. Errors beside usable data do not make it an error."""
    text = to_json_bytes(response)
    if len(text) > MAX_RESULT_BYTES:
        raise UpstreamError(f"The result has more than {MAX_RESULT_BYTES} bytes. Ask for fewer rows or fields.")
    content: JSONObject = {"content": [_text(text.decode())]}
    if structured:
        content["structuredContent"] = response
    data = response.get("data") or {}
    if "errors" in response and all(value is None for value in data.values()):
        content["isError"] = True
    return content


def _text(text: str) -> JSONObject:
    return {"type": "text", "text": text}
