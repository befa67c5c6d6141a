"""What a caller sees of an endpoint's tools, and what happens when one is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle import CONFIRM, Bundle, GraphQLTool, JSONObject, PrescribedTool, Tool
from handler.errors import CallError, ConsentRequired, InvalidArguments, ToolNotFound, UpstreamError
from handler.json_shape import MAX_NESTING, nests_deeper, to_json_bytes
from handler.policy import Mask
from handler.server.bindings import fill_bound
from handler.server.caller import Caller
from handler.server.documents import Document, prepare_document, run
from handler.server.payload import SURELY_SMALL_BYTES, TOO_DEEP, TOO_LARGE, fits
from handler.server.upstream import GraphQLRequest, execute


def list_entries(bundle: Bundle, outcome: Mask) -> list[JSONObject]:
    """The ``tools/list`` entries for callers of one outcome, in the order of the bundle."""
    entries = (entry_of(tool, outcome) for tool in bundle.tools if not tool.options.hidden)
    return [entry for entry in entries if entry is not None]


def entry_of(tool: Tool, outcome: Mask) -> JSONObject | None:
    """A tool as callers of one outcome would see it listed; nothing where they cannot use it."""
    match tool:
        case PrescribedTool():
            return tool.entry if tool.mask <= outcome else None
        case GraphQLTool():
            return next((listing.entry for listing in tool.listings if listing.outcome == outcome), None)


async def call_tool(caller: Caller, name: str, arguments: Mapping[str, Any]) -> JSONObject:
    """Call a tool and return an MCP ``CallToolResult``.

    What goes wrong for a reason that a model can act on is a result with ``isError``.

    Raises:
        ToolNotFound: there is no such tool for this caller, which is the same whether or not it exists.
    """
    tool = find_tool(caller, name)
    try:
        if nests_deeper(arguments, MAX_NESTING):
            raise InvalidArguments(name, [f"/: nested more than {MAX_NESTING} deep"])
        caller.endpoint.validator(tool).check(arguments)
        match tool:
            case PrescribedTool():
                return await _call_prescribed(caller, tool, arguments)
            case GraphQLTool():
                return await _call_graphql(caller, tool, arguments)
    except CallError as exc:
        return _with_meta({"content": [_text(str(exc))], "isError": True}, tool)


def find_tool(caller: Caller, name: str) -> Tool:
    """The tool of a name or an alias.

    Raises:
        ToolNotFound: there is none for this caller, which is the same whether or not it exists.
    """
    tool = caller.endpoint.tools.get(name)
    if tool is None or entry_of(tool, caller.outcome) is None:
        raise ToolNotFound(name)
    return tool


async def _call_prescribed(caller: Caller, tool: PrescribedTool, arguments: Mapping[str, Any]) -> JSONObject:
    _require_consent(tool, arguments)
    request = GraphQLRequest(
        text=tool.operation.text,
        sha256=tool.operation.sha256,
        operation_name=tool.operation.name,
        variables={**_variables(tool, arguments), **fill_bound(caller, tool, name=tool.name)},
        is_query=tool.operation.kind == "query",
    )
    return _result(await execute(caller.http, caller.endpoint.bundle.upstream, request), tool)


async def _call_graphql(caller: Caller, tool: GraphQLTool, arguments: Mapping[str, Any]) -> JSONObject:
    document = Document(
        text=arguments["query"],
        operation_name=arguments.get("operationName"),
        variables=arguments.get("variables") or {},
    )
    prepared = await prepare_document(caller, document, tool=tool)
    if prepared.kind != "query":
        _require_consent(tool, arguments)
    return _result(await run(caller, prepared), tool)


def _variables(tool: PrescribedTool, arguments: Mapping[str, Any]) -> JSONObject:
    """The operation's variables among the arguments."""
    given = arguments if tool.flat else arguments.get("variables") or {}
    confirmed = tool.options.confirm and tool.flat
    sent = tool.operation.sendable(given)
    return {name: value for name, value in sent.items() if not (confirmed and name == CONFIRM)}


def _require_consent(tool: Tool, arguments: Mapping[str, Any]) -> None:
    if tool.options.confirm and arguments.get(CONFIRM) is not True:
        raise ConsentRequired(tool.name, say=f'"{CONFIRM}": true')


def _result(response: JSONObject, tool: Tool) -> JSONObject:
    """A GraphQL response as a tool result. Errors beside usable data do not make it an error."""
    try:
        text = to_json_bytes(response)
    except RecursionError as exc:
        raise UpstreamError(TOO_DEEP) from exc
    output = tool.options.output
    result: JSONObject = {"content": [] if output == "structured" else [_text(text.decode())]}
    if output != "text":
        result["structuredContent"] = response
    data = response.get("data") or {}
    if "errors" in response and all(value is None for value in data.values()):
        result["isError"] = True
    if len(text) > SURELY_SMALL_BYTES and not fits(to_json_bytes(result)):
        raise UpstreamError(TOO_LARGE)
    return _with_meta(result, tool)


def _with_meta(result: JSONObject, tool: Tool) -> JSONObject:
    return {**result, "_meta": dict(tool.options.meta)} if tool.options.meta else result


def _text(text: str) -> JSONObject:
    return {"type": "text", "text": text}
