"""Cut an answer above the limit of a tool's results. Answers below it never import this module."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from handler.answers.advice import CallForm
from handler.answers.fit import ResultLimit, fit
from handler.answers.plan import Members, read_plan
from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.errors.upstream import ResultTooLarge
from handler.server.context.caller import Caller
from handler.server.endpoints.schema_views import schema_loading
from handler.server.mcp.cursors import Continuation
from handler.server.upstream.graphql_client import carried_out
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject

UNLIMITED = 2**40


def fit_prescribed(
    caller: Caller,
    response: JSONObject,
    tool: PrescribedTool,
    sent: GraphQLRequest,
    continued: Continuation | None,
) -> tuple[JSONObject, bytes]:
    """Return a response cut by the plan that the compiler made, and its JSON.

    Raises:
        ResultTooLarge: the response cannot be cut to the limit, or the bundle is of a release without plans.
    """
    form = CallForm(below=() if tool.flat else ("variables",), variables=tool.operation.coerced(sent.variables))
    plan = read_plan(tool.plan) if tool.plan else None
    limit = ResultLimit(max_bytes=caller.endpoint.bundle.max_result_bytes(tool), form=form)
    return _fitted(response, plan, limit, sent, continued)


async def fit_graphql(
    caller: Caller,
    response: JSONObject,
    tool: GraphQLTool,
    sent: GraphQLRequest,
    continued: Continuation | None,
) -> tuple[JSONObject, bytes]:
    """Return the response to a caller's document, cut by the types of the caller's view, and its JSON.

    Raises:
        ResultTooLarge: the response cannot be cut to the limit.
    """
    from handler.graph.documents.answer_plan import plan_of_text

    with schema_loading():
        schemas = await asyncio.to_thread(caller.endpoint.schema.view_schemas, tool, caller.evaluation)
    form = CallForm(below=("variables",), writes_text=True, variables=sent.variables)
    limit = ResultLimit(max_bytes=caller.endpoint.bundle.max_result_bytes(tool), form=form)
    return _fitted(response, plan_of_text(sent.text, schemas.view), limit, sent, continued)


def _fitted(
    response: JSONObject, plan: Members | None, limit: ResultLimit, sent: GraphQLRequest, continued: Continuation | None
) -> tuple[JSONObject, bytes]:
    if continued and sent.is_query:
        continued.require_rows(response)
        max_bytes = limit.max_bytes or UNLIMITED
        limit = replace(limit, max_bytes=max_bytes, start=continued.start, continue_at=continued.continue_at)
    try:
        found = fit(response, plan, limit)
    except ResultTooLarge as exc:
        if sent.is_query:
            raise
        raise ResultTooLarge(f"{carried_out(response)} {exc}", size=exc.size, max_bytes=exc.max_bytes) from exc
    return found.answer, found.text
