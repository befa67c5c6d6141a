"""The facts that a sealed state is bound to: the endpoint, the request, the caller, and claims that the API gets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from handler.bundle.operations import Binding
from handler.bundle.tools import GraphQLTool, PrescribedTool, Tool
from handler.errors.protocol import StateRefused
from handler.server.context.caller import Caller
from handler.server.upstream.bound_variables import find_claim
from handler.strict_json import JSONObject


def binding_of(caller: Caller, *, tool: Tool | None, method: str, name: Any, arguments: Any) -> JSONObject:
    """Return the facts that have to be equal in the next call. ``tool`` is ``None`` for anything else in Python.

    One subject may have tokens for several tenants. So the claims count that fill the API's address, its headers or
    bound variables. Other claims, such as ``exp``, change with each token.

    Raises:
        StateRefused: the arguments are nested so deeply that no call with them can have got a state.
    """
    return {
        "endpoint": caller.endpoint.bundle.endpoint,
        "method": method,
        "name": name,
        "arguments": _digest(arguments),
        "principal": [*caller.principal.identity],
        "claims": _digest(_sent_claims(caller, tool)),
    }


def _sent_claims(caller: Caller, tool: Tool | None) -> JSONObject:
    """Return the values of the claims that requests of a tool carry to the API; ``None`` for an absent claim."""
    upstream = caller.endpoint.bundle.upstream
    names = {*upstream.claim_headers.values(), *([upstream.tenant.claim] if upstream.tenant else [])}
    names |= {binding.name for binding in _bindings(caller, tool) if binding.source == "claim"}
    return {name: find_claim(caller.principal.claims, name) for name in names}


def _bindings(caller: Caller, tool: Tool | None) -> Iterable[Binding]:
    """Return the bound variables of a tool's requests. Code may run any operation of the endpoint."""
    match tool:
        case PrescribedTool(bindings=bindings):
            return bindings
        case GraphQLTool():
            return ()
        case _:
            operations = caller.endpoint.operations.values()
            return (binding for same_name in operations for each in same_name for binding in each.bindings)


def _digest(value: Any) -> str:
    """Return a digest of JSON that does not depend on the order of members."""
    try:
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    except RecursionError as exc:
        raise StateRefused from exc
