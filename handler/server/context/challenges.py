"""How a caller learns that a request was denied, and what would do.

Source: RFC 6750, section 3; RFC 9728, section 5; MCP 2026-07-28, basic/authorization; MCP 2025-11-25,
basic/authorization ("Scope Challenge Handling").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from handler.bundle.model import Bundle
from handler.errors import (
    AccessError,
    CredentialMalformed,
    CredentialRefused,
    CredentialRequired,
    InsufficientScope,
)
from handler.server.auth.resource_metadata import (
    metadata_url,
    open_scopes,
    takes_tokens,
    without_offline_access,
)
from handler.server.context.caller import Caller

CODES: Mapping[type[AccessError], str] = {
    CredentialRefused: "invalid_token",
    CredentialMalformed: "invalid_request",
    InsufficientScope: "insufficient_scope",
}
"""Who sent no credential made no error (RFC 6750, section 3.1)."""


SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
"""Source: RFC 6749, section 3.3. A token's claims may have anything else, which no header could carry."""

MAX_HELD_CHARS = 2_000
"""Of the scopes that a caller's token has."""


def challenge(reason: AccessError, bundle: Bundle, public_url: str) -> str:
    """The value of ``WWW-Authenticate``.

    An endpoint that takes tokens says where its metadata is, and asks for the scopes that are needed: the tool's where
    a tool was asked for, else those of all tools that anybody sees, so that one consent does for all of them. A caller
    whose token lacks some is told those that it has as well: some clients ask for exactly what the challenge says, and
    would lose these. They are the token's, whatever this endpoint makes of them, so they tell nothing of its tools.
    """
    parameters = {
        "realm": bundle.endpoint,
        "error": CODES.get(type(reason), ""),
        "scope": " ".join(_scopes(reason, bundle)),
        "resource_metadata": metadata_url(bundle, public_url),
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)


def signing_in_helps(caller: Caller) -> bool:
    """Whether a caller who lacks a credential for an API behind the endpoint may get one by bringing a token here."""
    brought = caller.principal.kind in ("token", "authorizer")
    return not brought and bool(caller.endpoint.bundle.identity.issuers)


def _scopes(reason: AccessError, bundle: Bundle) -> list[str]:
    match reason:
        case InsufficientScope(scopes=scopes, held=held):
            return without_offline_access([*scopes, *_tellable(held)])
        case CredentialRequired(scopes=(_, *_) as scopes):
            return without_offline_access(scopes)
        case CredentialRequired() | CredentialRefused() if takes_tokens(bundle):
            return open_scopes(bundle)
        case _:
            return []


def _tellable(held: Sequence[str]) -> list[str]:
    """The scopes of a token that a header can carry, as many as there is room for."""
    told: list[str] = []
    room = MAX_HELD_CHARS
    for scope in held:
        if SCOPE.fullmatch(scope) and len(scope) < room:
            told.append(scope)
            room -= len(scope) + 1
    return told
