"""Long answers: cut to the limit of a tool's results, and continued by cursors.

The server keeps nothing between two calls. A cursor, with which the same call of a query goes on where its answer was
cut, travels through the client, sealed for this endpoint, the tool and its operation, the other arguments, the caller,
and the caller's claims that reach the API. A cursor holds the place of a list and an offset, and no values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from handler.answers.plan import CutPlace, Start
from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.cold.records import record
from handler.errors.calls import StateUnavailable
from handler.errors.cursor_errors import CursorPastEnd, CursorRefused
from handler.errors.protocol import StateRefused
from handler.errors.upstream import ResultTooLarge
from handler.server.context import Caller, with_schema
from handler.server.mcp.input_required import binding_of
from handler.server.mcp.jsonrpc import Call
from handler.server.upstream.graphql_client import carried_out
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from handler.answers.fit import Fitted

METHOD = "tools/call, continued"
"""Stands for the method in the binding, so that a cursor is not a ``requestState``, and the reverse."""


@record(frozen=True, slots=True, kw_only=True)
class Continuation:
    """The place at which a call begins, and the function that returns the cursor of a cut list.

    ``arguments``: those of the call without the cursor. ``start``: ``None`` if the call has no cursor.
    ``continue_at``: ``None`` if there is no key to seal cursors with. ``argument``: the cursor's.
    """

    arguments: JSONObject
    start: Start | None = None
    continue_at: Callable[[CutPlace], Mapping[str, Any]] | None = None
    argument: str = ""

    def require_rows(self, response: Mapping[str, Any]) -> None:
        """Refuse a response that lacks the list, or rows before the place at which the call begins.

        A response with errors passes: the errors say why rows are missing.

        Raises:
            CursorPastEnd: the list is gone, or shorter.
        """
        if self.start is None or "errors" in response:
            return
        rows: Any = response.get("data")
        try:
            for key in self.start.path:
                rows = rows[key]
        except (KeyError, IndexError, TypeError):
            rows = None
        if not isinstance(rows, list) or len(rows) < self.start.offset:
            parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.start.path)
            raise CursorPastEnd(self.argument, f"data{''.join(parts)}")


async def continuation_of(call: Call, tool: PrescribedTool | GraphQLTool, arguments: JSONObject) -> Continuation:
    """Return the continuation of a call with validated arguments, of a tool whose answers can be continued.

    Raises:
        CursorRefused: the cursor is not for this call and caller, or too old.
    """
    argument, states = tool.options.cursor, call.caller.services.states
    others = {name: value for name, value in arguments.items() if name != argument}
    cursor = arguments.get(argument)
    operation = tool.operation.sha256 if isinstance(tool, PrescribedTool) else ""
    try:
        name = [tool.name, operation]
        binding = binding_of(call.caller, tool=tool, method=METHOD, name=name, arguments=others)
        opened = None if cursor is None else await states.open(cursor, binding=binding)
    except StateRefused as exc:
        raise CursorRefused(argument) from exc
    start = Start(path=tuple(opened[0]), offset=opened[1], backward=opened[2]) if opened else None
    try:
        continue_at = partial(_cursor, argument, await states.sealer(binding=binding))
    except StateUnavailable:
        continue_at = None
    return Continuation(arguments=others, start=start, continue_at=continue_at, argument=argument)


def _cursor(argument: str, seal: Callable[[Any], str], place: CutPlace) -> JSONObject:
    """Return the members of a cut list's note that say how to go on."""
    try:
        sealed = seal([place.origin, place.seen, place.backward])
    except StateUnavailable:  # response keys may be that long
        return {}
    return {"next": {argument: sealed}, "how": f"Call again with the same arguments and this {argument}."}


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
    from handler.answers.fit import CallForm, ResultLimit, fit  # answers below the limit need none of this
    from handler.answers.plan import read_plan

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
        start, continue_at, max_bytes = continued.start, continued.continue_at, max_bytes or 2**40
    limit = ResultLimit(max_bytes=max_bytes, form=form, size=size, start=start, continue_at=continue_at)
    try:
        return fit(response, plan, limit)
    except ResultTooLarge as exc:
        if request.is_query:
            raise
        raise ResultTooLarge(f"{carried_out(response)} {exc}", size=exc.size, max_bytes=exc.max_bytes) from exc
