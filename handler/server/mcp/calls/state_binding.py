"""The facts that a sealed state is bound to: the endpoint, the request, and the caller."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from handler.errors.protocol import StateRefused
from handler.server.context.caller import Caller
from handler.strict_json import JSONObject


def binding_of(caller: Caller, *, method: str, name: Any, arguments: Any) -> JSONObject:
    """Return the facts that have to be equal in the next call.

    Raises:
        StateRefused: the arguments are nested so deeply that no call with them can have got a state.
    """
    return {
        "endpoint": caller.endpoint.bundle.endpoint,
        "method": method,
        "name": name,
        "arguments": _digest(arguments),
        "principal": [*caller.principal.identity],
    }


def _digest(arguments: Any) -> str:
    """Return a digest of JSON that does not depend on the order of members."""
    try:
        return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
    except RecursionError as exc:
        raise StateRefused from exc
