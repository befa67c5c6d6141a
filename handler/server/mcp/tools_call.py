"""``tools/call`` for tools of every kind. Modules that run authors' code are imported on first use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
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
from handler.errors import StileError
from handler.errors.access import CredentialRequired
from handler.errors.calls import (
    CallError,
    DeadlinePassed,
    GraphQLErrors,
    NotInCatalog,
    OtherCatalogCall,
    ToolError,
    ToolNotFound,
)
from handler.errors.upstream import UpstreamError
from handler.records import record
from handler.server.asgi.headers import find_mismatch
from handler.server.auth.scopes import require_scopes
from handler.server.mcp.calls.graphql_tools import call_tool, failed
from handler.server.mcp.listing.tools_list import asked_kits, entry_of, tools_of_kit
from handler.server.mcp.messages.jsonrpc import HEADER_MISMATCH, Rejected
from handler.server.mcp.messages.method_call import Call
from handler.server.mcp.messages.revisions import is_modern
from handler.strict_json import JSONObject


@record(frozen=True, slots=True, kw_only=True)
class ProvidedTool:
    """A tool of a toolkit's provider for one caller, with its ``tools/list`` entry."""

    kit: CodeKit
    entry: JSONObject


CODE = "stile/code"
"""The member of a result's ``_meta`` that has the stable code of an error. Clients do not show it to models.

Source: MCP 2025-06-18 and later, basic ("_meta"): a key may have a prefix. Earlier revisions allow any key.
"""

OnFailure = Callable[[Exception], None]


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
    return await _logged(call, name, arguments, partial(_find_and_call, name=name, arguments=arguments))


async def _logged(
    call: Call, name: str, arguments: JSONObject, run: Callable[[Call], Awaitable[JSONObject]]
) -> JSONObject:
    """Run a call, and note the facts that the endpoint's author wants of it."""
    if call.caller.endpoint.bundle.log is None:
        return await run(call)
    from handler.server.mcp.calls.logged_call import logged

    return await logged(call, name, arguments, run)


async def _find_and_call(call: Call, name: str, arguments: JSONObject) -> JSONObject:
    try:
        tool = await _find(call, name)
    except UpstreamError as exc:
        _note_failure(call, exc)
        return _with_code(call, failed(exc), exc.stile_code)
    if isinstance(tool, CatalogTool) and tool.role != "search":
        return await _call_by_name(call, tool, arguments)
    return await _call(call, tool=tool, name=name, arguments=arguments)


async def _call(call: Call, *, tool: Tool | ProvidedTool, name: str, arguments: JSONObject) -> JSONObject:
    codes = [GraphQLErrors.stile_code if isinstance(tool, PrescribedTool | GraphQLTool) else ToolError.stile_code]

    def on_failure(exc: Exception) -> None:
        _note_failure(call, exc)
        codes.append(_code_of(exc))

    result = await _call_found(call, tool, name=name, arguments=arguments, on_failure=on_failure)
    return _with_code(call, result, codes[-1]) if result.get("isError") else result


async def _call_by_name(call: Call, tool: CatalogTool, arguments: JSONObject) -> JSONObject:
    """Call the tool that the arguments name, in the way of a request that names it itself."""
    call.note(kind=tool.KIND)
    try:
        given = call.caller.endpoint.validator(tool, call.caller.evaluation).read(arguments)
        name, inner = given["name"], given.get("arguments", {})
        found = await _find_for(call, tool, name)
    except NotInCatalog as exc:
        call.note(decision="denied", reason=type(exc).__name__)
        return _with_code(call, failed(exc), exc.stile_code)
    except (CallError, UpstreamError) as exc:
        _note_failure(call, exc)
        return _with_code(call, failed(exc), exc.stile_code)
    params = {**call.request.params, "name": name, "arguments": inner}
    call.note(tool=name, through=tool.name)
    whole = replace(call, request=replace(call.request, params=params))
    return await _logged(whole, name, inner, partial(_call, tool=found, name=name, arguments=inner))


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
        found = await _find(call, name)
    except ToolNotFound as exc:
        raise NotInCatalog(name, search=search) from exc
    if isinstance(found, CatalogTool):
        raise NotInCatalog(name, search=search)
    entry = found.entry if isinstance(found, ProvidedTool) else await entry_of(call, found)
    role = "call" if entry is not None and only_reads(entry) else "call-mutation"
    if role != tool.role:
        raise OtherCatalogCall(name, expected=f"{search}-{role}", writes=role == "call-mutation")
    return found


