"""``tools/call`` for tools of every kind. Modules that run authors' code are imported on first use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import Any

from handler.bundle.tools import (
    CatalogTool,
    CodeKit,
    CodeTool,
    CompanionTool,
    GraphQLTool,
    PrescribedTool,
    Tool,
    only_reads,
)
from handler.cold.records import record
from handler.errors.access import CredentialRequired
from handler.errors.calls import CallError, GraphQLErrors, NotInCatalog, OtherCatalogCall, ToolError, ToolNotFound
from handler.server.asgi.headers import find_mismatch
from handler.server.auth.scopes import require_scopes
from handler.server.mcp.calls.graphql_tools import call_companion, call_graphql, call_prescribed, failed
from handler.server.mcp.listing.tools_list import asked_kits, entry_for, tools_of_kit
from handler.server.mcp.messages.jsonrpc import HEADER_MISMATCH, Rejected
from handler.server.mcp.messages.method_call import Call
from handler.server.mcp.messages.revisions import is_modern
from handler.strict_json import JSONObject


@record(frozen=True, slots=True, kw_only=True)
class ProvidedTool:
    """A tool of a toolkit's provider for one caller, with its ``tools/list`` entry."""

    KIND = CodeTool.KIND

    name: str
    kit: CodeKit
    entry: JSONObject


CODE = "stile/code"
"""The member of a result's ``_meta`` that has the stable code of an error. Clients do not show it to models.

Source: MCP 2025-06-18 and later, basic ("_meta"): a key may have a prefix. Earlier revisions allow any key.
"""


async def call_any_tool(call: Call, name: str, arguments: JSONObject) -> JSONObject:
    """Call a tool by its name or an alias. Return a ``CallToolResult``, or an ``input_required`` result.

    A result with ``isError`` has the code of the failure. If nothing failed, the API answered with errors, or a tool in
    Python returned the error.

    Raises:
        ToolNotFound, CredentialRequired: the caller has no such tool, whether or not it exists.
        InsufficientScope: the caller's claims lack scopes of the tool.
        McpError: a code tool raises it, or a toolkit cannot list its tools.
        Rejected: a header differs from its argument, or a tool asks for input that the client does not support.
    """
    tool: Tool | ProvidedTool | None = None
    with ExitStack() as log:
        log.enter_context(_logged(call, name, arguments))
        try:
            tool = await _find(call, name)
            if isinstance(tool, CatalogTool) and tool.role != "search":
                catalog, tool = tool, None
                call.note(kind=catalog.KIND)
                inner = call.caller.endpoint.validator(catalog, call.caller.evaluation).read(arguments)
                name, arguments = inner["name"], inner.get("arguments", {})
                tool = await _find_for(call, catalog, name)
                params = {**call.request.params, "name": name, "arguments": arguments}
                call.note(tool=name, through=catalog.name)
                call = replace(call, request=replace(call.request, params=params))
                log.enter_context(_logged(call, name, arguments))
            call.note(kind=tool.KIND)
            if not isinstance(tool, ProvidedTool):
                require_scopes(tool.name, tool.options.scopes, call.caller.principal)
            if isinstance(tool, CodeTool | ProvidedTool) and is_modern(call.request.revision):
                _require_mirrored(call, tool.entry, arguments)
            call.note(decision="allowed")
            result = await CALLS[type(tool)](call, tool, arguments)
        except CallError as exc:
            result = failed(call, tool, exc)
            call.fail(exc)
        if not result.get("isError"):
            return result
        by_api = isinstance(tool, PrescribedTool | GraphQLTool)
        code = call.failure_code or (GraphQLErrors if by_api else ToolError).stile_code
        call.note(code=code)
    return {**result, "_meta": {**result.get("_meta", {}), CODE: code}}


