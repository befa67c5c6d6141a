"""The credential of a request to the API, by the one mode of the endpoint's bundle, for one caller.

An OAuth token endpoint is trusted no further than necessary.

Source: RFC 6749, sections 2.3.1, 4.4, 5.1 and 5.2; RFC 8693, section 2; RFC 8707, section 2.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from math import inf
from urllib.parse import quote_plus, urlencode

from handler.aws.sigv4 import sign
from handler.bundle.upstream import (
    SIGNED_SERVICES,
    TOKEN_TYPES,
    BearerAuth,
    ClientCredentialsAuth,
    HeaderAuth,
    NoAuth,
    PassthroughAuth,
    SecretText,
    SigV4Auth,
    TokenExchangeAuth,
)
from handler.cold.records import record, replaced
from handler.errors.infrastructure import AwsError, HttpError
from handler.errors.upstream import CallerTokenRequired, CircuitOpen, CredentialUnavailable
from handler.http.client import HttpRequest, HttpResponse
from handler.server.auth.principal import TOKEN, audiences_in
from handler.server.context import Caller
from handler.server.outgoing.secret_store import Fetched
from handler.server.upstream.bound_variables import find_claim
from handler.strict_json import find_json

OAuthMode = ClientCredentialsAuth | TokenExchangeAuth

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


@record(frozen=True, slots=True, kw_only=True)
class Credential:
    """A credential for the API. ``refuse`` forgets it and returns ``True`` if another one may be obtained."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: str = field(default="", repr=False)  # or key; without ``Bearer``; empty if absent
    refuse: Callable[[], bool] = lambda: False


async def credential_for(caller: Caller, *, timeout_s: float) -> Credential:
    """Return the credential for a request of this caller. SigV4 signs the request: see ``signature_headers``.

    Raises:
        CallerTokenRequired: the mode needs the caller's own token, and the caller has no token that may be used.
        CredentialUnavailable: the credential could not be obtained; the log gets the reason.

    Source: MCP 2026-07-28, basic/authorization: a token goes to its audience only.
    """
    match caller.endpoint.bundle.upstream.auth:
        case NoAuth() | SigV4Auth():
            return Credential()
        case BearerAuth(token=secret):
            return _as_bearer(await _secret(caller, secret))
        case HeaderAuth(header=header, value=secret):
            key = await _secret(caller, secret)
            return replaced(key, headers={header: key.token})
        case PassthroughAuth(audience=audience):
            if not caller.credential:
                raise CallerTokenRequired
            if audience not in audiences_in(caller.principal.claims or {}):
                raise CallerTokenRequired(audience=audience)
            return _as_bearer(Credential(token=caller.credential))
        case ClientCredentialsAuth() | TokenExchangeAuth() as mode:
            return _as_bearer(await _token(caller, mode, timeout_s))


def _as_bearer(credential: Credential) -> Credential:
    return replaced(credential, headers={"authorization": f"Bearer {credential.token}"})


async def _secret(caller: Caller, secret: SecretText) -> Credential:
    secrets, endpoint = caller.services.outgoing.secrets, caller.endpoint.bundle.endpoint
    value = await secrets.read(secret, endpoint=endpoint)
    return Credential(token=value, refuse=lambda: secrets.refuse(secret, value, endpoint=endpoint))


async def _token(caller: Caller, auth: OAuthMode, timeout_s: float) -> Credential:
    """Return a token from the token endpoint. An exchanged token serves only the caller token that it replaced."""
    inbound = ""
    if isinstance(auth, TokenExchangeAuth):
        if not caller.credential:
            raise CallerTokenRequired
        inbound = hashlib.sha256(caller.credential.encode()).hexdigest()
    # The name in the API's address is a part of the key, so that no tenant's API refuses the token of another's.
    part, tokens = caller.endpoint.bundle.upstream.tenant, caller.services.outgoing.tokens
    tenant = str(find_claim(caller.principal.claims, part.claim)) if part else ""
    key = (caller.endpoint.bundle.endpoint, auth, inbound, tenant)

    async def fetch() -> Fetched:
        secret = await _secret(caller, auth.client.client_secret)
        try:
            return await _ask_for_token(caller, auth, secret.token, timeout_s)
        except ClientRefused:
            if not secret.refuse():
                raise
        renewed = await _secret(caller, auth.client.client_secret)
        return await _ask_for_token(caller, auth, renewed.token, timeout_s)

    value = await tokens.get(key, fetch)
    return Credential(token=value, refuse=lambda: tokens.refuse(key, value))


async def _ask_for_token(caller: Caller, auth: OAuthMode, secret: str, timeout_s: float) -> Fetched:
    """Request a token for the client with this secret.

    Raises:
        ClientRefused: the endpoint does not accept the client with this secret.
        CredentialUnavailable: there is no token, for any other reason.
    """
    services, client, ends_at = caller.services, auth.client, inf
    form = {"grant_type": "client_credentials"}
    if isinstance(auth, TokenExchangeAuth):
        form = {
            "grant_type": EXCHANGE,
            "subject_token": caller.credential,
            "subject_token_type": TOKEN_TYPES[auth.subject_type],
            "requested_token_type": TOKEN_TYPES["access_token"],
        }
        if auth.actor_token:
            actor = await _secret(caller, auth.actor_token)
            form |= {"actor_token": actor.token, "actor_token_type": TOKEN_TYPES[auth.actor_type]}
        ends_at = float((caller.principal.claims or {})["exp"]) - MARGIN_S  # verification has required the claim
    form |= {"scope": client.scope, "audience": client.audience, "resource": client.resource}
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
    circuits, endpoint = services.outgoing.circuits, caller.endpoint.bundle.endpoint
    try:
        response = await circuits.send(services.http, request, endpoint=endpoint)
    except HttpError as exc:
        raise CredentialUnavailable(f"token endpoint: {exc.reason}") from exc
    except CircuitOpen as exc:
        raise CredentialUnavailable("token endpoint: it did not answer several times in a row") from exc
    value, kept_s = _token_in(response, exchanged=isinstance(auth, TokenExchangeAuth))
    return Fetched(value, good_until=min(services.clock() + kept_s, ends_at))


def _token_in(response: HttpResponse, *, exchanged: bool) -> tuple[str, float]:
    body = find_json(response.body)
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


async def signature_headers(caller: Caller, request: HttpRequest, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that sign a request with these ``headers`` by the function's credentials.

    Empty if the API requires no signature.

    Raises:
        CredentialUnavailable: there are no AWS credentials, or the bundle names a service without SigV4 support.
    """
    auth = caller.endpoint.bundle.upstream.auth
    if not isinstance(auth, SigV4Auth):
        return {}
    if auth.service not in SIGNED_SERVICES:
        raise CredentialUnavailable("sigv4: no signatures for this service")
    try:
        credentials = await asyncio.to_thread(caller.services.outgoing.aws.current)  # blocks: boto3 may have to search
    except AwsError as exc:
        raise CredentialUnavailable(f"sigv4: {exc}") from exc
    complete = replaced(request, headers=headers)
    return sign(complete, service=auth.service, region=auth.region, credentials=credentials, now=datetime.now(UTC))
