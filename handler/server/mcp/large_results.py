"""Cut an answer above the limit of a tool's results. Answers below it never import this module."""

from __future__ import annotations

import asyncio

from handler.answers.advice import CallForm
from handler.answers.fit import ResultLimit, fit
from handler.answers.plan import Members, read_plan
from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.errors.upstream import ResultTooLarge
from handler.server.context.caller import Caller
from handler.server.endpoints.schema_views import schema_loading
from handler.server.upstream.graphql_client import carried_out
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject


def fit_prescribed(
    response: JSONObject, tool: PrescribedTool, sent: GraphQLRequest, *, max_bytes: int
) -> tuple[JSONObject, bytes]:
    """Return a response cut by the plan that the compiler made, and its JSON.

    Raises:
        ResultTooLarge: the response cannot be cut to the limit, or the bundle is of a release without plans.
    """
    form = CallForm(below=() if tool.flat else ("variables",), variables=tool.operation.coerced(sent.variables))
    plan = read_plan(tool.plan) if tool.plan else None
    return _fitted(response, plan, ResultLimit(max_bytes=max_bytes, form=form), sent)


async def fit_graphql(
    caller: Caller, response: JSONObject, tool: GraphQLTool, sent: GraphQLRequest, *, max_bytes: int
) -> tuple[JSONObject, bytes]:
    """Return the response to a caller's document, cut by the types of the caller's view, and its JSON.

    Raises:
        ResultTooLarge: the response cannot be cut to the limit.
    """
    from handler.graph.documents.answer_plan import plan_of_text

    with schema_loading():
        schemas = await asyncio.to_thread(caller.endpoint.schema.view_schemas, tool, caller.evaluation)
    form = CallForm(below=("variables",), writes_text=True, variables=sent.variables)
    return _fitted(response, plan_of_text(sent.text, schemas.view), ResultLimit(max_bytes=max_bytes, form=form), sent)


def _fitted(
    response: JSONObject, plan: Members | None, limit: ResultLimit, sent: GraphQLRequest
) -> tuple[JSONObject, bytes]:
    try:
        found = fit(response, plan, limit)
    except ResultTooLarge as exc:
        if sent.is_query:
            raise
        raise ResultTooLarge(f"{carried_out(response)} {exc}", size=exc.size, max_bytes=exc.max_bytes) from exc
    return found.answer, found.text
