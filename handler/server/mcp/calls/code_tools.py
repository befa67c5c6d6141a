"""Run the tools, prompts and resources that authors wrote in Python.

An author's module loads with the first call of it, jsonschema and pydantic with the first value that needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from handler.bundle.content import CodePrompt, CodeResource
from handler.bundle.tools import CodeKit, CodeTool
from handler.code_tools import dispatch
from handler.code_tools.boundary import LOG, AuthorFailed, authors_code
from handler.code_tools.context import Context
from handler.code_tools.definition import ToolDefinition
from handler.code_tools.dispatch import failed, run_tool
from handler.code_tools.loading import Definition, as_published, load_kit
from handler.code_tools.results import error_result
from handler.code_tools.return_values import InputRequired
from handler.code_tools.sections import Listed
from handler.code_tools.toolkit import Toolkit
from handler.errors.calls import CallError, CodeChanged, ToolError
from handler.errors.protocol import AuthenticationRequired, McpError
from handler.server.asgi.response_size import encoded
from handler.server.auth.principal import ANONYMOUS
from handler.server.auth.scopes import require_scopes
from handler.server.endpoints.arguments_validator import refuse_excess
from handler.server.mcp.calls.code_context import context_of
from handler.server.mcp.calls.input_required import ask
from handler.server.mcp.messages.method_call import Call
from handler.strict_json import JSONObject


async def call_code_tool(call: Call, tool: CodeTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Call a code tool by its name or an alias. Return a ``CallToolResult``, or an ``input_required`` result.

    Raises:
        McpError: the tool raises it, or the caller lacks a credential.
        AccessError: the caller lacks scopes.
        Rejected: the tool asks for input that the client does not support.
    """
    name = call.request.params["name"]
    try:
        definition = _published(_loaded(call, tool.kit).find_tool(tool.name), tool.digest, f"Tool {name}")
        ctx = await _context(call, definition)
        value = await run_tool(definition.named(name), _own(call, name, arguments), ctx, on_failure=call.fail)
        return _with_options(await _answer(call, value), tool)
    except (AuthorFailed, CallError) as exc:
        return _failed(call, name, exc)


async def get_code_prompt(call: Call, prompt: CodePrompt, arguments: Mapping[str, Any]) -> JSONObject:
    """Run a code prompt. Return a ``GetPromptResult``, or an ``input_required`` result.

    Raises:
        McpError: the arguments do not fit, or the prompt failed; only the log gets an exception of the author's code.
        Rejected: the prompt asks for input that the client does not support.
    """
    from handler.code_tools.content import run_prompt  # most requests are calls of tools

    what = f"Prompt {prompt.name}"
    try:
        kit = _loaded(call, prompt.kit)
        current = next((each for each in kit.prompts if each.name == prompt.name), None)
        definition = _published(current, prompt.digest, what)
        return await _answer(call, await run_prompt(definition, arguments, await context_of(call)))
    except (AuthorFailed, CallError) as exc:
        raise _failure(call, what, exc) from exc


async def read_code_resource(call: Call, resource: CodeResource, uri: str) -> JSONObject:
    """Read a code resource at a URI of it. Return a ``ReadResourceResult``, or an ``input_required`` result.

    Raises:
        McpError: the resource failed; only the log gets an exception of the author's code.
        Rejected: the resource asks for input that the client does not support.
    """
    from handler.code_tools.content import run_resource  # as above

    own = resource.entry.get("uri") or resource.entry["uriTemplate"]
    what = f"Resource {own}"
    try:
        current = next((each for each in _loaded(call, resource.kit).resources if each.uri == own), None)
        definition = _published(current, resource.digest, what)
        return await _answer(call, await run_resource(definition, uri, await context_of(call)))
    except (AuthorFailed, CallError) as exc:
        raise _failure(call, what, exc) from exc


async def may_use(call: Call, tool: CodeTool) -> bool:
    """Return whether the toolkit lets this caller use a tool of its own; false if its code fails."""
    try:
        definition = _loaded(call, tool.kit).find_tool(tool.name)
        with authors_code():
            return definition is None or definition.allows(await context_of(call))  # a call to a missing tool says so
    except AuthorFailed as exc:
        _log(call, f"allow of tool {tool.name}", exc)
        return False


async def tools_of_kit(call: Call, kit: CodeKit) -> list[Listed]:
    """Return the tools of a toolkit for this caller, as the endpoint's configuration shows them.

    Raises:
        McpError: the toolkit's code failed.
    """
    try:
        loaded = _loaded(call, kit.use)
        with authors_code():
            sections = await dispatch.sections_of(loaded, await context_of(call))
    except AuthorFailed as exc:
        _log(call, f"toolkit {kit.use}", exc)
        raise McpError(McpError.INTERNAL_ERROR, "The tools could not be listed") from exc
    own = {tool.name for tool in loaded.tools}
    published = call.caller.endpoint.tools
    return [
        each if each.entry["name"] in own else _configured(each, kit)
        for each in sections["tools"]
        if each.entry["name"] not in own or each.entry["name"] in published  # tools of newer code await publishing
    ]


