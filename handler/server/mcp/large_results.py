"""Cut an answer above the limit of a tool's results. Answers below it never import this module."""

from __future__ import annotations

from handler.answers.fit import CallForm, Fitted, ResultLimit, fit
from handler.answers.plan import read_plan
from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.errors.upstream import ResultTooLarge
from handler.server.context import Caller, with_schema
from handler.server.mcp.cursors import Continuation
from handler.server.upstream.graphql_client import carried_out
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject

UNLIMITED = 2**40


async def fit_response(
    caller: Caller,
    tool: PrescribedTool | GraphQLTool,
    response: JSONObject,
    request: GraphQLRequest,
    *,
    size: int,
    continued: Continuation | None,
) -> Fitted:
    """Return a response cut to the limit of the tool. ``size``: of the whole response as JSON.

    The compiler made the plan for a persisted operation. The plan for a caller's document follows from the types of
    the caller's view, which the check of the document has just used.

    Raises:
        ResultTooLarge: the response cannot be cut to the limit, or the bundle is of a release without plans.
        UpstreamError: the schema cannot be loaded.
    """
    if isinstance(tool, PrescribedTool):
        bound = {binding.variable for binding in tool.bindings}
        plan = read_plan(tool.plan) if tool.plan else None
        form = CallForm(
            below=() if tool.flat else ("variables",),
            mutates=not request.is_query,
            variables=tool.operation.coerced(request.variables),
            given={name: value for name, value in request.variables.items() if name not in bound},
        )
    else:
        from handler.graph.documents.answer_plan import defaults_of_text, plan_of_text

        schemas = await with_schema(caller.endpoint.schema.view_schemas, tool, caller.evaluation)
        plan = plan_of_text(request.text, schemas.view)
        form = CallForm(
            below=("variables",),
            writes_text=True,
            mutates=not request.is_query,
            variables={**defaults_of_text(request.text), **request.variables},
            given=request.variables,
        )
    start, continue_at, max_bytes = None, None, caller.endpoint.bundle.max_result_bytes(tool)
    if continued and request.is_query:
        continued.require_rows(response)
        start, continue_at, max_bytes = continued.start, continued.continue_at, max_bytes or UNLIMITED
    limit = ResultLimit(max_bytes=max_bytes, form=form, size=size, start=start, continue_at=continue_at)
    try:
        return fit(response, plan, limit)
    except ResultTooLarge as exc:
        if request.is_query:
            raise
        raise ResultTooLarge(f"{carried_out(response)} {exc}", size=exc.size, max_bytes=exc.max_bytes) from exc
