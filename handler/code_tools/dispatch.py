"""A toolkit as one caller sees it: the lists, and the dispatch of requests to tools, prompts and resources."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from handler.code_tools.arguments import Arguments, Fill
from handler.code_tools.boundary import (
    LOG,
    AuthorFailed,
    Expired,
    authors_code,
    no_task_left_behind,
    run,
    unexited,
    wait_for,
)
from handler.code_tools.context import Context, is_work, settled
from handler.code_tools.definition import ToolDefinition
from handler.code_tools.options import Options
from handler.code_tools.results import Output, error_result
from handler.code_tools.return_values import Async, Err, InputRequired, Text, ToolCall
from handler.code_tools.sections import Listed
from handler.code_tools.signature import Resume
from handler.code_tools.source_location import SourceLocation
from handler.code_tools.toolkit import Provided, Toolkit
from handler.code_tools.type_schemas import Misfits, to_json
from handler.errors import MAX_SAID_CHARS
from handler.errors.access import InsufficientScope
from handler.errors.calls import CallError, InvalidArguments, ToolError
from handler.errors.protocol import AuthenticationRequired, InvalidParams, McpError
from handler.list_entries import mirrored_in
from handler.strict_json import JSONObject


async def sections_of(kit: Toolkit, ctx: Context) -> dict[str, list[Listed]]:
    """Return all entries that the caller may use, hidden or not, by the catalog's sections.

    Raises:
        McpError: a provider that is not optional failed.
    """
    own = [
        Listed(entry=each.entry, hidden=each.options.hidden, aliases=tuple(each.options.aliases))
        for each in kit.tools
        if each.allows(ctx)
    ]
    provided = [Listed(entry=each.entry) for each in await _provided(kit, ctx)]
    resources = [(each.is_template, Listed(entry=each.entry, hidden=each.hidden)) for each in kit.resources]
    return {
        "tools": [*own, *provided],
        "prompts": [Listed(entry=each.entry, hidden=each.hidden) for each in kit.prompts],
        "resources": [listed for is_template, listed in resources if not is_template],
        "resource_templates": [listed for is_template, listed in resources if is_template],
    }


async def list_section(kit: Toolkit, section: str, ctx: Context) -> list[JSONObject]:
    """Return the entries of one section that are not hidden: the kit's own, then each provider's in order.

    Raises:
        McpError: a provider that is not optional failed.
    """
    return [each.entry for each in (await sections_of(kit, ctx))[section] if not each.hidden]


async def call_tool(
    kit: Toolkit, name: str, arguments: Any, ctx: Context, *, on_failure: OnFailure = lambda _: None
) -> JSONObject | InputRequired | ToolCall:
    """Call a tool of the kit as ``run_tool`` does.

    Raises:
        McpError: no such tool for this caller, a provider that is not optional failed, or as ``run_tool``.
        InsufficientScope: as ``run_tool``.
    """
    tool = kit.find_tool(name)
    if tool is None:
        tool = next((each for each in await _provided(kit, ctx) if each.name == name), None)
    if tool is None or not tool.allows(ctx):
        raise unknown("tool", name)
    return await run_tool(tool.named(name), arguments, ctx, on_failure=on_failure)


def unknown(kind: str, name: str, *, member: str = "") -> InvalidParams:
    """Return the error for a name without an entry. ``member``: the name of the fact, if not the kind."""
    name = name[:MAX_SAID_CHARS]
    return InvalidParams(f"Unknown {kind}: {name}", {member or kind: name})


async def _provided(kit: Toolkit, ctx: Context) -> list[ToolDefinition]:
    """Return the providers' tools for this caller. The kit's own tool of a name wins, then the first provider's."""
    tools: dict[str, ToolDefinition] = {}
    for each in kit.providers:
        try:
            with authors_code():
                async with no_task_left_behind():
                    entries = await run(partial(each.provider.tools, ctx), ctx)
                provided = [_provided_tool(entry, each) for entry in entries]
        except AuthorFailed as exc:
            LOG.exception("a provider failed to list its tools in request %s", ctx.request_id)
            if not each.optional:
                raise McpError(McpError.INTERNAL_ERROR, "The tools could not be listed") from exc
            continue
        for tool in provided:
            if kit.find_tool(tool.name) is None and tool.allows(ctx):
                tools.setdefault(tool.name, tool)
    return list(tools.values())


def _provided_tool(entry: Mapping[str, Any], provided: Provided) -> ToolDefinition:
    name = str(entry["name"])
    schema = entry.get("inputSchema") or _AsSent.schema
    mirrored_in(schema)  # clients silently drop a tool with an invalid x-mcp-header
    place = SourceLocation(label=f"tool {name}")
    options = Options(output_schema=entry.get("outputSchema"))
    return ToolDefinition(
        name=name,
        options=options,
        place=place,
        function=partial(provided.provider.call, name),
        bound={},
        arguments=_AsSent(),
        output=Output(inspect.Parameter.empty, options, place),
        allow=provided.allow,
        listed={**entry, "inputSchema": schema},
    )


class _AsSent(Arguments):
    """Arguments that only the provider checks."""

    schema: JSONObject = {"type": "object"}  # noqa: RUF012 - a constant
    _options = Options()

    def check(self, arguments: JSONObject, _: Context) -> JSONObject:
        return arguments

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        return (arguments, ctx), {}

    as_they_are = cast


MAX_STEPS = 32
"""The number of times that one call may return ``Async``."""