async def _call_found(
    call: Call, tool: Tool | ProvidedTool, *, name: str, arguments: JSONObject, on_failure: OnFailure
) -> JSONObject:
    if isinstance(tool, ProvidedTool):
        return await _call_provided(call, tool, name, arguments, on_failure=on_failure)
    call.note(kind=tool.KIND)
    require_scopes(tool.name, tool.options.scopes, call.caller.principal)
    if isinstance(tool, CodeTool):
        _require_mirrored(call, tool.entry, arguments)
    call.note(decision="allowed")
    match tool:
        case CodeTool():
            from handler.server.mcp.calls.code_tools import call_code_tool

            return await call_code_tool(call, tool, arguments, name=name, on_failure=on_failure)
        case CatalogTool() | CompanionTool():
            return await _call_local(call, tool, arguments, on_failure=on_failure)
        case PrescribedTool() | GraphQLTool():
            return await call_tool(call, tool, arguments, on_failure=on_failure)


def _require_mirrored(call: Call, entry: JSONObject, arguments: Mapping[str, Any]) -> None:
    """Source: MCP 2026-07-28, basic/transports/streamable-http ("Server Behavior for Custom Headers")."""
    if not is_modern(call.request.revision):
        return
    mismatch = find_mismatch(entry["inputSchema"], arguments, call.caller.headers)
    if mismatch:
        raise Rejected(HEADER_MISMATCH, f"Header mismatch: {mismatch}", id=call.request.id)


async def _find(call: Call, name: str) -> Tool | ProvidedTool:
    """Return the endpoint's tool of a name, or else a toolkit provider's tool for this caller."""
    try:
        tool = await call.caller.find_tool(name)
    except (CredentialRequired, ToolNotFound):
        provided = await _find_provided(call, name)
        if provided is None:
            raise
        return provided
    asked = {kit.use for kit in asked_kits(call)}
    if isinstance(tool, CodeTool) and tool.kit in asked:
        from handler.server.mcp.calls.code_tools import may_use

        if not await may_use(call, tool):
            raise call.caller.missing(ToolNotFound(name))
    return tool


async def _find_provided(call: Call, name: str) -> ProvidedTool | None:
    hidden = name in call.caller.endpoint.tools  # a tool of the endpoint that this caller may not use
    for kit in asked_kits(call):
        listed = (await tools_of_kit(call, kit)).get(name)  # asked for a hidden name, too: it may fail
        if listed is not None and not hidden:
            return ProvidedTool(kit=kit, entry=listed.entry)
    return None


async def _call_provided(
    call: Call, tool: ProvidedTool, name: str, arguments: Mapping[str, Any], *, on_failure: OnFailure
) -> JSONObject:
    from handler.server.mcp.calls.code_tools import call_provided_tool

    call.note(kind="code")
    _require_mirrored(call, tool.entry, arguments)
    call.note(decision="allowed")
    return await call_provided_tool(call, tool.kit, name, arguments, on_failure=on_failure)


async def _call_local(
    call: Call, tool: CatalogTool | CompanionTool, arguments: JSONObject, *, on_failure: OnFailure
) -> JSONObject:
    """Call a tool that is answered here, without the API and without an author's code."""
    try:
        arguments = call.caller.endpoint.validator(tool, call.caller.evaluation).read(arguments)
        if isinstance(tool, CatalogTool):
            from handler.server.mcp.listing.catalog import search_catalog

            return await search_catalog(call, tool, arguments)
        from handler.server.mcp.calls.companion_calls import call_companion

        return await call_companion(call, tool, arguments)
    except CallError as exc:
        on_failure(exc)
        return failed(exc)


def _note_failure(call: Call, failure: Exception) -> None:
    """Note decision and reason: a request that reached the API or an author's code was allowed, even if it failed."""
    if isinstance(failure, GraphQLErrors):  # the reason is noted where the errors are read
        call.note(decision="allowed")
        return
    refused = isinstance(failure, CallError) and not isinstance(failure, UpstreamError | DeadlinePassed | ToolError)
    told = _behind(failure)
    reason = told.log_reason if isinstance(told, CallError) else type(told).__name__
    call.note(decision="refused" if refused else "allowed", reason=reason)


def _behind(failure: Exception) -> BaseException:
    """Return the failure of the API behind the failure of a tool in Python; ``failure`` itself if there is none."""
    cause = failure.__cause__
    return cause if isinstance(cause, UpstreamError) and not isinstance(failure, UpstreamError) else failure


def _code_of(failure: Exception) -> str:
    told = _behind(failure)
    return told.stile_code if isinstance(told, StileError) else StileError.stile_code


def _with_code(call: Call, result: JSONObject, code: str) -> JSONObject:
    """Note the code of a failure, and return the result with the code."""
    call.note(code=code)
    return {**result, "_meta": {**result.get("_meta", {}), CODE: code}}
