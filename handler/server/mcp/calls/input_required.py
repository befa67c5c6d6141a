"""Results that ask the client's user first, and the answers that come with the next call.

The server keeps nothing between the two. The state of a call travels through the client, sealed for the facts of
``binding_of``.

Source: MCP 2026-07-28, basic/patterns/mrtr.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from handler.bundle.operations import Binding
from handler.bundle.tools import CatalogTool, CodeTool, CompanionTool, GraphQLTool, PrescribedTool, Tool
from handler.cold.records import record
from handler.errors.calls import ClientCannotAsk
from handler.errors.protocol import InvalidParams, StateRefused
from handler.json_schema.json_bounds import MAX_NESTING, nests_deeper
from handler.server.context.caller import Caller
from handler.server.mcp.messages.jsonrpc import MISSING_CAPABILITY, NAMED_METHODS, Rejected
from handler.server.mcp.messages.method_call import Call
from handler.server.mcp.messages.revisions import is_modern
from handler.server.upstream.bound_variables import find_claim
from handler.strict_json import JSONObject

CAPABILITIES: Mapping[str, str] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""The capability that a client declares if it answers requests of a method."""


@record(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to requests, by the keys of the requests, and the state that was sent with them."""

    responses: Mapping[str, JSONObject]
    state: Any


NO_ANSWERS = Answers(responses={}, state=None)


async def ask(call: Call, requests: Mapping[str, JSONObject], *, state: Any = None) -> JSONObject:
    """Return the result that asks for answers to ``requests``, which are MCP's objects by key; ``state`` is JSON.

    Raises:
        ClientCannotAsk: the revision has no such results.
        Rejected: the client does not declare the capability for a request.
        StateUnavailable: there is no key to seal the state with, or the state is too large.
        TypeError, ValueError: a request is not valid, or there is neither a request nor a state.
    """
    if not requests and state is None:
        raise ValueError("expected requests, or a state")
    if nests_deeper([requests, state], MAX_NESTING):
        raise ValueError(f"requests and a state: nested more than {MAX_NESTING} deep")
    if not all(isinstance(key, str) for key in requests):
        raise ValueError(f"requests {list(requests)}: expected texts as keys, for the answers have such")
    needed = [_needed(request) for request in requests.values()]
    if not is_modern(call.request.revision):
        raise ClientCannotAsk
    for capability in needed:
        _require(call, capability)
    result: JSONObject = {"resultType": "input_required"}
    if requests:
        result["inputRequests"] = dict(requests)
    if state is not None:
        content = {"asked": list(requests), "state": state}
        result["requestState"] = await call.caller.services.states.seal(content, binding=_binding(call))
    return result


async def answers_to(call: Call) -> Answers:
    """Return the answers that came with a call.

    With a state, only answers to the requests of that state count, from this caller for this very call. Without a
    state, no earlier request is proven or needed: such answers are the client's word, as arguments are.

    Raises:
        StateRefused: the state is not for this call and caller, or too old.
        InvalidParams: the answers are not an object of objects.
    """
    if not is_modern(call.request.revision) or call.request.method not in NAMED_METHODS:
        return NO_ANSWERS
    responses = call.request.params.get("inputResponses", {})
    if not isinstance(responses, dict) or not all(isinstance(each, dict) for each in responses.values()):
        raise InvalidParams("inputResponses: expected an object of objects")
    sealed = call.request.params.get("requestState")
    if sealed is None:
        return Answers(responses=responses, state=None)
    opened = await call.caller.services.states.open(sealed, binding=_binding(call))
    answered = {key: responses[key] for key in opened["asked"] if key in responses}
    return Answers(responses=answered, state=opened["state"])


def _needed(request: JSONObject) -> JSONObject:
    """Return the capability that a client needs for a request, as the client would declare it."""
    method = str(request.get("method", ""))
    if method not in CAPABILITIES:
        raise ValueError(f"a request of {method}: expected one of {', '.join(CAPABILITIES)}")
    params = request.get("params", {})
    if not isinstance(params, dict):
        raise TypeError(f"a request of {method}: expected an object as params, got {type(params).__name__}")
    is_url = method == "elicitation/create" and params.get("mode") == "url"
    return {CAPABILITIES[method]: {"url": {}} if is_url else {}}


def _require(call: Call, needed: JSONObject) -> None:
    """Refuse a client without the capability. A client that declares no mode of elicitation can show forms."""
    ((name, modes),) = needed.items()
    declared = call.client_capabilities.get(name)
    can = isinstance(declared, dict) and ("url" in declared if modes else "url" not in declared or "form" in declared)
    if not can:
        sentence = f"The client cannot be asked: this needs the capability {name}{' for URLs' if modes else ''}"
        raise Rejected(MISSING_CAPABILITY, sentence, id=call.request.id, facts={"requiredCapabilities": needed})


def _binding(call: Call) -> JSONObject:
    """Return the facts that have to be equal in the next call."""
    method, params = call.request.method, call.request.params
    name, arguments = params.get(NAMED_METHODS[method]), params.get("arguments", {})
    tool = call.caller.endpoint.tools.get(str(name)) if method == "tools/call" else None
    return binding_of(call.caller, tool=tool, method=method, name=name, arguments=arguments)


def binding_of(caller: Caller, *, tool: Tool | None, method: str, name: Any, arguments: Any) -> JSONObject:
    """Return the facts that have to be equal in the next call. ``tool`` is ``None`` for anything else in Python.

    One subject may have tokens for several tenants. So the claims count that fill the API's address, its headers or
    bound variables. Other claims, such as ``exp``, change with each token.

    Raises:
        StateRefused: the arguments are nested so deeply that no call with them can have got a state.
    """
    upstream = caller.endpoint.bundle.upstream
    names = {*upstream.claim_headers.values(), *([upstream.tenant.claim] if upstream.tenant else [])}
    names |= {binding.name for binding in _bindings(caller, tool) if binding.source == "claim"}
    return {
        "endpoint": caller.endpoint.bundle.endpoint,
        "method": method,
        "name": name,
        "arguments": _digest(arguments),
        "principal": [*caller.principal.identity],
        "claims": _digest({name: find_claim(caller.principal.claims, name) for name in names}),
    }


def _bindings(caller: Caller, tool: Tool | None) -> Iterable[Binding]:
    """Return the bound variables of a tool's requests. Code may run any operation of the endpoint."""
    match tool:
        case PrescribedTool(bindings=bindings):
            return bindings
        case GraphQLTool():
            return ()
        case CodeTool() | CompanionTool() | CatalogTool() | None:
            operations = caller.endpoint.operations.values()
            return (binding for same_name in operations for each in same_name for binding in each.bindings)
        case _:
            assert_never(tool)


def _digest(value: Any) -> str:
    """Return a digest of JSON that does not depend on the order of members."""
    try:
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    except RecursionError as exc:
        raise StateRefused from exc
