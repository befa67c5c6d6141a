"""Call a tool over GraphQL: check its arguments, send the operation, and return the result; and call its companions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handler.bundle.tools import CONFIRM, CompanionTool, GraphQLTool, PrescribedTool, Tool
from handler.errors.calls import CallError, ToolError, ValuesRefused
from handler.errors.upstream import AnswerMisfit, UpstreamError
from handler.list_entries.listed_sizes import BYTES_PER_TOKEN
from handler.server.asgi.deadlines import before
from handler.server.asgi.response_size import TOO_LARGE, Room, encoded
from handler.server.context.caller import Caller
from handler.server.endpoints.schema_views import schema_loading
from handler.server.mcp.messages.method_call import Call
from handler.server.upstream.bound_variables import fill_bound
from handler.server.upstream.graphql_client import carried_out, execute, telling_answer
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject, to_well_formed_json

if TYPE_CHECKING:
    from handler.answers.fit import Fitted
    from handler.server.mcp.calls.cursors import Continuation


async def call_prescribed(call: Call, tool: PrescribedTool, arguments: JSONObject) -> JSONObject:
    """Call a tool that runs a persisted operation. Return a ``CallToolResult``, or an ``input_required`` result.

    Raises:
        CallError: the call failed for a reason that a model can act on.
        StateRefused: the call answers a question that was not asked, or one of another call or caller.
    """
    arguments, caller = _read(call, tool, arguments), call.caller
    async with before(caller.deadline):
        arguments, continued = await _continuation(call, tool, arguments)
        request = prepare_prescribed_call(caller, tool, arguments)
        if tool.options.confirm:
            from handler.server.mcp.calls.consent import ConsentRequest, ask_consent

            consent = await ask_consent(call, tool, arguments, request, shown=_variables(tool, arguments))
            if isinstance(consent, ConsentRequest):
                return consent.result
            request = consent
        response = await execute(caller, request)
        with telling_answer(request):
            misfit = caller.endpoint.misfit(tool, response)
            if misfit:
                advice = carried_out(response) if tool.operation.kind == "mutation" else ""
                answer = encoded(response, refuse=UpstreamError).decode()
                raise AnswerMisfit(str(misfit), coordinate=misfit.coordinate, answer=answer, advice=advice)
            text = encoded(response, refuse=UpstreamError)
            max_bytes = caller.endpoint.bundle.max_result_bytes(tool)
            if _is_begun(continued) or 0 < max_bytes < len(text):
                from handler.server.mcp.calls.large_results import Bounds, fit_prescribed

                bounds = Bounds(size=len(text), max_bytes=max_bytes, continued=continued)
                text = b""  # a large text is not kept beside what is cut from it
                response, text = _noted(call, fit_prescribed(response, tool, request, bounds))
            return _result(response, text, tool, caller.room)


async def call_graphql(call: Call, tool: GraphQLTool, arguments: JSONObject) -> JSONObject:
    """Call a tool that runs the caller's document, as ``call_prescribed`` does."""
    from handler.server.graphql.documents import Document, prepare_document, run

    arguments, caller = _read(call, tool, arguments), call.caller
    async with before(caller.deadline):
        arguments, continued = await _continuation(call, tool, arguments)
        document = Document(
            text=arguments["query"],
            operation_name=arguments.get("operationName"),
            variables=arguments.get("variables") or {},
        )
        prepared = await prepare_document(caller, document, tool=tool)
        if prepared.consent_for:
            from handler.server.mcp.calls.consent import ConsentRequest, ask_consent

            consent = await ask_consent(call, tool, arguments, prepared.request, shown=prepared.request.variables)
            if isinstance(consent, ConsentRequest):
                return consent.result
            prepared = replace(prepared, request=consent)
        response = await run(caller, prepared)
        with telling_answer(prepared.request):
            text = encoded(response, refuse=UpstreamError)
            # An answer about the schema has a limit of its own.
            max_bytes = caller.endpoint.bundle.max_result_bytes(tool)
            if prepared.answer is None and (_is_begun(continued) or 0 < max_bytes < len(text)):
                from handler.server.mcp.calls.large_results import Bounds, fit_graphql, view_of

                bounds, text = Bounds(size=len(text), max_bytes=max_bytes, continued=continued), b""
                view = await view_of(caller, tool)
                response, text = _noted(call, fit_graphql(response, view, prepared.request, bounds))
            return _result(response, text, tool, caller.room)


