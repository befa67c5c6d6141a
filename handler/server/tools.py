"""What a caller sees of an endpoint's tools, and what happens when one is called."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handler.bundle import CONFIRM, Bundle, GraphQLTool, JSONObject, PrescribedTool, Tool, to_json_bytes
from handler.errors import (
    BundleError,
    CallError,
    ConsentRequired,
    InvalidArguments,
    StorageError,
    ToolNotFound,
    UpstreamError,
)
from handler.http import HttpClient
from handler.json_shape import nests_deeper
from handler.policy import Mask
from handler.server.endpoints import Endpoint
from handler.server.upstream import GraphQLRequest, execute

MAX_PAYLOAD_BYTES = 6_200_000
"""What Lambda takes as an answer is 6 MiB, headers included. In it the body is a JSON text in JSON once more."""

SURELY_SMALL_BYTES = MAX_PAYLOAD_BYTES // 13
"""A response below this fits whatever is in it: twice in the body, and a quote of it grows from 2 bytes to 12."""

MAX_NESTING = 64
"""How deep lists and objects may stand in each other in arguments: enough for any filter, and far from where
validating them meets Python's own recursion limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One endpoint as one caller has it: the outcome says which conditions hold for them."""

    endpoint: Endpoint
    outcome: Mask
    http: HttpClient


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
        variables=_variables(tool, arguments),
        is_query=tool.operation.kind == "query",
    )
    return _result(await execute(caller.http, caller.endpoint.bundle.upstream, request), tool)


async def _call_graphql(caller: Caller, tool: GraphQLTool, arguments: Mapping[str, Any]) -> JSONObject:
    from handler.graph.document import answer_introspection, check_document

    try:
        schemas = await asyncio.to_thread(caller.endpoint.view_schemas, tool, caller.outcome)
    except (StorageError, BundleError) as exc:
        raise UpstreamError("The schema of this tool cannot be loaded at the moment. Try later.") from exc
    checked = check_document(
        arguments["query"],
        schemas=schemas,
        operation_name=arguments.get("operationName"),
        variables=arguments.get("variables") or {},
        limits=tool.limits,
    )
    if checked.introspection:
        return _result(answer_introspection(checked, schemas), tool)
    if checked.kind != "query":
        _require_consent(tool, arguments)
    request = GraphQLRequest(
        text=checked.text,
        sha256="",
        operation_name=checked.name,
        variables=checked.variables,
        is_query=checked.kind == "query",
    )
    return _result(await execute(caller.http, caller.endpoint.bundle.upstream, request), tool)


def _variables(tool: PrescribedTool, arguments: Mapping[str, Any]) -> JSONObject:
    """The operation's variables among the arguments."""
    given = arguments if tool.flat else arguments.get("variables", {})
    confirmed = tool.options.confirm and tool.flat
    absent = tool.operation.null_is_absent
    return {
        name: value
        for name, value in given.items()
        if not (name in absent and value is None) and not (confirmed and name == CONFIRM)
    }


def _require_consent(tool: Tool, arguments: Mapping[str, Any]) -> None:
    if tool.options.confirm and arguments.get(CONFIRM) is not True:
        raise ConsentRequired(tool.name, argument=CONFIRM)


def _result(response: JSONObject, tool: Tool) -> JSONObject:
    """A GraphQL response as a tool result. Errors beside usable data do not make it an error."""
    try:
        text = to_json_bytes(response)
    except RecursionError as exc:
        raise UpstreamError("The API's answer is nested too deeply. Ask for less.") from exc
    output = tool.options.output
    result: JSONObject = {"content": [] if output == "structured" else [_text(text.decode())]}
    if output != "text":
        result["structuredContent"] = response
    data = response.get("data") or {}
    if "errors" in response and all(value is None for value in data.values()):
        result["isError"] = True
    if len(text) > SURELY_SMALL_BYTES and _payload_bytes(result) > MAX_PAYLOAD_BYTES:
        raise UpstreamError("The result is larger than an answer may be. Ask for fewer rows or fields.")
    return _with_meta(result, tool)


def _with_meta(result: JSONObject, tool: Tool) -> JSONObject:
    return {**result, "_meta": dict(tool.options.meta)} if tool.options.meta else result


def _payload_bytes(content: JSONObject) -> int:
    return len(to_json_bytes(to_json_bytes(content).decode()))


def _text(text: str) -> JSONObject:
    return {"type": "text", "text": text}