def _logged(call: Call, name: str, arguments: JSONObject) -> AbstractContextManager[None]:
    """Note the facts of a call that the endpoint's author wants in the log."""
    if call.caller.endpoint.bundle.log is None:
        return nullcontext()
    from handler.server.mcp.calls.logged_call import logged

    return logged(call, name, arguments)


async def _find(call: Call, name: str) -> Tool | ProvidedTool:
    """Return the endpoint's tool of a name, or else a toolkit provider's tool for this caller."""
    try:
        tool = await call.caller.find_tool(name)
    except (CredentialRequired, ToolNotFound):
        hidden = name in call.caller.endpoint.tools  # a tool of the endpoint that this caller may not use
        for kit in asked_kits(call):
            listed = (await tools_of_kit(call, kit)).get(name)  # asked for a hidden name, too: it may fail
            if listed is not None and not hidden:
                return ProvidedTool(name=name, kit=kit, entry=listed.entry)
        raise
    if isinstance(tool, CodeTool) and any(kit.use == tool.kit for kit in asked_kits(call)):
        from handler.server.mcp.calls.code_tools import may_use

        if not await may_use(call, tool):
            raise call.caller.missing(ToolNotFound(name))
    return tool


async def _find_for(call: Call, tool: CatalogTool, name: str) -> Tool | ProvidedTool:
    """Return the tool of a name, if this tool of the catalog is the one to call it.

    A host that lets models use the one for reading without asking its user does not let them change anything by it.

    Raises:
        NotInCatalog: the caller has no such tool, whether or not it exists. A model reads it, and may search.
        OtherCatalogCall: it is for the other one.
        CredentialRequired: as ``call_any_tool``.
    """
    catalog = call.caller.endpoint.catalog
    search = catalog.name if catalog else tool.name
    try:
        target = await _find(call, name)
    except ToolNotFound as exc:
        raise NotInCatalog(name, search=search) from exc
    if isinstance(target, CatalogTool):
        raise NotInCatalog(name, search=search)
    entry = target.entry if isinstance(target, ProvidedTool) else await entry_for(call.caller, target)
    role = "call" if entry is not None and only_reads(entry) else "call-mutation"
    if role != tool.role:
        raise OtherCatalogCall(name, expected=f"{search}-{role}", writes=role == "call-mutation")
    return target


def _require_mirrored(call: Call, entry: JSONObject, arguments: Mapping[str, Any]) -> None:
    """Source: MCP 2026-07-28, basic/transports/streamable-http ("Server Behavior for Custom Headers")."""
    mismatch = find_mismatch(entry["inputSchema"], arguments, call.caller.headers)
    if mismatch:
        raise Rejected(HEADER_MISMATCH, f"Header mismatch: {mismatch}", id=call.request.id)


async def _search_catalog(call: Call, tool: CatalogTool, arguments: JSONObject) -> JSONObject:
    from handler.server.mcp.listing.catalog import search_catalog

    arguments = call.caller.endpoint.validator(tool, call.caller.evaluation).read(arguments)
    return await search_catalog(call, tool, arguments)


async def _call_code(call: Call, tool: CodeTool, arguments: JSONObject) -> JSONObject:
    from handler.server.mcp.calls.code_tools import call_code_tool

    return await call_code_tool(call, tool, arguments)


async def _call_provided(call: Call, tool: ProvidedTool, arguments: JSONObject) -> JSONObject:
    from handler.server.mcp.calls.code_tools import call_provided_tool

    return await call_provided_tool(call, tool.kit, tool.name, arguments)


CALLS: Mapping[type[Tool | ProvidedTool], Callable[[Call, Any, JSONObject], Awaitable[JSONObject]]] = {
    PrescribedTool: call_prescribed,
    GraphQLTool: call_graphql,
    CompanionTool: call_companion,
    CatalogTool: _search_catalog,
    CodeTool: _call_code,
    ProvidedTool: _call_provided,
}
"""The function that calls the tools of a kind, with arguments as the client sent them."""
