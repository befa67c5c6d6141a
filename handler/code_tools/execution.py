"""A call of a tool in Python, from its arguments to its result."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from handler.code_tools.content.content_blocks import Text
from handler.code_tools.definitions.arguments import Fill, invalid_arguments
from handler.code_tools.definitions.definition import ToolDefinition
from handler.code_tools.definitions.results import error_result
from handler.code_tools.definitions.resuming import Resume
from handler.code_tools.functions.awaiting import Expired, no_task_left_behind, run, unexited, wait_for
from handler.code_tools.functions.boundary import AuthorFailed, authors_code
from handler.code_tools.functions.context import Context, is_work, settled
from handler.code_tools.functions.continuation import Async, Err, InputRequired, Ok
from handler.code_tools.functions.log import LOG
from handler.code_tools.type_hints.type_schemas import Misfits
from handler.errors.access import InsufficientScope
from handler.errors.calls import CallError, InvalidArguments, ToolError
from handler.errors.protocol import AuthenticationRequired, InvalidParams
from handler.strict_json import JSONObject

MAX_STEPS = 32
"""The number of times that one call may return ``Async``."""

RESUME_S = 0.5
"""The time kept for ``resume`` to answer after work that was too slow; a quarter if less than 2 s remain."""

FAILED = "Tool execution failed"


class Misused(Exception):
    """A tool broke the rules for tools, such as those for ``Async``; for the log."""


OnFailure = Callable[[Exception], None]


async def run_tool(
    tool: ToolDefinition, arguments: Any, ctx: Context, *, on_failure: OnFailure = lambda _: None
) -> JSONObject | InputRequired:
    """Call a tool and return a ``CallToolResult``, or the questions that it asks first.

    A failure that the model can act on is a result with ``isError`` and its reason; any other failure is a fixed
    sentence. ``on_failure`` gets both. Every task of the call ends with it, but a function that is not async may go on.

    Raises:
        McpError: the author raised it, a credential is missing, or arguments are invalid (not an object, or
            ``validation_errors`` is ``protocol``).
        InsufficientScope: the caller lacks scopes of the tool, or of an operation that the tool runs.
    """
    if not isinstance(arguments, dict):
        raise InvalidParams(f"arguments of tool {tool.name}: expected an object")
    _require_authorised(tool, ctx)
    ctx.deadline = min(ctx.deadline, time.monotonic() + (tool.options.timeout or math.inf))
    try:
        with authors_code():
            return await _answer(tool, arguments, ctx, on_failure)
    except AuthorFailed as exc:
        LOG.exception("tool %s failed in request %s", tool.name, ctx.request_id)
        on_failure(exc)
        return failed(ctx.request_id)


async def _answer(
    tool: ToolDefinition, arguments: JSONObject, ctx: Context, on_failure: OnFailure
) -> JSONObject | InputRequired:
    allowed_s = ctx.remaining_time()
    try:
        async with no_task_left_behind():
            value, source = await _finished(tool, arguments, ctx)
        return value if isinstance(value, InputRequired) else _result(tool, value, source)
    except InvalidArguments as exc:
        on_failure(exc)
        if tool.options.validation_errors == "protocol":
            details = [{"message": violation} for violation in exc.violations]
            raise InvalidParams(str(exc), {"valid": False, "details": details}) from exc
        return error_result(exc)
    except CallError as exc:
        on_failure(exc)
        return error_result(exc)
    except Expired as exc:
        ctx.cancelled = True  # a function that is not async still runs, and may check it
        on_failure(exc)
        return error_result(ToolError(f"Tool timed out after {allowed_s:.3g}s"))


def failed(request_id: str) -> JSONObject:
    """Return the result of a call whose failure only the log explains."""
    meta = {"_meta": {"request_id": request_id}} if request_id else {}
    return {"content": [Text(FAILED).to_json()], "isError": True, **meta}


def _require_authorised(tool: ToolDefinition, ctx: Context) -> None:
    if tool.options.requires_auth and ctx.provider_token is None and not ctx.tokenless:
        raise AuthenticationRequired
    if not ctx.scopes.issuperset(tool.options.scopes):
        raise InsufficientScope(tool.name, tool.options.scopes, held=ctx.scopes)


def _result(tool: ToolDefinition, value: Any, source: str) -> JSONObject:
    try:
        return tool.output.result_of(value, tool.name, source=source)
    except (TypeError, ValueError, RecursionError) as exc:
        raise Misused(
            f"{source} returned a value of the type {type(value).__name__}, which is not a result: {exc}"
        ) from exc


async def _finished(tool: ToolDefinition, arguments: JSONObject, ctx: Context) -> tuple[Any, str]:
    """Return the tool's value, once all its ``Async`` work is done, and the name of the function that returned it."""
    if ctx.cancelled:
        raise ToolError("Operation was cancelled")
    source = f"tool {tool.name}"
    args, kwargs = await _filled(tool, arguments, ctx)
    value = await run(partial(tool.function, *args, **kwargs, **tool.bound), ctx)
    waited_for: list[Any] = []
    while isinstance(value, Async):
        resume = _resume_for(tool, value, waited_for, source)
        waited_for.append(value.work)
        outcome = await _outcome_of(value.work, ctx)
        source = f"resume of tool {tool.name}"
        value = await run(resume.call(value.tag, outcome, ctx), ctx)
    return value, source