async def call_provided_tool(call: Call, kit: CodeKit, name: str, arguments: Mapping[str, Any]) -> JSONObject:
    """Call a tool that a toolkit's provider has for this caller, as ``call_code_tool`` does.

    Raises:
        McpError: as ``call_code_tool``, or the tool no longer exists.
    """
    try:
        loaded, ctx = _loaded(call, kit.use), await context_of(call)
        own = _own(call, name, arguments)
        return await _answer(call, await dispatch.call_tool(loaded, name, own, ctx, on_failure=call.fail))
    except (AuthorFailed, CallError) as exc:
        return _failed(call, name, exc)


def _failed(call: Call, name: str, exc: AuthorFailed | CallError) -> JSONObject:
    """Return a result with ``isError`` that says why a tool failed; only the log gets an exception of its code."""
    call.fail(exc)
    if isinstance(exc, CallError):
        return error_result(exc)
    _log(call, f"tool {name}", exc)
    return failed(call.caller.request_id)


def _own(call: Call, tool: str, arguments: Mapping[str, Any]) -> JSONObject:
    """Copy the arguments for the author to change: the state of a question is bound to the arguments as they came.

    Raises:
        InvalidArguments: the arguments are too many, or nested too deeply.
    """
    refuse_excess(tool, arguments, max_values=call.caller.endpoint.bundle.limits.max_values)
    return deepcopy(dict(arguments))


def _loaded(call: Call, use: str) -> Toolkit:
    with authors_code():
        return load_kit(use, modules=call.caller.services.code_modules)


def _published(definition: Definition | None, digest: str, what: str) -> Definition:
    """Return the definition if it takes and returns what the bundle says.

    Raises:
        CodeChanged: the definition differs from the bundle, or is ``None``.
    """
    with authors_code():
        published = None if definition is None else as_published(definition, digest)
        if published is None:
            raise CodeChanged(what)
        return published


async def _context(call: Call, definition: ToolDefinition) -> Context:
    """Return the context of a call whose caller meets the options in the code, which may be newer than the bundle's.

    Raises:
        AccessError: the caller lacks scopes.
        AuthenticationRequired: the caller is anonymous.
    """
    require_scopes(definition.name, definition.options.scopes, call.caller.principal)
    if definition.options.requires_auth and call.caller.principal == ANONYMOUS:
        raise AuthenticationRequired
    ctx = await context_of(call, needs_credential=definition.options.requires_auth)
    if call.caller.principal.claims is None:
        ctx.scopes = frozenset(definition.options.scopes)  # a caller without claims needs no scopes
    return ctx


async def _answer(call: Call, value: JSONObject | InputRequired) -> JSONObject:
    """Return the result to send, which may ask questions.

    Raises:
        CallError: the result is too large, or the client cannot be asked.
        AuthorFailed: the questions are not valid, or the value is not JSON.
    """
    try:
        if isinstance(value, InputRequired):
            with authors_code():
                requests = value.input_requests()
            value = await ask(call, requests, state=value.state)
        encoded(value, refuse=ToolError, room=call.caller.room)
    except (TypeError, ValueError, RecursionError) as exc:
        raise AuthorFailed(exc) from exc
    return value


def _with_options(result: JSONObject, tool: CodeTool) -> JSONObject:
    """Return the result in the form, and with the metadata, of the tool's options in the bundle."""
    options = tool.options
    if options.output == "text":
        result = {name: value for name, value in result.items() if name != "structuredContent"}
    elif options.output == "structured" and "structuredContent" in result:
        result = {**result, "content": []}
    return {**result, "_meta": {**options.meta, **result.get("_meta", {})}} if options.meta else result


def _configured(listed: Listed, kit: CodeKit) -> Listed:
    """Return a provider's tool with the configuration that the endpoint gives to the whole toolkit."""
    entry = listed.entry
    if kit.category:
        entry = {**entry, "_meta": {**entry.get("_meta", {}), "category": kit.category}}
    return Listed(entry=entry, hidden=bool(kit.hidden))


def _failure(call: Call, what: str, exc: AuthorFailed | CallError) -> McpError:
    """Return the error for a failed prompt or resource, whose results cannot express failure."""
    call.note(reason=type(exc).__name__)
    if isinstance(exc, CallError):
        return McpError(McpError.INTERNAL_ERROR, str(exc))
    _log(call, what, exc)
    return McpError(McpError.INTERNAL_ERROR, f"{what} failed")


def _log(call: Call, what: str, exc: AuthorFailed) -> None:
    LOG.error("%s failed in request %s", what, call.caller.request_id, exc_info=exc)
