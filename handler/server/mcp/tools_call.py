"""``tools/call`` for tools of every kind, and the calls of those over GraphQL.

Modules that run authors' code, ask the user, or cut a large result are imported on first use.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handler.bundle.tools import (
    CONFIRM,
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
from handler.errors.calls import CallError, NotInCatalog, OtherCatalogCall, ToolError, ToolNotFound
from handler.list_entries import BYTES_PER_TOKEN
from handler.server.asgi.deadlines import before
from handler.server.asgi.headers import find_mismatch
from handler.server.asgi.response_size import encoded
from handler.server.auth.principal import require_scopes
from handler.server.context import Caller, with_schema
from handler.server.mcp.graphql_results import failed_result, result_of, text_block, with_failure_code
from handler.server.mcp.jsonrpc import HEADER_MISMATCH, Call, Rejected
from handler.server.mcp.revisions import is_modern
from handler.server.mcp.tools_list import entry_for, kits_per_caller
from handler.server.upstream.bound_variables import persisted_request
from handler.server.upstream.graphql_client import execute
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from handler.code_tools.return_values import ToolCall


@record(frozen=True, slots=True, kw_only=True)
class ProvidedTool:
    """A tool of a toolkit's provider for one caller, with its ``tools/list`` entry."""

    KIND = CodeTool.KIND

    name: str
    kit: CodeKit
    entry: JSONObject


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
                inner = call.read(catalog, arguments)
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
                # Source: MCP 2026-07-28, basic/transports/streamable-http ("Server Behavior for Custom Headers").
                mismatch = find_mismatch(tool.entry["inputSchema"], arguments, call.caller.headers)
                if mismatch:
                    raise Rejected(HEADER_MISMATCH, f"Header mismatch: {mismatch}", id=call.request.id)
            call.note(decision="allowed")
            result = await CALLS[type(tool)](call, tool, arguments)
            if not isinstance(result, dict):
                call, tool = await _next_call(call, tool, result)
                result = await call_over_graphql(call, tool, call.request.params["arguments"])
        except CallError as exc:
            result = failed_result(call, tool, exc)
        return with_failure_code(call, tool, result) if result.get("isError") else result


def _logged(call: Call, name: str, arguments: JSONObject) -> AbstractContextManager[None]:
    """Note the facts of a call that the endpoint's author wants in the log."""
    if call.caller.endpoint.bundle.log is None:
        return nullcontext()
    from handler.server.mcp.logged_call import logged

    return logged(call, name, arguments)


async def _find(call: Call, name: str) -> Tool | ProvidedTool:
    """Return the endpoint's tool of a name, or else a toolkit provider's tool for this caller."""
    try:
        tool = await call.caller.find_tool(name)
    except (CredentialRequired, ToolNotFound):
        hidden = name in call.caller.endpoint.tools  # a tool of the endpoint that this caller may not use
        for kit in kits_per_caller(call):
            from handler.server.mcp.code_tools import tools_of_kit

            listed = (await tools_of_kit(call, kit)).get(name)  # asked for a hidden name, too: it may fail
            if listed is not None and not hidden:
                return ProvidedTool(name=name, kit=kit, entry=listed.entry)
        raise
    if isinstance(tool, CodeTool) and any(kit.use == tool.kit for kit in kits_per_caller(call)):
        from handler.server.mcp.code_tools import may_use

        if not await may_use(call, tool):
            raise call.caller.missing(ToolNotFound(name))
    return tool


async def _find_for(call: Call, catalog_call: CatalogTool, name: str) -> Tool | ProvidedTool:
    """Return the tool of a name, if this tool of the catalog is the one to call it.

    A host that lets models use the one for reading without asking its user does not let them change anything by it.

    Raises:
        NotInCatalog: the caller has no such tool, whether or not it exists. A model reads it, and may search.
        OtherCatalogCall: it is for the other one.
        CredentialRequired: as ``call_any_tool``.
    """
    catalog = call.caller.endpoint.catalog
    search = catalog.name if catalog else catalog_call.name
    try:
        tool = await _find(call, name)
    except ToolNotFound as exc:
        raise NotInCatalog(name, search=search) from exc
    if isinstance(tool, CatalogTool):
        raise NotInCatalog(name, search=search)
    entry = tool.entry if isinstance(tool, ProvidedTool) else await entry_for(call.caller, tool)
    role = "call" if entry is not None and only_reads(entry) else "call-mutation"
    if role != catalog_call.role:
        raise OtherCatalogCall(name, expected=f"{search}-{role}", writes=role == "call-mutation")
    return tool


async def _next_call(call: Call, tool: Tool | ProvidedTool, returned: ToolCall) -> tuple[Call, PrescribedTool]:
    """Return the call that a tool in Python returns as its result, with the tool to call.

    Raises:
        ToolNotFound, CredentialRequired, InsufficientScope: the caller may not use the tool to call.
        ToolError: the tool to call does not run an operation, or asks for consent.
    """
    name = returned.name
    other = await call.caller.find_tool(name)
    if not isinstance(other, PrescribedTool) or other.options.confirm:
        raise ToolError(
            f"{tool.name} calls {name}: expected the tool of an operation, without confirm. Nothing was sent."
        )
    require_scopes(name, other.options.scopes, call.caller.principal)
    call.note(tool=name, through=call.caller.facts.get("through", tool.name))
    params = {**call.request.params, "name": name, "arguments": returned.arguments}
    return replace(call, request=replace(call.request, params=params)), other


