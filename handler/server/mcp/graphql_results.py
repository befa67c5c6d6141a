"""Results of tools over GraphQL: from the API's response, or from the failure of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handler.bundle.tools import GraphQLTool, PrescribedTool, Tool
from handler.errors.calls import CallError, GraphQLErrors, ToolError
from handler.errors.upstream import AnswerMisfit, UpstreamError
from handler.server.asgi.response_size import TOO_LARGE, encoded
from handler.server.mcp.jsonrpc import Call
from handler.server.upstream.graphql_client import carried_out, telling_answer
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject, to_well_formed_json

if TYPE_CHECKING:
    from handler.server.mcp.long_answers import Continuation

CODE = "stile/code"
"""The member of a result's ``_meta`` that has the stable code of an error. Clients do not show it to models.

Source: MCP 2025-06-18 and later, basic ("_meta"): a key may have a prefix. Earlier revisions allow any key.
"""


async def result_of(
    call: Call,
    tool: PrescribedTool | GraphQLTool,
    request: GraphQLRequest,
    response: JSONObject,
    *,
    is_limited: bool = True,
    continued: Continuation | None = None,
) -> JSONObject:
    """Return a GraphQL response as the tool's result, cut to the tool's limit if ``is_limited``.

    Raises:
        UpstreamError: the response does not fit the output schema, cannot be cut, or is too large for an answer.
    """
    caller = call.caller
    with telling_answer(request):
        text = encoded(response, refuse=UpstreamError)
        if isinstance(tool, PrescribedTool) and (misfit := caller.endpoint.misfit(tool, response)):
            advice = carried_out(response) if tool.operation.kind == "mutation" else ""
            raise AnswerMisfit(str(misfit), coordinate=misfit.coordinate, answer=text.decode(), advice=advice)
        max_bytes = caller.endpoint.bundle.max_result_bytes(tool)
        is_begun = continued is not None and continued.start is not None
        if is_limited and (is_begun or 0 < max_bytes < len(text)):
            from handler.server.mcp.long_answers import fit_response

            size, text = len(text), b""  # a large text is not kept beside its cut
            fitted = await fit_response(caller, tool, response, request, size=size, continued=continued)
            response, text = fitted.answer, fitted.text
            if fitted.places:
                call.note(truncated=len(fitted.places))
        output = tool.options.output
        result: JSONObject = {"content": [] if output == "structured" else [text_block(text.decode())]}
        if output != "text":
            result["structuredContent"] = response
        data = response.get("data") or {}
        if "errors" in response and all(value is None for value in data.values()):
            result["isError"] = True  # errors beside usable data do not make it an error
        if len(text) > caller.room.surely_small_bytes:
            encoded(result, refuse=UpstreamError, room=caller.room)
        return _with_meta(result, tool)


def _with_meta(result: JSONObject, tool: Tool) -> JSONObject:
    return {**result, "_meta": dict(tool.options.meta)} if tool.options.meta else result


def text_block(text: str) -> JSONObject:
    """Return a text as a content block of MCP."""
    return {"type": "text", "text": text}


def failed_result(call: Call, tool: object, reason: CallError) -> JSONObject:
    """Return the result of a call that failed for a reason that a model can act on. ``tool``: as far as found."""
    call.fail(reason)
    result: JSONObject = {"content": [text_block(str(reason))], "isError": True}
    if not isinstance(tool, PrescribedTool | GraphQLTool):
        return result
    if isinstance(reason, AnswerMisfit):
        call.note(coordinate=reason.coordinate)
        # As text: clients would discard an answer that violates the output schema.
        whole = {**result, "content": [text_block(f"{reason}\n{reason.answer}")]}
        max_bytes = call.caller.endpoint.bundle.max_result_bytes(tool)
        fits = not max_bytes or len(reason.answer.encode()) <= max_bytes
        if fits and call.caller.room.fits(to_well_formed_json(whole)):
            result = whole
        else:
            result["content"] = [text_block(f"{reason}\n{TOO_LARGE}")]
    return _with_meta(result, tool)


def with_failure_code(call: Call, tool: object, result: JSONObject) -> JSONObject:
    """Return a result with ``isError`` with the stable code of the failure, which the log gets, too."""
    by_api = isinstance(tool, PrescribedTool | GraphQLTool)
    code = call.failure_code or (GraphQLErrors if by_api else ToolError).stile_code
    call.note(code=code)
    return {**result, "_meta": {**result.get("_meta", {}), CODE: code}}
