"""Results that ask the client's user first, the answers that come with the next call, and consent.

The server keeps nothing between the two calls. The state of a call travels through the client, sealed for the facts of
``binding_of``.

Source: MCP 2026-07-28, basic/patterns/mrtr.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, assert_never

from handler.bundle.tools import (
    CONFIRM,
    MAX_CONSENT_CHARS,
    Binding,
    CatalogTool,
    CodeTool,
    CompanionTool,
    GraphQLTool,
    PrescribedTool,
    Tool,
)
from handler.bundle.upstream import Upstream
from handler.errors.calls import ClientCannotAsk
from handler.errors.consent_errors import ConsentDeclined, ConsentImpossible, ConsentRequired, ConsentTooLong
from handler.errors.protocol import InvalidParams, StateRefused
from handler.json_schema.json_bounds import MAX_NESTING, nests_too_deeply
from handler.server.context import Caller
from handler.server.mcp.jsonrpc import MISSING_CAPABILITY, NAMED_METHODS, Call, Rejected
from handler.server.mcp.revisions import is_modern
from handler.server.upstream.bound_variables import find_claim
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject
from handler.text.invisible import escaped

CAPABILITIES: Mapping[str, str] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""The capability that a client declares if it answers requests of a method."""


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
    if nests_too_deeply([requests, state]):
        raise ValueError(f"requests and a state: nested more than {MAX_NESTING} deep")
    if not all(isinstance(key, str) for key in requests):
        raise ValueError(f"requests {list(requests)}: expected texts as keys, for the answers have such")
    capabilities = [_capability_for(request) for request in requests.values()]
    if not is_modern(call.request.revision):
        raise ClientCannotAsk
    for name, by_url in capabilities:
        if not _is_declared(call, name, by_url=by_url):
            sentence = f"The client cannot be asked: this needs the capability {name}{' for URLs' if by_url else ''}"
            needed: JSONObject = {name: {"url": {}} if by_url else {}}
            raise Rejected(MISSING_CAPABILITY, sentence, id=call.request.id, facts={"requiredCapabilities": needed})
    result: JSONObject = {"resultType": "input_required"}
    if requests:
        result["inputRequests"] = dict(requests)
    if state is not None:
        content = {"asked": list(requests), "state": state}
        result["requestState"] = await call.caller.services.states.seal(content, binding=_binding(call))
    return result


async def answers_to(call: Call) -> tuple[Mapping[str, JSONObject], Any]:
    """Return the answers that came with a call, by the keys of the requests, and the state that was sent with them.

    With a state, only answers to the requests of that state count, from this caller for this very call. Without a
    state, no earlier request is proven or needed: such answers are the client's word, as arguments are.

    Raises:
        StateRefused: the state is not for this call and caller, or too old.
        InvalidParams: the answers are not an object of objects.
    """
    if not is_modern(call.request.revision) or call.request.method not in NAMED_METHODS:
        return {}, None
    responses = call.request.params.get("inputResponses", {})
    if not isinstance(responses, dict) or not all(isinstance(each, dict) for each in responses.values()):
        raise InvalidParams("inputResponses: expected an object of objects")
    sealed = call.request.params.get("requestState")
    if sealed is None:
        return responses, None
    opened = await call.caller.services.states.open(sealed, binding=_binding(call))
    return {key: responses[key] for key in opened["asked"] if key in responses}, opened["state"]


def _capability_for(request: JSONObject) -> tuple[str, bool]:
    """Return the capability that a client needs for a request, and whether for its mode with a URL."""
    method = str(request.get("method", ""))
    if method not in CAPABILITIES:
        raise ValueError(f"a request of {method}: expected one of {', '.join(CAPABILITIES)}")
    params = request.get("params", {})
    if not isinstance(params, dict):
        raise TypeError(f"a request of {method}: expected an object as params, got {type(params).__name__}")
    return CAPABILITIES[method], method == "elicitation/create" and params.get("mode") == "url"


def _is_declared(call: Call, capability: str, *, by_url: bool = False) -> bool:
    """Return whether the client declares a capability. One that declares no mode of elicitation can show forms.

    Source: MCP 2026-07-28, client/elicitation ("Capabilities").
    """
    declared = call.client_capabilities.get(capability)
    if not isinstance(declared, dict):
        return False
    return "url" in declared if by_url else "url" not in declared or "form" in declared


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
    names = sent_claims(caller.endpoint.bundle.upstream, _bindings(caller, tool))
    return {
        "endpoint": caller.endpoint.bundle.endpoint,
        "method": method,
        "name": name,
        "arguments": _digest(arguments),
        "principal": [*caller.principal.identity],
        "claims": _digest({name: find_claim(caller.principal.claims, name) for name in names}),
    }