async def call_over_graphql(call: Call, tool: PrescribedTool | GraphQLTool, arguments: JSONObject) -> JSONObject:
    """Call a tool that runs a persisted operation, or the caller's document.

    Return a ``CallToolResult``, or an ``input_required`` result.

    Raises:
        CallError: the call failed for a reason that a model can act on.
        StateRefused: the call answers a question that was not asked, or one of another call or caller.
    """
    if arguments.get("variables") == "" and not (isinstance(tool, PrescribedTool) and tool.flat):
        arguments = {**arguments, "variables": {}}  # as an empty operationName
    arguments, caller, continued, document = call.read(tool, arguments), call.caller, None, None
    async with before(caller.deadline):
        if tool.options.cursor:
            from handler.server.mcp.long_answers import continuation_of

            continued = await continuation_of(call, tool, arguments)
            arguments = continued.arguments
        if isinstance(tool, PrescribedTool):
            if tool.polls or (tool.task and tool.task.required):
                from handler.server.mcp.tasks import call_status_tool, require_extension

                if tool.polls:
                    return await call_status_tool(call, tool, arguments["taskId"])
                require_extension(call)
            request, asks = prepare_prescribed_call(caller, tool, arguments), bool(tool.options.confirm)
        else:
            from handler.server.graphql_documents import prepare_arguments

            document = await prepare_arguments(caller, tool, arguments)
            request, asks = document.request, bool(document.consent_for)
        if asks:
            from handler.server.mcp.input_required import ask_consent

            variables = _variables(tool, arguments) if isinstance(tool, PrescribedTool) else request.variables
            consent = await ask_consent(call, tool, arguments, request, shown=variables)
            if not isinstance(consent, GraphQLRequest):
                return consent
            request = consent
        if document is None:
            response = await execute(caller, request)
        else:
            from handler.server.graphql_documents import run

            response = await run(caller, replace(document, request=request))
        if isinstance(tool, PrescribedTool) and tool.task:
            from handler.server.mcp.tasks import result_of_start

            if (result := await result_of_start(call, tool, tool.task, request, response)) is not None:
                return result
        # An answer about the schema has a limit of its own.
        is_limited = document is None or document.answer is None
        return await result_of(call, tool, request, response, is_limited=is_limited, continued=continued)


def prepare_prescribed_call(caller: Caller, tool: PrescribedTool, arguments: Mapping[str, Any]) -> GraphQLRequest:
    """Return the request of a call with validated arguments.

    Raises:
        CallError: the request lacks the value of a bound variable, or a policy does not allow these values.
    """
    return persisted_request(caller, tool, _variables(tool, arguments), name=tool.name)


def _variables(tool: PrescribedTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Return the operation's variables among the arguments."""
    variables = tool.operation.sendable(arguments if tool.flat else arguments.get("variables") or {})
    confirmed = tool.options.confirm == "advisory" and tool.flat
    return {name: value for name, value in variables.items() if not (confirmed and name == CONFIRM)}


TOKENS: Mapping[str, int] = {"search": 750, "describe": 800}
"""The size of an answer by what a companion does, if its caller does not give one."""

MATCHES = 8


async def call_companion(call: Call, tool: CompanionTool, arguments: JSONObject) -> JSONObject:
    """Search or describe the schema that the caller may use through a GraphQL tool. Return a ``CallToolResult``.

    Raises:
        InvalidArguments: the arguments do not fit the tool's schema.
        UpstreamError: the schema cannot be loaded.
        ToolError: the result is larger than an answer may be.
        DeadlinePassed: the answer would come too late.
    """
    arguments = call.read(tool, arguments)
    graphql = call.caller.endpoint.bundle.graphql_tool_of(tool)
    async with before(call.caller.deadline):
        text = await with_schema(answer_of, call.caller, graphql, tool.does, arguments)
    result: JSONObject = {"content": [text_block(text)]}
    encoded(result, refuse=ToolError, room=call.caller.room)
    return result


def answer_of(caller: Caller, tool: GraphQLTool, does: str, arguments: Mapping[str, Any]) -> str:
    """Return the answer of a companion of a GraphQL tool to checked arguments. Blocks.

    Raises:
        StorageError, BundleError: the schema index cannot be loaded.
    """
    from handler.graph.found_sdl import described_text, found_text
    from handler.search.schema_search import strong_of

    schema, evaluation = caller.endpoint.schema, caller.evaluation
    view = schema.view(tool, evaluation.outcome(tool.conditions))
    max_bytes = BYTES_PER_TOKEN * (arguments.get("maxTokens") or TOKENS[does])
    if does == "describe":
        return described_text(view, arguments["coordinates"], max_bytes=max_bytes)
    matches = schema.search(tool, evaluation).search(arguments["question"], MATCHES)
    found = [(match.coordinate, match.paths) for match in matches]
    return found_text(view, found, max_bytes=max_bytes, strong=strong_of(matches))


async def _search_catalog(call: Call, tool: CatalogTool, arguments: JSONObject) -> JSONObject:
    from handler.server.mcp.catalog import search_catalog

    return await search_catalog(call, tool, call.read(tool, arguments))


async def _call_code(call: Call, tool: CodeTool | ProvidedTool, arguments: JSONObject) -> JSONObject | ToolCall:
    from handler.server.mcp.code_tools import call_code_tool, call_provided_tool

    if isinstance(tool, ProvidedTool):
        return await call_provided_tool(call, tool.kit, tool.name, arguments)
    return await call_code_tool(call, tool, arguments)


CALLS: Mapping[type[Tool | ProvidedTool], Callable[[Call, Any, JSONObject], Awaitable[JSONObject | ToolCall]]] = {
    PrescribedTool: call_over_graphql,
    GraphQLTool: call_over_graphql,
    CompanionTool: call_companion,
    CatalogTool: _search_catalog,
    CodeTool: _call_code,
    ProvidedTool: _call_code,
}
"""The function that calls the tools of a kind, with arguments as the client sent them."""
