"""The response to a denied request: its status, and its ``WWW-Authenticate`` challenge.

Source: RFC 6750, section 3; RFC 9728, section 5; MCP 2026-07-28, basic/authorization; MCP 2025-11-25,
basic/authorization ("Scope Challenge Handling").
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.bundle.model import Bundle
from handler.errors import StileError
from handler.errors.access import (
    AccessError,
    CredentialMalformed,
    CredentialRefused,
    CredentialRequired,
    InsufficientScope,
    KeysUnavailable,
    VerifierMissing,
)
from handler.errors.calls import (
    CallError,
    DeadlinePassed,
    DocumentNotFound,
    StateUnavailable,
    ToolNotFound,
    ValuesRefused,
)
from handler.errors.consent_errors import ConsentDeclined, ConsentImpossible, ConsentRequired
from handler.errors.upstream import CallerTokenRequired, ClaimMissing, UpstreamError
from handler.server.asgi.public_url import note_unknown_url, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import json_response
from handler.server.auth.jwks import RETRY_PAUSE_S
from handler.server.auth.principal import ANONYMOUS
from handler.server.auth.resource_metadata import (
    metadata_url,
    open_scopes,
    takes_tokens,
    without_offline_access,
)
from handler.server.context import ENDPOINT, Caller

DENIALS: Mapping[int, str] = {
    400: "invalid_request",
    401: "unauthorized",
    403: "insufficient_scope",
    503: "temporarily_unavailable",
}
"""The ``error`` in the body of a denial of the MCP route and of the card. Most denials of MCP precede the message, so
they are not JSON-RPC.
"""


def deny(http_call: HttpCall, reason: AccessError) -> tuple[int, Mapping[str, str]]:
    """Note a denial, and return its status and headers, for a body of any form. The endpoint has been found."""
    note(http_call.scope, decision="denied", outcome="denied", reason=reason.reason, code=reason.stile_code)
    if isinstance(reason, CredentialRequired):
        note(http_call.scope, principal=ANONYMOUS.kind, who=ANONYMOUS.kind)
    status = status_of(reason)
    if isinstance(reason, KeysUnavailable):
        return status, {"retry-after": f"{RETRY_PAUSE_S:.0f}"}
    return status, {} if isinstance(reason, VerifierMissing) else challenge_headers(http_call, reason)


def denial_response(http_call: HttpCall, reason: AccessError) -> Response:
    """Note a denial and build its response in JSON."""
    status, headers = deny(http_call, reason)
    body = {"error": DENIALS[status], "message": str(reason), "code": reason.stile_code}
    return json_response(body, status=status, headers=headers)


def challenge_headers(http_call: HttpCall, reason: AccessError) -> dict[str, str]:
    """Build the challenge that names the place to get a token. The endpoint has been found."""
    bundle, url = http_call.scope[ENDPOINT].bundle, public_url(http_call.scope)
    if takes_tokens(bundle) and not url:
        note_unknown_url(http_call.scope)
    return {"www-authenticate": challenge(reason, bundle, url)}


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
    """Return whether a caller without a credential for the API may get one by sending a token to the endpoint."""
    has_token = caller.principal.kind in ("token", "authorizer")
    return not has_token and bool(caller.endpoint.bundle.identity.issuers)


def _scopes(reason: AccessError, bundle: Bundle) -> list[str]:
    match reason:
        case InsufficientScope(scopes=scopes, held=held):
            room, sendable = MAX_HELD_CHARS, []
            for scope in held:
                if SCOPE.fullmatch(scope) and len(scope) < room:
                    sendable.append(scope)
                    room -= len(scope) + 1
            return without_offline_access([*scopes, *sendable])
        case CredentialRequired(scopes=(_, *_) as scopes) if bundle.access.advertises_scopes:
            return without_offline_access(scopes)
        case CredentialRequired() | CredentialRefused() if takes_tokens(bundle):
            return open_scopes(bundle)
    return []


STATUSES: Mapping[type[StileError], int] = {
    StileError: 500,
    AccessError: 403,
    CredentialRequired: 401,
    CredentialRefused: 401,
    CredentialMalformed: 400,
    InsufficientScope: 403,
    KeysUnavailable: 503,
    VerifierMissing: 503,
    ToolNotFound: 404,
    DocumentNotFound: 400,
    CallError: 400,
    CallerTokenRequired: 403,
    ClaimMissing: 403,
    ConsentDeclined: 403,
    ConsentImpossible: 403,
    ConsentRequired: 403,
    ValuesRefused: 403,
    StateUnavailable: 503,
    UpstreamError: 502,
    DeadlinePassed: 504,
}


def status_of(error: StileError) -> int:
    """Return the status of an error, by its nearest class in ``STATUSES``."""
    return next(STATUSES[each] for each in type(error).__mro__ if each in STATUSES)