def sent_claims(upstream: Upstream, bindings: Iterable[Binding]) -> set[str]:
    """Return the names of the claims that reach the API."""
    names = {*upstream.claim_headers.values(), *([upstream.tenant.claim] if upstream.tenant else [])}
    return names | {binding.name for binding in bindings if binding.source == "claim"}


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


BRAILLE_BLANK = "\u2800"
"""A printable symbol to Unicode, without a visible dot."""

_BLANK_LINES = re.compile(r"\n(?: *\n){2,}")

FORM: JSONObject = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Do it", "description": "Whether this shall be done, as it stands above."}
    },
    "required": [CONFIRM],
}


async def ask_consent(
    call: Call, tool: Tool, arguments: Mapping[str, Any], request: GraphQLRequest, *, shown: Mapping[str, Any]
) -> GraphQLRequest | JSONObject:
    """Return the request with the consent of the caller's user, or the result that asks for consent.

    A user who can be asked is asked, whatever the model says: the answer comes from the client. If not, ``advisory``
    demands an argument, which is the model's word, and ``required`` refuses the call.

    ``shown``: the variables that callers fill. A mutation gets a key that is equal each time the client sends the
    user's answer, by which the API recognizes a repetition.

    Raises:
        ConsentRequired: the user cannot be asked, and the model did not say that the user agreed.
        ConsentImpossible: the user cannot be asked, and the tool does not take the model's word.
        ConsentDeclined: the user declined.
        ConsentTooLong: the question is too long to show it whole.
        ClaimMissing: the API's address needs a claim that the caller does not have.
        StateUnavailable: the function has no key to seal the question with.
        StateRefused: the answer is not to this call, or comes too late.
    """
    is_required = tool.options.confirm == "required"
    if not _is_declared(call, "elicitation") or not (is_required or call.caller.services.states.available):
        if is_required:
            raise ConsentImpossible(tool.name)
        if arguments.get(CONFIRM) is not True:
            raise ConsentRequired(tool.name, say=f'"{CONFIRM}": true')
        return request
    question = _question(call, tool, request.text, shown)
    # The question, and the operation and variables as they are sent.
    proposal = json.dumps([question, request.text, dict(shown)], sort_keys=True)
    digest = hashlib.sha256(proposal.encode()).hexdigest()
    responses, state = await answers_to(call)
    if isinstance(state, dict) and state.get("asked") == digest:
        match responses.get(CONFIRM):
            case {"action": "accept", "content": {"confirm": True}}:
                return request if request.is_query else replace(request, idempotency_key=state["key"])
            case {"action": "decline" | "cancel"} | {"action": "accept", "content": {"confirm": False}}:
                raise ConsentDeclined(tool.name)
    else:  # no answer, or one to another question: another version was published since
        state = {"asked": digest, "key": str(uuid.uuid4())}
    params = {"mode": "form", "message": question, "requestedSchema": FORM}
    return await ask(call, {CONFIRM: {"method": "elicitation/create", "params": params}}, state=state)


def _question(call: Call, tool: Tool, operation: str, variables: Mapping[str, Any]) -> str:
    """Return the text that the user reads: all of the operation and of the variables.

    Raises:
        ConsentTooLong: the operation or the variables are longer than a question allows.
        ClaimMissing: the caller has no address of the API, so nothing could be sent.
    """
    target, part = call.caller.endpoint.bundle.endpoint, call.caller.endpoint.bundle.upstream.tenant
    if part:
        from handler.server.upstream.sending import url_of_tenant

        value = url_of_tenant(call.caller, part).removeprefix(part.before).removesuffix(part.after)
        target += f" for {part.claim} {value}"  # 100 plain characters at most
    parts = [
        f"{tool.entry.get('title') or tool.name} would send this to {target}:",
        _shown(operation, tool, "the operation"),
    ]
    if variables:
        json_text = json.dumps(variables, indent=2, ensure_ascii=False)
        parts += ["with these variables:", _shown(json_text, tool, "its variables")]
    return "\n\n".join(parts)


def _shown(text: str, tool: Tool, part: str) -> str:
    """Escape all characters of a text that are invisible, turn others around or push them away. Nothing is cut."""
    visible = "".join(
        character
        if (character.isprintable() and character != BRAILLE_BLANK) or character == "\n"
        else ascii(character)[1:-1]
        for character in escaped(text)
    )
    visible = _BLANK_LINES.sub(lambda run: "\\n" * run[0].count("\n"), visible)
    if len(visible) > MAX_CONSENT_CHARS:
        raise ConsentTooLong(tool.name, part, chars=len(visible), max_chars=MAX_CONSENT_CHARS)
    return visible
