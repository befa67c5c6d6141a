"""The MCP methods: one function each, the same parameters everywhere, one table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from handler.bundle import JSONObject
from handler.errors import AccessError, AuthenticationRequired, InvalidParams, McpError, UpstreamError
from handler.json_shape import to_json_bytes
from handler.server.call import Call
from handler.server.caller import Caller
from handler.server.challenges import signing_in_helps
from handler.server.completion import complete
from handler.server.inbound import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Rejected,
    SignInRequired,
)
from handler.server.payload import TOO_LARGE, fits
from handler.server.prompts import find_prompt, get_prompt, prompts_for
from handler.server.resources import fixed_contents, has_resources, read_resource, resources_for, templates_for
from handler.server.revisions import MODERN, SERVER_INFO, cacheable, capabilities_of, is_modern, negotiate, shape
from handler.server.tool_calls import call_any_tool, list_tools
from handler.server.tools import list_entries
from handler.tools.finding import Listed

T = TypeVar("T")

STATUSES: Mapping[int, int] = {PARSE_ERROR: 400, INVALID_REQUEST: 400, METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400}
"""The HTTP status of an error that a tool in Python gives, by its code; of any other code it is 200."""


async def answer(call: Call) -> JSONObject:
    """Answer a request with its result.

    Raises:
        Rejected: a method that this revision does not have, parameters that do not fit.
        ToolNotFound: a caller named a tool that they cannot see, whether or not it exists.
        CredentialRequired: an anonymous caller did, where there are credentials, or named one that asks for scopes.
        InsufficientScope: a caller's claims lack scopes of the tool.
    """
    request = call.request
    methods = METHODS if is_modern(request.revision) else LEGACY_METHODS
    method = methods.get(request.method)
    needed = CAPABILITIES.get(request.method)
    if method is None or (needed and needed not in _offered(call)):
        raise Rejected(METHOD_NOT_FOUND, f"Method not found: {request.method:.80}", id=request.id, status=404)
    try:
        return shape(await method(call), request.revision)
    except McpError as exc:
        raise _rejection(call, exc) from exc


def _rejection(call: Call, reason: McpError) -> Rejected:
    """An error that a tool in Python gave, or one about what it was sent. What is no JSON fails here, and alone."""
    if not fits(to_json_bytes([reason.message, reason.data])):
        return Rejected(McpError.INTERNAL_ERROR, TOO_LARGE, id=call.request.id)
    if isinstance(reason, AuthenticationRequired) and signing_in_helps(call.caller):
        return SignInRequired(reason.code, reason.message, id=call.request.id)
    status = STATUSES.get(reason.code, 200)
    return Rejected(reason.code, reason.message, id=call.request.id, status=status, facts=reason.data)


def _offered(call: Call) -> list[str]:
    """What the endpoint has for anybody, by the capabilities that say so."""
    bundle = call.caller.endpoint.bundle
    offered = {
        "tools": True,
        "prompts": bool(bundle.prompts),
        "resources": has_resources(bundle),
        "completions": any(prompt.completions for prompt in bundle.prompts),
        "logging": bool(bundle.code),
    }
    return [name for name, there in offered.items() if there]


def _introduction(call: Call, revision: str) -> JSONObject:
    """What both eras begin with."""
    instructions = call.caller.endpoint.bundle.instructions
    said = {"instructions": instructions} if instructions else {}
    return {"capabilities": capabilities_of(_offered(call), revision), **said}


async def _initialize(call: Call) -> JSONObject:
    revision = negotiate(call.request.params.get("protocolVersion"))
    return {"protocolVersion": revision, **_introduction(call, revision), "serverInfo": SERVER_INFO}


async def _ping(_: Call) -> JSONObject:
    return {}


async def _discover(call: Call) -> JSONObject:
    revision = call.request.revision
    result = {"supportedVersions": list(MODERN), **_introduction(call, revision)}
    return cacheable(result, revision, public=call.caller.endpoint.bundle.access.anonymous == "allow")


async def _list_tools(call: Call) -> JSONObject:
    _refuse_cursor(call)
    entries = await list_tools(call)
    return cacheable({"tools": entries}, call.request.revision, public=await _is_public(call, entries))


def _refuse_cursor(call: Call) -> None:
    if call.request.params.get("cursor") is not None:
        raise InvalidParams("Invalid params: unknown cursor, the list has one page")


async def _list_prompts(call: Call) -> JSONObject:
    return await _list(call, "prompts", prompts_for)


async def _list_resources(call: Call) -> JSONObject:
    return await _list(call, "resources", resources_for)


async def _list_templates(call: Call) -> JSONObject:
    return await _list(call, "resourceTemplates", templates_for)


async def _list(call: Call, key: str, listed_for: Callable[[Caller], Awaitable[list[Listed]]]) -> JSONObject:
    """What a caller may use of one kind and is not hidden, on one page."""
    _refuse_cursor(call)

    async def entries_for(caller: Caller) -> list[JSONObject]:
        return [listed.entry for listed in await listed_for(caller) if not listed.hidden]

    entries = await entries_for(call.caller)
    return cacheable({key: entries}, call.request.revision, public=await _anybody_gets(call, entries, entries_for))


async def _get_prompt(call: Call) -> JSONObject:
    name, arguments = call.request.params.get("name"), call.request.params.get("arguments", {})
    call.note(decision="refused")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise InvalidParams("Invalid params: expected a name (string) and arguments (object)")
    call.note(prompt=name)
    return await get_prompt(call, find_prompt(call.caller, name), arguments)


async def _read_resource(call: Call) -> JSONObject:
    uri = call.request.params.get("uri")
    call.note(decision="refused")
    if not isinstance(uri, str):
        raise InvalidParams("Invalid params: expected a uri (string)")
    try:
        result = await read_resource(call, uri)
    except UpstreamError as exc:
        call.note(decision="allowed", reason=type(exc).__name__)
        raise McpError(McpError.INTERNAL_ERROR, str(exc)) from exc
    if result.get("resultType") == "input_required":
        return result
    public = await _anybody_gets(call, result.get("contents"), lambda caller: fixed_contents(caller, uri))
    return cacheable(result, call.request.revision, public=public)


async def _complete(call: Call) -> JSONObject:
    return complete(call.caller, call.request.params)


async def _anybody_gets(call: Call, got: T, get: Callable[[Caller], Awaitable[T]]) -> bool:
    """Whether who brings no credential gets the same."""
    if call.caller.endpoint.bundle.access.anonymous != "allow":
        return False
    try:
        return await get(call.caller.as_anybody()) == got
    except AccessError:
        return False


async def _call_tool(call: Call) -> JSONObject:
    name, arguments = call.request.params.get("name"), call.request.params.get("arguments", {})
    call.note(decision="refused")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Rejected(
            INVALID_PARAMS,
            "Invalid params: expected a name (string) and arguments (object)",
            id=call.request.id,
        )
    return await call_any_tool(call, name, arguments)


async def _is_public(call: Call, entries: list[JSONObject]) -> bool:
    """Whether anybody gets the identical list without a credential."""
    endpoint = call.caller.endpoint
    if endpoint.bundle.access.anonymous != "allow" or any(kit.per_caller for kit in endpoint.bundle.code):
        return False
    return call.anonymous or await list_entries(endpoint, endpoint.everybody) == entries


Method = Callable[[Call], Awaitable[dict[str, Any]]]

_EVERYWHERE: Mapping[str, Method] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "completion/complete": _complete,
}
METHODS: Mapping[str, Method] = {"server/discover": _discover, **_EVERYWHERE}
LEGACY_METHODS: Mapping[str, Method] = {"initialize": _initialize, "ping": _ping, **_EVERYWHERE}

CAPABILITIES: Mapping[str, str] = {
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "completion/complete": "completions",
}
"""Methods that an endpoint has only with what they are for, and the capability that says so."""