RESUME_S = 0.5
"""The time kept for ``resume`` to answer after work that was too slow; a quarter if less than 2 s remain."""


class Misused(Exception):
    """A tool broke the rules for tools, such as those for ``Async``; for the log."""


OnFailure = Callable[[Exception], None]


async def run_tool(
    tool: ToolDefinition, arguments: Any, ctx: Context, *, on_failure: OnFailure = lambda _: None
) -> JSONObject | InputRequired | ToolCall:
    """Call a tool and return a ``CallToolResult``, the questions that it asks first, or the call of another tool.

    A failure that the model can act on is a result with ``isError`` and its reason; any other failure is a fixed
    sentence. ``on_failure`` gets both. Every task of the call ends with it, but a function that is not async may go on.

    Raises:
        McpError: the author raised it, a credential is missing, or arguments are invalid (not an object, or
            ``validation_errors`` is ``protocol``).
        InsufficientScope: the caller lacks scopes of the tool, or of an operation that the tool runs.
    """
    if not isinstance(arguments, dict):
        raise InvalidParams(f"arguments of tool {tool.name}: expected an object")
    if tool.options.requires_auth and ctx.provider_token is None and not ctx.tokenless:
        raise AuthenticationRequired
    if not ctx.scopes.issuperset(tool.options.scopes):
        raise InsufficientScope(tool.name, tool.options.scopes, held=ctx.scopes)
    ctx.deadline = min(ctx.deadline, time.monotonic() + (tool.options.timeout or math.inf))
    allowed_s = ctx.remaining_time()
    try:
        with authors_code():
            try:
                return await _answer(tool, arguments, ctx)
            except CallError as exc:
                on_failure(exc)
                if isinstance(exc, InvalidArguments) and tool.options.validation_errors == "protocol":
                    details = [{"message": violation} for violation in exc.violations]
                    raise InvalidParams(str(exc), {"valid": False, "details": details}) from exc
                return error_result(exc)
            except Expired as exc:
                ctx.cancelled = True  # a function that is not async still runs, and may check it
                on_failure(exc)
                return error_result(ToolError(f"Tool timed out after {allowed_s:.3g}s"))
    except AuthorFailed as exc:
        LOG.exception("tool %s failed in request %s", tool.name, ctx.request_id)
        on_failure(exc)
        return failed(ctx.request_id)


def failed(request_id: str) -> JSONObject:
    """Return the result of a call whose failure only the log explains."""
    meta = {"_meta": {"request_id": request_id}} if request_id else {}
    return {"content": [Text("Tool execution failed").to_json()], "isError": True, **meta}


async def _answer(tool: ToolDefinition, arguments: JSONObject, ctx: Context) -> JSONObject | InputRequired | ToolCall:
    """Run the tool until all its ``Async`` work is done, and return its result, its questions or its call."""
    if ctx.cancelled:
        raise ToolError("Operation was cancelled")
    source = f"tool {tool.name}"
    async with no_task_left_behind():
        args, kwargs = await _filled(tool, arguments, ctx)
        value = await run(partial(tool.function, *args, **kwargs, **tool.bound), ctx)
        waited_for: list[Any] = []
        while isinstance(value, Async):
            resume = _resume_for(tool, value, waited_for, source)
            waited_for.append(value.work)
            try:
                margin_s = min(RESUME_S, ctx.remaining_time() / 4)
                outcome = await wait_for(unexited(settled(value.work)), ctx, margin_s=margin_s)
            except Expired:
                outcome = Err(TimeoutError("the work did not end in time"))
            source = f"resume of tool {tool.name}"
            value = await run(resume(value.tag, outcome, ctx), ctx)
    if isinstance(value, InputRequired):
        return value
    try:
        if isinstance(value, ToolCall) and tool.output.schema is None:  # the other tool's result has its own form
            return ToolCall(str(value.name), to_json(dict(value.arguments)))
        return tool.output.result_of(value, tool.name, source=source)
    except (TypeError, ValueError, RecursionError) as exc:
        kind = type(value).__name__
        raise Misused(f"{source} returned a value of the type {kind}, which is not a result: {exc}") from exc


async def _filled(tool: ToolDefinition, arguments: JSONObject, ctx: Context) -> Fill:
    """Check the arguments by the schema, the author's validator, or one after the other, and convert them.

    A validator that replaces the schema decides alone, so its arguments are not cast.
    """
    validate, mode = tool.options.validate, tool.options.validate_mode
    try:
        if validate and mode != "after":
            arguments = await _validated(validate, arguments, ctx)
        if validate and mode == "replace":
            return tool.arguments.as_they_are(arguments, ctx)
        arguments = tool.arguments.check(arguments, ctx)
        if validate and mode == "after":
            arguments = await _validated(validate, arguments, ctx)
        return tool.arguments.cast(arguments, ctx)
    except Misfits as exc:
        raise InvalidArguments(tool.name, exc.sentences) from exc


async def _validated(validate: Callable[..., Any], arguments: JSONObject, ctx: Context) -> JSONObject:
    """Return the arguments of the author's validator, or the given ones if the validator returns ``None``."""
    takes_context = len(inspect.signature(validate).parameters) > 1
    result = await run(partial(validate, arguments, *([ctx] if takes_context else [])), ctx)
    if result is not None and not isinstance(result, dict):
        raise Misused(f"validate: expected the arguments or None, got {result!r}")
    return arguments if result is None else result


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
