"""The status and headers of the response to a denied request."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.errors.access import AccessError, CredentialRequired, KeysUnavailable, VerifierMissing
from handler.records import record
from handler.server.asgi.public_url import note_unknown_url, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import json_response
from handler.server.auth.jwks import RETRY_PAUSE_S
from handler.server.auth.principal import ANONYMOUS
from handler.server.auth.resource_metadata import takes_tokens
from handler.server.context.challenges import challenge
from handler.server.context.request_context import ENDPOINT
from handler.server.context.statuses import status_of

DENIALS: Mapping[int, str] = {
    400: "invalid_request",
    401: "unauthorized",
    403: "insufficient_scope",
    503: "temporarily_unavailable",
}
"""The ``error`` in the body of a denial of the MCP route and of the card. Most denials of MCP precede the message, so
they are not JSON-RPC.
"""


@record(frozen=True, slots=True, kw_only=True)
class Denial:
    """The status and headers of a denial, for a body of any form."""

    status: int
    headers: Mapping[str, str]


def deny(http_call: HttpCall, reason: AccessError) -> Denial:
    """Note a denial and build its response. The request's endpoint has been found."""
    note(http_call.scope, decision="denied", outcome="denied", reason=reason.reason, code=reason.stile_code)
    if isinstance(reason, CredentialRequired):
        note(http_call.scope, principal=ANONYMOUS.kind, who=ANONYMOUS.kind)
    status = status_of(reason)
    if isinstance(reason, KeysUnavailable):
        return Denial(status=status, headers={"retry-after": f"{RETRY_PAUSE_S:.0f}"})
    if isinstance(reason, VerifierMissing):
        return Denial(status=status, headers={})
    return Denial(status=status, headers=_challenge_headers(http_call, reason))


def denial_response(http_call: HttpCall, reason: AccessError) -> Response:
    """Note a denial and build its response in JSON."""
    denial = deny(http_call, reason)
    body = {"error": DENIALS[denial.status], "message": str(reason), "code": reason.stile_code}
    return json_response(body, status=denial.status, headers=denial.headers)


def sign_in_headers(http_call: HttpCall) -> dict[str, str]:
    """Build the challenge that tells a client where to get a token, without an error."""
    return _challenge_headers(http_call, CredentialRequired())


def _challenge_headers(http_call: HttpCall, reason: AccessError) -> dict[str, str]:
    bundle, url = http_call.scope[ENDPOINT].bundle, public_url(http_call.scope)
    if takes_tokens(bundle) and not url:
        note_unknown_url(http_call.scope)
    return {"www-authenticate": challenge(reason, bundle, url)}
