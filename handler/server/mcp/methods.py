"""The MCP methods: one function each with the same parameter, and one table.

Modules of prompts, resources, completion and tool calls load with the first request that needs them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from handler import __version__
from handler.bundle.content import FileResource
from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.cold.records import record
from handler.errors import StileError
from handler.errors.access import AccessError
from handler.errors.calls import SkillNotFound
from handler.errors.protocol import AuthenticationRequired, InvalidParams, McpError
from handler.errors.upstream import UpstreamError
from handler.json_schema.json_bounds import excess_of
from handler.server.asgi.response_size import ANSWER_TOO_LARGE, TOO_LARGE
from handler.server.auth.principal import ANONYMOUS
from handler.server.context import Caller
from handler.server.mcp import revisions
from handler.server.mcp.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Call, Rejected
from handler.server.mcp.tools_list import list_entries, list_tools, page_of
from handler.strict_json import Entry, JSONObject, to_well_formed_json

T = TypeVar("T")

STATUS_OF_CODE: Mapping[int, int] = {PARSE_ERROR: 400, INVALID_REQUEST: 400, METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400}
"""The HTTP status of an error that a code tool raises, by its code; 200 for any other code."""


@record(frozen=True, slots=True)
class Method:
    """A method of MCP: its capability, and the function that returns the result of a call.

    A capability is the endpoint's and reveals nothing of a caller: a caller without rights to any part of it gets an
    empty list. An extension is the caller's: a caller without such rights has no such methods.

    Source: MCP 2026-07-28, server/tools ("Capabilities"); schema, ``ServerCapabilities``.
    """

    capability: str  # without which an endpoint does not have the method; empty: each endpoint has it
    answer: Callable[[Call], Awaitable[JSONObject]]
    era: str = ""  # modern | legacy: the revisions with the method; empty: both


async def answer_call(call: Call) -> JSONObject:
    """Answer a request with its result.

    Raises:
        Rejected: the revision has no such method, or the parameters do not fit.
        ToolNotFound: the caller cannot see a tool of the name, whether or not it exists.
        CredentialRequired: instead of that, if an anonymous caller could use a credential, or the tool asks for scopes.
        InsufficientScope: the caller's claims lack scopes of the tool.
    """
    request = call.request
    method, era = METHODS.get(request.method), "modern" if revisions.is_modern(request.revision) else "legacy"
    if method is None or method.era not in ("", era) or not OFFERS[method.capability](call.caller):
        raise Rejected(METHOD_NOT_FOUND, f"Method not found: {request.method:.80}", id=request.id, status=404)
    try:
        result = await method.answer(call)
        server = call.caller.endpoint.server_info if era == "modern" else Entry()  # to check it takes time
        return revisions.shape(result, request.revision, server, introduces=method.answer is _discover)
    except McpError as exc:
        raise _rejection(call, exc) from exc


def _rejection(call: Call, reason: McpError) -> Rejected:
    """Return the rejection for an ``McpError``. Its data, if not JSON, fails here, and a batch loses this item only."""
    if not call.caller.room.fits(to_well_formed_json([reason.message, reason.data])):
        return Rejected(McpError.INTERNAL_ERROR, TOO_LARGE, id=call.request.id, stile_code=ANSWER_TOO_LARGE)
    status = STATUS_OF_CODE.get(reason.code, 200)
    if isinstance(reason, AuthenticationRequired):
        from handler.server.denials import signing_in_helps

        status = 401 if signing_in_helps(call.caller) else status
    cause = reason.__cause__
    return Rejected(
        reason.code,
        reason.message,
        id=call.request.id,
        status=status,
        facts=reason.data,
        stile_code=reason.stile_code or (cause.stile_code if isinstance(cause, StileError) else ""),
    )


def _has_resources(caller: Caller) -> bool:
    bundle = caller.endpoint.bundle
    has_schemas = bundle.graphql.mode == "on" or any(isinstance(tool, GraphQLTool) for tool in bundle.tools)
    return bool(bundle.resources) or (bool(bundle.index) and has_schemas)


def _has_pages(caller: Caller) -> bool:
    """Return whether the caller may read any page. The extension is declared to such callers only."""
    resources = caller.permitted(caller.endpoint.bundle.resources)
    return any(isinstance(resource, FileResource) and resource.is_page for resource in resources)


def _introduction(call: Call, revision: str) -> JSONObject:
    """Return the capabilities, instructions and the serving program, with which both eras begin."""
    bundle, server = call.caller.endpoint.bundle, call.caller.endpoint.server_info
    if any(server.get(name) != value for name, value in bundle.server.items()):
        call.note(reason="the identity of the server in the bundle is not valid: publish again")
    offered = [name for name, is_offered in OFFERS.items() if name and is_offered(call.caller)]
    offered += [revisions.APPS] if _has_pages(call.caller) else []
    software = {"_meta": {"stile/software": {"name": "stile", "version": __version__}}} if bundle.software else {}
    instructions = {"instructions": bundle.instructions} if bundle.instructions else {}
    return {"capabilities": revisions.capabilities_of(offered, revision), **instructions, **software}


async def _initialize(call: Call) -> JSONObject:
    revision = revisions.negotiate(call.request.params.get("protocolVersion"))
    (server,) = revisions.listed("serverInfo", [call.caller.endpoint.server_info], revision)
    return {"protocolVersion": revision, **_introduction(call, revision), "serverInfo": server}


async def _ping(_: Call) -> JSONObject:
    return {}


async def _set_level(call: Call) -> JSONObject:
    """Accept a level of log messages. No state outlives a request, so no later request sends messages by it.

    Source: MCP 2025-11-25, server/utilities/logging ("Setting Log Level", "Error Handling").
    """
    from handler.code_tools.context import LEVELS

    if call.request.params.get("level") not in LEVELS:
        raise InvalidParams(f"Invalid params: expected a level ({', '.join(LEVELS)})")
    return {}


async def _discover(call: Call) -> JSONObject:
    revision = call.request.revision
    result = {"supportedVersions": list(revisions.MODERN), **_introduction(call, revision)}
    # The introduction differs between callers by their extensions.
    extensions = [has for has in (_skills_of, _has_pages) if has(call.caller)]
    public = _takes_anybody(call) and all(has(call.caller.as_anybody()) for has in extensions)
    return revisions.cacheable(result, revision, public=public)


def _takes_anybody(call: Call) -> bool:
    """Return whether the endpoint takes callers without a credential."""
    return call.caller.endpoint.bundle.access.anonymous == "allow"


async def _list_tools(call: Call) -> JSONObject:
    endpoint, entries = call.caller.endpoint, await list_tools(call)
    page = page_of(call, "tools", entries)
    public = _takes_anybody(call) and not any(kit.per_caller for kit in endpoint.bundle.code)
    if public and call.caller.principal != ANONYMOUS:
        public = await list_entries(endpoint, endpoint.everybody, principal=ANONYMOUS) == entries
    return revisions.cacheable(page, call.request.revision, public=public)


async def _call_tool(call: Call) -> JSONObject:
    from handler.server.mcp.tools_call import call_any_tool

    return await call_any_tool(call, *_name_and_arguments(call))


def _name_and_arguments(call: Call) -> tuple[str, JSONObject]:
    name, arguments = call.request.params.get("name"), call.request.params.get("arguments")
    arguments = {} if arguments is None else arguments
    call.note(decision="refused")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise InvalidParams("Invalid params: expected a name (string) and arguments (object)")
    return name, arguments


async def _answer_task_request(call: Call) -> JSONObject:
    from handler.server.mcp.tasks import answer_task_request

    return await answer_task_request(call)


async def _listen(call: Call) -> JSONObject:
    """Refuse to listen. Source: the extension of tasks, "Task Status Notifications"."""
    from handler.server.mcp.tasks import require_extension

    notifications = call.request.params.get("notifications")
    if isinstance(notifications, dict) and "taskIds" in notifications:
        require_extension(call)
    raise Rejected(METHOD_NOT_FOUND, f"Method not found: {call.request.method}", id=call.request.id, status=404)


async def _list_content(call: Call) -> JSONObject:
    """Return a page of the prompts, resources or templates that a caller may use and that are not hidden."""
    from handler.server.mcp.content import prompts_for, resources_for, templates_for

    key, listed_for = {
        "prompts/list": ("prompts", prompts_for),
        "resources/list": ("resources", resources_for),
        "resources/templates/list": ("resourceTemplates", templates_for),
    }[call.request.method]

    async def entries_for(caller: Caller) -> list[JSONObject]:
        return [listed.entry for listed in await listed_for(caller) if not listed.hidden]

    entries = await entries_for(call.caller)
    page = page_of(call, key, entries)
    return revisions.cacheable(page, call.request.revision, public=await _anybody_gets(call, entries, entries_for))


async def _anybody_gets(call: Call, value: T, get: Callable[[Caller], Awaitable[T]]) -> bool:
    """Return whether a caller without a credential gets an equal value."""
    try:
        return _takes_anybody(call) and await get(call.caller.as_anybody()) == value
    except AccessError:
        return False


async def _get_prompt(call: Call) -> JSONObject:
    name, arguments = _name_and_arguments(call)
    _refuse_excess(call, arguments)
    call.note(prompt=name)
    from handler.server.mcp.content import find_prompt, get_prompt

    texts = {argument: text for argument, text in arguments.items() if text is not None}
    return await get_prompt(call, find_prompt(call.caller, name), texts)


async def _read_resource(call: Call) -> JSONObject:
    from handler.server.mcp.content import fixed_contents, read_resource

    uri = _require_uri(call)
    try:
        result = await read_resource(call, uri)
    except UpstreamError as exc:
        call.note(decision="allowed", reason=type(exc).__name__)
        raise McpError(McpError.INTERNAL_ERROR, str(exc)) from exc
    if result.get("resultType") == "input_required":
        return result
    public = await _anybody_gets(call, result.get("contents"), lambda caller: fixed_contents(caller, uri))
    return revisions.cacheable(result, call.request.revision, public=public)


def _require_uri(call: Call) -> str:
    uri = call.request.params.get("uri")
    call.note(decision="refused")
    if not isinstance(uri, str):
        raise InvalidParams("Invalid params: expected a uri (string)")
    return uri


async def _complete(call: Call) -> JSONObject:
    from handler.server.mcp.content import complete

    _refuse_excess(call, call.request.params)
    return complete(call.caller, call.request.params)


def _refuse_excess(call: Call, values: Mapping[str, Any]) -> None:
    excess = excess_of(values, max_values=call.caller.endpoint.bundle.limits.max_values)
    if excess:
        raise InvalidParams(f"Invalid params: {excess}")


async def _list_skills(call: Call) -> JSONObject:
    """Return a page of the caller's skills. Source: Skills extension of MCP (SEP-2640), "Listing Skills"."""
    entries = _skills_of(call.caller)
    public = _takes_anybody(call) and _skills_of(call.caller.as_anybody()) == entries
    return revisions.cacheable(page_of(call, "skills", entries), call.request.revision, public=public)


