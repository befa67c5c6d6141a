"""Request tokens for the API from an OAuth token endpoint, which is trusted no further than necessary.

Source: RFC 6749, sections 2.3.1, 4.4, 5.1 and 5.2; RFC 8693, section 2; RFC 8707, section 2.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import quote_plus, urlencode

from handler.bundle.upstream import TOKEN_TYPES, OAuthClient
from handler.errors.infrastructure import HttpError
from handler.errors.upstream import CircuitOpen, CredentialUnavailable
from handler.http.client import HttpRequest, HttpResponse
from handler.server.auth.principal import TOKEN
from handler.strict_json import parse_json

Send = Callable[[HttpRequest], Awaitable[HttpResponse]]

TIMEOUT_S = 5.0
MAX_BYTES = 65_536
MAX_TOKEN_CHARS = 16_384

ASSUMED_S = 300.0
"""The lifetime of a token if the endpoint does not give one."""

MAX_S = 3_600.0
"""The longest time for which a token is kept, whatever the endpoint says: revoked tokens have to end."""

MARGIN_S = 30.0
"""The time before its end at which a token goes out of use: the request takes time, and clocks differ."""

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"

SUBJECT_REFUSED = frozenset({"access_denied", "invalid_grant", "invalid_request"})
"""Errors of a token exchange about the caller's token. Source: RFC 8693, section 2.2.2."""

KNOWN_ERRORS = SUBJECT_REFUSED | {
    "invalid_client",
    "invalid_scope",
    "invalid_target",
    "server_error",
    "temporarily_unavailable",
    "unauthorized_client",
    "unsupported_grant_type",
}


class ClientRefused(CredentialUnavailable):
    """The endpoint refuses the client's secret, which may have been replaced."""


async def request_token(
    send: Send, client: OAuthClient, *, secret: str, grant: Mapping[str, str], timeout_s: float
) -> tuple[str, float]:
    """Request a token. Return the token and the seconds for which it may be kept, 0 if it may not.

    ``grant`` holds the fields of the form beside the client's scope, audience and resource.

    Raises:
        ClientRefused: the endpoint does not accept the client with this secret.
        CredentialUnavailable: there is no token, for any other reason.
    """
    form = {**grant, "scope": client.scope, "audience": client.audience, "resource": client.resource}
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    if client.client_auth == "basic":
        pair = f"{quote_plus(client.client_id)}:{quote_plus(secret)}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": client.client_id, "client_secret": secret}
    request = HttpRequest(
        method="POST",
        url=client.token_url,
        headers=headers,
        body=urlencode({name: value for name, value in form.items() if value}).encode(),
        timeout_s=min(TIMEOUT_S, timeout_s),
        max_bytes=MAX_BYTES,
    )
    try:
        response = await send(request)
    except HttpError as exc:
        raise CredentialUnavailable(f"token endpoint: {exc.reason}") from exc
    except CircuitOpen as exc:
        raise CredentialUnavailable("token endpoint: it did not answer several times in a row") from exc
    return _token_in(response, exchanged=grant["grant_type"] == EXCHANGE)


def _token_in(response: HttpResponse, *, exchanged: bool) -> tuple[str, float]:
    try:
        body = parse_json(response.body)
    except ValueError:
        body = None
    if response.status != 200 or not isinstance(body, dict):
        code = body.get("error") if isinstance(body, dict) else None
        if not isinstance(code, str) or code not in KNOWN_ERRORS:
            # Not for the log: the endpoint's own words could contain the token.
            code = f"status {response.status} and no token"
        if code == "invalid_client" or response.status == 401:
            raise ClientRefused(f"token endpoint: {code}")
        raise CredentialUnavailable(f"token endpoint: {code}", refused=exchanged and code in SUBJECT_REFUSED)
    token, kind = body.get("access_token"), body.get("token_type")
    if not isinstance(token, str) or not TOKEN.fullmatch(token) or len(token) > MAX_TOKEN_CHARS:
        raise CredentialUnavailable("token endpoint: the answer has no access_token")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise CredentialUnavailable("token endpoint: the token is not a bearer token")
    usable = (TOKEN_TYPES["access_token"], TOKEN_TYPES["jwt"])
    if exchanged and body.get("issued_token_type", TOKEN_TYPES["access_token"]) not in usable:
        raise CredentialUnavailable("token endpoint: the token is of a type that no API takes")
    return token, _kept_s(body.get("expires_in"))


def _kept_s(expires_in: object) -> float:
    """Return the seconds for which a token may be kept: 0 for an invalid number. Some servers write a string."""
    if expires_in is None:
        return ASSUMED_S - MARGIN_S
    if isinstance(expires_in, str) and expires_in.isascii() and expires_in.isdecimal() and len(expires_in) < 16:
        expires_in = int(expires_in)
    if isinstance(expires_in, bool) or not isinstance(expires_in, int | float) or not 0 < expires_in < math.inf:
        return 0.0
    return max(min(expires_in, MAX_S) - MARGIN_S, 0.0)