async def _filled(tool: ToolDefinition, arguments: JSONObject, ctx: Context) -> Fill:
    """Check the arguments by the schema, the author's validator, or one after the other, and convert them.

    A validator that replaces the schema decides alone, so its arguments are not cast.
    """
    validate, mode = tool.options.validate, tool.options.validate_mode
    try:
        if validate and mode != "after":
            arguments = await _judged(validate, arguments, ctx)
        if validate and mode == "replace":
            return tool.arguments.as_they_are(arguments, ctx)
        arguments = tool.arguments.check(arguments, ctx)
        if validate and mode == "after":
            arguments = await _judged(validate, arguments, ctx)
        return tool.arguments.cast(arguments, ctx)
    except Misfits as exc:
        raise invalid_arguments(tool.name, exc) from exc


async def _judged(validate: Callable[..., Any], arguments: JSONObject, ctx: Context) -> JSONObject:
    """Return the arguments of the author's validator, or the given ones if the validator returns ``None``."""
    takes_context = len(inspect.signature(validate).parameters) > 1
    judged = await run(partial(validate, arguments, *([ctx] if takes_context else [])), ctx)
    if judged is None:
        return arguments
    if not isinstance(judged, dict):
        raise Misused(f"validate: expected the arguments or None, got {judged!r}")
    return judged


def _resume_for(tool: ToolDefinition, value: Async, waited_for: Sequence[Any], source: str) -> Resume:
    """Return the ``resume`` that continues when the work is done.

    Raises:
        Misused: the tool has no ``resume``, the value is not new work, or the call has had ``MAX_STEPS`` steps.
    """
    if tool.resume is None:
        problem = "it has no resume to continue with"
    elif not is_work(value.work):
        problem = f"expected something to wait for, got {value.work!r}"
    elif any(value.work is each for each in waited_for):
        problem = "this call waited for the same work before"
    elif len(waited_for) >= MAX_STEPS:
        problem = f"this call went on {MAX_STEPS} times before"
    else:
        return tool.resume
    if inspect.iscoroutine(value.work):
        value.work.close()
    raise Misused(f"{source} returned Async({value.tag!r}, …): {problem}")


async def _outcome_of(work: Any, ctx: Context) -> Ok | Err:
    margin_s = min(RESUME_S, ctx.remaining_time() / 4)
    try:
        return await wait_for(unexited(settled(work)), ctx, margin_s=margin_s)
    except Expired:
        return Err(TimeoutError("the work did not end in time"))
