"""The MCP methods: one function each with the same parameter, and one table for each era."""

from __future__ import annotations

from collections.abc import Mapping

from handler.bundle.content import FileResource
from handler.bundle.model import Bundle
from handler.bundle.tools import GraphQLTool
from handler.errors import StileError
from handler.errors.protocol import AuthenticationRequired, InvalidParams, McpError
from handler.server.asgi.response_size import ANSWER_TOO_LARGE, TOO_LARGE
from handler.server.auth.principal import ANONYMOUS
from handler.server.context.caller import Caller
from handler.server.mcp.listing.tools_list import list_entries, list_tools, page_of
from handler.server.mcp.messages.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Rejected,
    SignInRequired,
)
from handler.server.mcp.messages.method_call import Call, Method
from handler.server.mcp.messages.revisions import (
    APPS,
    MODERN,
    SERVER_INFO,
    SKILLS,
    cacheable,
    capabilities_of,
    is_modern,
    negotiate,
    shape,
)
from handler.strict_json import JSONObject, to_well_formed_json

STATUS_OF_CODE: Mapping[int, int] = {PARSE_ERROR: 400, INVALID_REQUEST: 400, METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400}
"""The HTTP status of an error that a code tool raises, by its code; 200 for any other code."""


async def answer(call: Call) -> JSONObject:
    """Answer a request with its result.

    Raises:
        Rejected: the revision has no such method, or the parameters do not fit.
        ToolNotFound: the caller cannot see a tool of the name, whether or not it exists.
        CredentialRequired: instead of that, if an anonymous caller could use a credential, or the tool asks for scopes.
        InsufficientScope: the caller's claims lack scopes of the tool.
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
    """Return the rejection for an ``McpError``. Its data, if not JSON, fails here, and a batch loses this item only."""
    if not call.caller.room.fits(to_well_formed_json([reason.message, reason.data])):
        return Rejected(McpError.INTERNAL_ERROR, TOO_LARGE, id=call.request.id, stile_code=ANSWER_TOO_LARGE)
    if isinstance(reason, AuthenticationRequired):
        from handler.server.context.challenges import signing_in_helps

        if signing_in_helps(call.caller):
            return SignInRequired(reason, id=call.request.id)
    cause = reason.__cause__
    return Rejected(
        reason.code,
        reason.message,
        id=call.request.id,
        status=STATUS_OF_CODE.get(reason.code, 200),
        facts=reason.data,
        stile_code=reason.stile_code or (cause.stile_code if isinstance(cause, StileError) else ""),
    )


def _offered(call: Call) -> list[str]:
    """Return the capabilities of the endpoint, whichever of its callers may use them, and the caller's extensions."""
    bundle = call.caller.endpoint.bundle
    offered = {
        "tools": bool(bundle.tools) or any(kit.per_caller for kit in bundle.code),
        "prompts": bool(bundle.prompts),
        "resources": _has_resources(bundle),
        "completions": any(prompt.completions for prompt in bundle.prompts),
        "logging": bool(bundle.code),
        SKILLS: _has_skills(call.caller),
    }
    return [name for name, there in offered.items() if there]


def _has_skills(caller: Caller) -> bool:
    """Tell if the caller may read any skill. The extension is declared to such callers only."""
    return any(caller.evaluation.meets(skill.mask) for skill in caller.endpoint.bundle.skills)


def _has_pages(caller: Caller) -> bool:
    """Tell if the caller may read any page. The extension is declared to such callers only."""
    return any(
        isinstance(resource, FileResource) and resource.is_page and caller.evaluation.meets(resource.mask)
        for resource in caller.endpoint.bundle.resources
    )


def _has_resources(bundle: Bundle) -> bool:
    """Tell if an endpoint has any resource, for whichever callers."""
    has_schemas = bundle.graphql.mode == "on" or any(isinstance(tool, GraphQLTool) for tool in bundle.tools)
    return bool(bundle.resources) or (bool(bundle.index) and has_schemas)


