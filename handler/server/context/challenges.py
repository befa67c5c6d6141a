"""The ``WWW-Authenticate`` challenge of a denied request.

Source: RFC 6750, section 3; RFC 9728, section 5; MCP 2026-07-28, basic/authorization; MCP 2025-11-25,
basic/authorization ("Scope Challenge Handling").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from handler.bundle.model import Bundle
from handler.errors.access import (
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
"""A request without a credential gets no error code (RFC 6750, section 3.1)."""


SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
"""Source: RFC 6749, section 3.3. A token's claims may have other texts, which a header cannot carry."""

MAX_HELD_CHARS = 2_000
"""Characters of the challenge for the scopes of the caller's token."""


def challenge(reason: AccessError, bundle: Bundle, public_url: str) -> str:
    """Build the value of ``WWW-Authenticate``.

    The challenge of an endpoint that takes tokens has the URL of its metadata and the needed scopes: those of the
    requested tool, else those of all tools that callers with some claims may use, so that one consent covers all of
    them. Scopes that are not advertised are named to callers with a token alone. If the caller's token lacks a scope,
    the challenge repeats the scopes of the token: some clients request exactly the scopes of the challenge, and would
    lose the others. Scopes of the token do not reveal anything about the endpoint's tools.
    """
    parameters = {
        "realm": bundle.endpoint,
        "error": next((CODES[each] for each in type(reason).__mro__ if each in CODES), ""),
        "scope": " ".join(_scopes(reason, bundle)),
        "resource_metadata": metadata_url(bundle, public_url),
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)


def signing_in_helps(caller: Caller) -> bool:
    """Tell if a caller without a credential for the API may get one by sending a token to the endpoint."""
    brought = caller.principal.kind in ("token", "authorizer")
    return not brought and bool(caller.endpoint.bundle.identity.issuers)


def _scopes(reason: AccessError, bundle: Bundle) -> list[str]:
    match reason:
        case InsufficientScope(scopes=scopes, held=held):
            return without_offline_access([*scopes, *_tellable(held)])
        case CredentialRequired(scopes=(_, *_) as scopes) if bundle.access.advertises_scopes:
            return without_offline_access(scopes)
        case CredentialRequired() | CredentialRefused() if takes_tokens(bundle):
            return open_scopes(bundle)
        case _:
            return []


def _tellable(held: Sequence[str]) -> list[str]:
    """Return the scopes of a token that a header can carry, up to ``MAX_HELD_CHARS``."""
    told: list[str] = []
    room = MAX_HELD_CHARS
    for scope in held:
        if SCOPE.fullmatch(scope) and len(scope) < room:
            told.append(scope)
            room -= len(scope) + 1
    return told