async def _get_skill(call: Call) -> JSONObject:
    """Return the entry of a skill. Source: Skills extension of MCP (SEP-2640), "Getting a Skill"."""
    uri = _require_uri(call)
    entry = next((entry for entry in _skills_of(call.caller) if entry["uri"] == uri), None)
    if entry is None:
        raise call.caller.missing(SkillNotFound(uri))
    call.note(resource=uri, decision="allowed")
    public = _takes_anybody(call) and entry in _skills_of(call.caller.as_anybody())
    return revisions.cacheable({"skill": entry}, call.request.revision, public=public)


def _skills_of(caller: Caller) -> list[JSONObject]:
    """Return the entries of the skills that a caller may read, by name. Their files are resources."""
    return [skill.entry for skill in caller.permitted(caller.endpoint.bundle.skills)]


OFFERS: Mapping[str, Callable[[Caller], bool]] = {
    "": lambda _: True,
    "tools": lambda caller: bool(
        caller.endpoint.bundle.tools or any(kit.per_caller for kit in caller.endpoint.bundle.code)
    ),
    "prompts": lambda caller: bool(caller.endpoint.bundle.prompts),
    "resources": _has_resources,
    "completions": lambda caller: any(prompt.completions for prompt in caller.endpoint.bundle.prompts),
    "logging": lambda caller: bool(caller.endpoint.bundle.code),
    revisions.SKILLS: lambda caller: bool(_skills_of(caller)),
    revisions.TASKS: lambda caller: (
        caller.services.states.available
        and any(isinstance(tool, PrescribedTool) and tool.task for tool in caller.endpoint.bundle.tools)
    ),
}
"""The capabilities of the endpoint, whichever of its callers may use them, and the caller's extensions."""

METHODS: Mapping[str, Method] = {
    "server/discover": Method("", _discover, era="modern"),
    "initialize": Method("", _initialize, era="legacy"),
    "ping": Method("", _ping, era="legacy"),
    "logging/setLevel": Method("", _set_level, era="legacy"),
    "tools/list": Method("tools", _list_tools),
    "tools/call": Method("tools", _call_tool),
    "prompts/list": Method("prompts", _list_content),
    "prompts/get": Method("prompts", _get_prompt),
    "resources/list": Method("resources", _list_content),
    "resources/templates/list": Method("resources", _list_content),
    "resources/read": Method("resources", _read_resource),
    "completion/complete": Method("completions", _complete),
    "skills/list": Method(revisions.SKILLS, _list_skills),
    "skills/get": Method(revisions.SKILLS, _get_skill),
    "subscriptions/listen": Method(revisions.TASKS, _listen, era="modern"),
    **dict.fromkeys(revisions.TASK_METHODS, Method(revisions.TASKS, _answer_task_request, era="modern")),
}
