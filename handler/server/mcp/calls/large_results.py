"""Cut an answer above the limit of a tool's results. Answers below it never import this module."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from handler.answers.advice import CallForm
from handler.answers.fit import Fitted, ResultLimit, fit
from handler.answers.plan import Members, read_plan
from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.cold.records import record
from handler.errors.upstream import ResultTooLarge
from handler.graph.view import View
from handler.server.context.caller import Caller
from handler.server.endpoints.schema_views import schema_loading
from handler.server.mcp.calls.cursors import Continuation
from handler.server.upstream.graphql_client import carried_out
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject

UNLIMITED = 2**40


@record(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The size of a whole response as JSON, the limit of the result (0: none), and how the answer is continued."""

    size: int
    max_bytes: int
    continued: Continuation | None = None


def fit_prescribed(response: JSONObject, tool: PrescribedTool, sent: GraphQLRequest, bounds: Bounds) -> Fitted:
    """Return a response cut by the plan that the compiler made.

    Raises:
        ResultTooLarge: the response cannot be cut to the limit, or the bundle is of a release without plans.
    """
    bound = {each.variable for each in tool.bindings}
    form = CallForm(
        below=() if tool.flat else ("variables",),
        mutates=not sent.is_query,
        variables=tool.operation.coerced(sent.variables),
        given={name: value for name, value in sent.variables.items() if name not in bound},
    )
    plan = read_plan(tool.plan) if tool.plan else None
    return _fitted(response, plan, form, sent=sent, bounds=bounds)


async def view_of(caller: Caller, tool: GraphQLTool) -> View:
    """Return the caller's view of a tool, which the check of the document has just used.

    Raises:
        UpstreamError: the schema cannot be loaded.
    """
    with schema_loading():
        schemas = await asyncio.to_thread(caller.endpoint.schema.view_schemas, tool, caller.evaluation)
    return schemas.view


def fit_graphql(response: JSONObject, view: View, sent: GraphQLRequest, bounds: Bounds) -> Fitted:
    """Return the response to a caller's document, cut by the types of the caller's view.

    Raises:
        ResultTooLarge: the response cannot be cut to the limit.
    """
    from handler.graph.documents.answer_plan import defaults_of_text, plan_of_text

    form = CallForm(
        below=("variables",),
        writes_text=True,
        mutates=not sent.is_query,
        variables={**defaults_of_text(sent.text), **sent.variables},
        given=sent.variables,
    )
    return _fitted(response, plan_of_text(sent.text, view), form, sent=sent, bounds=bounds)


def _fitted(
    response: JSONObject, plan: Members | None, form: CallForm, *, sent: GraphQLRequest, bounds: Bounds
) -> Fitted:
    continued = bounds.continued if sent.is_query else None
    limit = ResultLimit(max_bytes=bounds.max_bytes, form=form, size=bounds.size)
    if continued:
        continued.require_rows(response)
        max_bytes = bounds.max_bytes or UNLIMITED
        limit = replace(limit, max_bytes=max_bytes, start=continued.start, continue_at=continued.continue_at)
    try:
        return fit(response, plan, limit)
    except ResultTooLarge as exc:
        if sent.is_query:
            raise
        raise ResultTooLarge(f"{carried_out(response)} {exc}", size=exc.size, max_bytes=exc.max_bytes) from exc