def _introduction(call: Call, revision: str) -> JSONObject:
    """Return the capabilities and instructions, with which both eras begin."""
    instructions = call.caller.endpoint.bundle.instructions
    said = {"instructions": instructions} if instructions else {}
    offered = [*_offered(call), *([APPS] if _has_pages(call.caller) else [])]
    return {"capabilities": capabilities_of(offered, revision), **said}


async def _initialize(call: Call) -> JSONObject:
    revision = negotiate(call.request.params.get("protocolVersion"))
    return {"protocolVersion": revision, **_introduction(call, revision), "serverInfo": SERVER_INFO}


async def _ping(_: Call) -> JSONObject:
    return {}


async def _set_level(call: Call) -> JSONObject:
    """Accept a level of log messages. No state outlives a request, so no later request sends messages by it.

    Source: MCP 2025-11-25, server/utilities/logging ("Setting Log Level", "Error Handling").
    """
    from handler.code_tools.functions.context import LEVELS

    if call.request.params.get("level") not in LEVELS:
        raise InvalidParams(f"Invalid params: expected a level ({', '.join(LEVELS)})")
    return {}


async def _discover(call: Call) -> JSONObject:
    revision = call.request.revision
    result = {"supportedVersions": list(MODERN), **_introduction(call, revision)}
    return cacheable(result, revision, public=_is_introduction_public(call))


def _is_introduction_public(call: Call) -> bool:
    """Tell if a caller without a credential gets the identical introduction."""
    if call.caller.endpoint.bundle.access.anonymous != "allow":
        return False
    anybody = call.caller.as_anybody()
    return all(has(anybody) or not has(call.caller) for has in (_has_skills, _has_pages))


async def _list_tools(call: Call) -> JSONObject:
    entries = await list_tools(call)
    page = page_of(call, "tools", entries)
    return cacheable(page, call.request.revision, public=await _is_public(call, entries))


async def _answer_content(call: Call) -> JSONObject:
    """Answer a method of prompts, resources or completion. Their modules load with the first such request."""
    from handler.server.mcp.listing.content_methods import CONTENT_METHODS

    return await CONTENT_METHODS[call.request.method](call)


async def _call_tool(call: Call) -> JSONObject:
    name, arguments = call.request.params.get("name"), call.arguments
    call.note(decision="refused")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Rejected(
            INVALID_PARAMS,
            "Invalid params: expected a name (string) and arguments (object)",
            id=call.request.id,
        )
    from handler.server.mcp.tools_call import call_any_tool

    return await call_any_tool(call, name, arguments)


async def _is_public(call: Call, entries: list[JSONObject]) -> bool:
    """Tell if a caller without a credential gets the identical list."""
    endpoint = call.caller.endpoint
    if endpoint.bundle.access.anonymous != "allow" or any(kit.per_caller for kit in endpoint.bundle.code):
        return False
    return call.anonymous or await list_entries(endpoint, endpoint.everybody, principal=ANONYMOUS) == entries


CAPABILITIES: Mapping[str, str] = {
    "tools/list": "tools",
    "tools/call": "tools",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "completion/complete": "completions",
    "skills/list": SKILLS,
    "skills/get": SKILLS,
}
"""The methods that an endpoint has only with a capability, and that capability.

A capability is the endpoint's and reveals nothing of a caller: a caller who may use nothing of it gets an empty list.
An extension is the caller's: a caller who may use nothing of it has no such methods.

Source: MCP 2026-07-28, server/tools ("Capabilities"); schema, ``ServerCapabilities``.
"""

_EVERYWHERE: Mapping[str, Method] = {
    **dict.fromkeys(CAPABILITIES, _answer_content),
    "tools/list": _list_tools,
    "tools/call": _call_tool,
}
METHODS: Mapping[str, Method] = {"server/discover": _discover, **_EVERYWHERE}
LEGACY_METHODS: Mapping[str, Method] = {
    "initialize": _initialize,
    "ping": _ping,
    "logging/setLevel": _set_level,
    **_EVERYWHERE,
}
