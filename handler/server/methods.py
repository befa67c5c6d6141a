"""The MCP methods: one function each, the same parameters everywhere, one table."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from handler.bundle import CatalogTool, CodeTool, JSONObject
from handler.errors import CallError, UpstreamError
from handler.server.caller import Caller
from handler.server.inbound import INVALID_PARAMS, METHOD_NOT_FOUND, Rejected, Request
from handler.server.principal import ANONYMOUS
from handler.server.revisions import MODERN, SERVER_INFO, cacheable, is_modern, negotiate, shape
from handler.server.scopes import require_scopes
from handler.server.tools import call_tool, failed, find_tool, list_entries

CAPABILITIES: JSONObject = {"tools": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of one caller."""

    request: Request
    caller: Caller
    note: Callable[..., None]  # adds facts to the request's line in the log
    deadline: float = math.inf  # when an answer has to be there, on the clock of time.monotonic
    notifications: list[JSONObject] = field(default_factory=list)  # that go before the answer: progress and messages

    @property
    def anonymous(self) -> bool:
        """Whether no credential came with it."""
        return self.caller.principal == ANONYMOUS


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
    return shape(await method(call), request.revision)


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
    caller = call.caller
    entries = await list_entries(caller.endpoint, caller.judgement)
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
    try:
        tool = await find_tool(call.caller, name)
    except UpstreamError as exc:
        _note_failure(call, exc)
        return failed(exc)
    require_scopes(tool.name, tool.options.scopes, call.caller.principal)
    call.note(decision="allowed")
    if isinstance(tool, CodeTool | CatalogTool):
        raise NotImplementedError(tool.name)
    return await call_tool(call.caller, tool, arguments, on_failure=partial(_note_failure, call))


def _note_failure(call: Call, failure: CallError) -> None:
    """The API's failure is no refusal of ours: the call was allowed, and sent."""
    decision = "allowed" if isinstance(failure, UpstreamError) else "refused"
    call.note(decision=decision, reason=failure.logged)


async def _is_public(call: Call, entries: list[JSONObject]) -> bool:
    """Whether anybody gets the identical list without a credential."""
    endpoint = call.caller.endpoint
    if endpoint.bundle.access.anonymous != "allow":
        return False
    return call.anonymous or await list_entries(endpoint, endpoint.everybody) == entries


Method = Callable[[Call], Awaitable[dict[str, Any]]]

_TOOLS: Mapping[str, Method] = {"tools/list": _list_tools, "tools/call": _call_tool}
METHODS: Mapping[str, Method] = {"server/discover": _discover, **_TOOLS}
LEGACY_METHODS: Mapping[str, Method] = {"initialize": _initialize, "ping": _ping, **_TOOLS}