def failed(call: Call, tool: object, reason: CallError) -> JSONObject:
    """Return the result of a call that failed for a reason that a model can act on. ``tool``: as far as found."""
    result: JSONObject = {"content": [_text(str(reason))], "isError": True}
    if not isinstance(tool, PrescribedTool | GraphQLTool):
        return result
    if isinstance(reason, AnswerMisfit):
        call.note(coordinate=reason.coordinate)
        # As text: clients would discard an answer that violates the output schema.
        whole = {**result, "content": [_text(f"{reason}\n{reason.answer}")]}
        max_bytes = call.caller.endpoint.bundle.max_result_bytes(tool)
        fits = not max_bytes or len(reason.answer.encode()) <= max_bytes
        if fits and call.caller.room.fits(to_well_formed_json(whole)):
            result = whole
        else:
            result["content"] = [_text(f"{reason}\n{TOO_LARGE}")]
    return _with_meta(result, tool)


def prepare_prescribed_call(caller: Caller, tool: PrescribedTool, arguments: Mapping[str, Any]) -> GraphQLRequest:
    """Return the request of a call with validated arguments.

    Raises:
        CallError: the request lacks the value of a bound variable, or a policy does not allow these values.
    """
    variables = {**_variables(tool, arguments), **fill_bound(caller, tool, name=tool.name)}
    if not caller.evaluation.meets_with(tool.mask, tool.operation.coerced(variables)):
        raise ValuesRefused
    return GraphQLRequest(
        text=tool.operation.text,
        sha256=tool.operation.sha256,
        operation_name=tool.operation.name,
        variables=variables,
        is_query=tool.operation.kind == "query",
    )


def _read(call: Call, tool: GraphQLTool | PrescribedTool, arguments: JSONObject) -> JSONObject:
    """Return the arguments as the operation needs them.

    Raises:
        InvalidArguments: the arguments do not fit the tool's schema.
    """
    if arguments.get("variables") == "" and not (isinstance(tool, PrescribedTool) and tool.flat):
        arguments = {**arguments, "variables": {}}  # as an empty operationName
    return call.caller.endpoint.validator(tool, call.caller.evaluation).read(arguments)


async def _continuation(
    call: Call, tool: GraphQLTool | PrescribedTool, arguments: JSONObject
) -> tuple[JSONObject, Continuation | None]:
    """Return the arguments without the cursor, and how the answer can be continued; ``None`` if it cannot."""
    if not tool.options.cursor:
        return arguments, None
    from handler.server.mcp.calls.cursors import continuation_of

    continuation = await continuation_of(call, tool, arguments)
    return continuation.arguments, continuation


def _noted(call: Call, fitted: Fitted) -> tuple[JSONObject, bytes]:
    """Note the number of places that were cut, and return the answer and its JSON."""
    if fitted.places:
        call.note(truncated=len(fitted.places))
    return fitted.answer, fitted.text


def _is_begun(continued: Continuation | None) -> bool:
    """Return whether the call has a cursor."""
    return continued is not None and continued.start is not None


def _variables(tool: PrescribedTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Return the operation's variables among the arguments."""
    values = arguments if tool.flat else arguments.get("variables") or {}
    confirmed = tool.options.confirm == "advisory" and tool.flat
    variables = tool.operation.sendable(values)
    return {name: value for name, value in variables.items() if not (confirmed and name == CONFIRM)}


def _result(response: JSONObject, text: bytes, tool: Tool, room: Room) -> JSONObject:
    """Return a GraphQL response, and its JSON, as a tool result. Errors beside usable data do not make it an error."""
    output = tool.options.output
    result: JSONObject = {"content": [] if output == "structured" else [_text(text.decode())]}
    if output != "text":
        result["structuredContent"] = response
    data = response.get("data") or {}
    if "errors" in response and all(value is None for value in data.values()):
        result["isError"] = True
    if len(text) > room.surely_small_bytes:
        encoded(result, refuse=UpstreamError, room=room)
    return _with_meta(result, tool)


def _with_meta(result: JSONObject, tool: Tool) -> JSONObject:
    return {**result, "_meta": dict(tool.options.meta)} if tool.options.meta else result


def _text(text: str) -> JSONObject:
    return {"type": "text", "text": text}


TOKENS: Mapping[str, int] = {"search": 300, "describe": 800}
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
    arguments = call.caller.endpoint.validator(tool, call.caller.evaluation).read(arguments)
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
