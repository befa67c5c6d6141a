"""The MCP methods: one function each, the same parameters everywhere, one table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from handler.bundle import JSONObject
from handler.errors import AuthenticationRequired, McpError
from handler.server.call import Call
from handler.server.challenges import signing_in_helps
from handler.server.inbound import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Rejected,
    SignInRequired,
)
from handler.server.revisions import MODERN, SERVER_INFO, cacheable, is_modern, negotiate, shape
from handler.server.tool_calls import call_any_tool, list_tools
from handler.server.tools import list_entries

CAPABILITIES: JSONObject = {"tools": {}}

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
    if method is None:
        raise Rejected(METHOD_NOT_FOUND, f"Method not found: {request.method:.80}", id=request.id, status=404)
    try:
        return shape(await method(call), request.revision)
    except McpError as exc:
        raise _rejection(call, exc) from exc


def _rejection(call: Call, reason: McpError) -> Rejected:
    """An error that a tool in Python gave, or one about what it was sent."""
    if isinstance(reason, AuthenticationRequired) and signing_in_helps(call.caller):
        return SignInRequired(reason.code, reason.message, id=call.request.id)
    status = STATUSES.get(reason.code, 200)
    return Rejected(reason.code, reason.message, id=call.request.id, status=status, facts=reason.data)


async def _initialize(call: Call) -> JSONObject:
    return {
        "protocolVersion": negotiate(call.request.params.get("protocolVersion")),
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER_INFO,
    }


async def _ping(_: Call) -> JSONObject:
    return {}


async def _discover(call: Call) -> JSONObject:
    result = {"supportedVersions": list(MODERN), "capabilities": CAPABILITIES}
    return cacheable(result, call.request.revision, public=call.caller.endpoint.bundle.access.anonymous == "allow")


async def _list_tools(call: Call) -> JSONObject:
    if call.request.params.get("cursor") is not None:
        raise Rejected(INVALID_PARAMS, "Invalid params: unknown cursor, the list has one page", id=call.request.id)
    entries = await list_tools(call)
    return cacheable({"tools": entries}, call.request.revision, public=await _is_public(call, entries))


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

_TOOLS: Mapping[str, Method] = {"tools/list": _list_tools, "tools/call": _call_tool}
METHODS: Mapping[str, Method] = {"server/discover": _discover, **_TOOLS}
LEGACY_METHODS: Mapping[str, Method] = {"initialize": _initialize, "ping": _ping, **_TOOLS}
