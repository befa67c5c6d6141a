"""The credential of a request to the API, by the one mode of the endpoint's bundle, for one caller."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from math import inf

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
from handler.errors.infrastructure import AwsError
from handler.errors.upstream import CallerTokenRequired, CredentialUnavailable
from handler.http.client import HttpRequest
from handler.server.auth.principal import audiences_in
from handler.server.context import Caller
from handler.server.outgoing.secret_store import Fetched
from handler.server.outgoing.token_endpoint import EXCHANGE, MARGIN_S, ClientRefused, request_token
from handler.server.upstream.bound_variables import find_claim


@record(frozen=True, slots=True, kw_only=True)
class Credential:
    """A credential for the API. ``refuse`` forgets it and returns ``True`` if another one may be obtained."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: str = field(default="", repr=False)  # or key; without ``Bearer``; empty if absent
    refuse: Callable[[], bool] = lambda: False


async def credential_for(caller: Caller, *, timeout_s: float) -> Credential:
    """Return the credential for a request of this caller. A SigV4 signature needs the request: see ``signed``.

    Raises:
        CallerTokenRequired: the mode needs the caller's own token, and the caller has no token that may be used.
        CredentialUnavailable: the credential could not be obtained; the log gets the reason.
    """
    match caller.endpoint.bundle.upstream.auth:
        case NoAuth() | SigV4Auth():
            return Credential()
        case BearerAuth(token=secret):
            return _as_bearer(await _secret(caller, secret))
        case HeaderAuth(header=header, value=secret):
            found = await _secret(caller, secret)
            return replaced(found, headers={header: found.token})
        case PassthroughAuth(audience=audience):
            return _passed_on(caller, audience)
        case ClientCredentialsAuth() | TokenExchangeAuth() as mode:
            return await _token(caller, mode, timeout_s)


async def signed(caller: Caller, request: HttpRequest) -> HttpRequest:
    """Return the request with the function's signature, if the API requires one.

    Raises:
        CredentialUnavailable: there are no AWS credentials, or the bundle names a service without SigV4 support.
    """
    auth = caller.endpoint.bundle.upstream.auth
    if not isinstance(auth, SigV4Auth):
        return request
    if auth.service not in SIGNED_SERVICES:
        raise CredentialUnavailable("sigv4: no signatures for this service")
    try:
        credentials = await asyncio.to_thread(caller.services.outgoing.aws.current)  # blocks: boto3 may have to search
    except AwsError as exc:
        raise CredentialUnavailable(f"sigv4: {exc}") from exc
    added = sign(request, service=auth.service, region=auth.region, credentials=credentials, now=datetime.now(UTC))
    return replaced(request, headers={**request.headers, **added})


async def _secret(caller: Caller, secret: SecretText) -> Credential:
    secrets, endpoint = caller.services.outgoing.secrets, caller.endpoint.bundle.endpoint
    value = await secrets.read(secret, endpoint=endpoint)
    return Credential(token=value, refuse=lambda: secrets.refuse(secret, value, endpoint=endpoint))


def _as_bearer(found: Credential) -> Credential:
    return replaced(found, headers={"authorization": f"Bearer {found.token}"})


def _passed_on(caller: Caller, audience: str) -> Credential:
    """Source: MCP 2026-07-28, basic/authorization: a token goes to its audience only."""
    if not caller.credential:
        raise CallerTokenRequired
    if audience not in audiences_in(caller.principal.claims or {}):
        raise CallerTokenRequired(audience=audience)
    return _as_bearer(Credential(token=caller.credential))


async def _token(caller: Caller, auth: OAuthMode, timeout_s: float) -> Credential:
    """Return a token from the token endpoint. An exchanged token serves only the caller token that it replaced."""
    inbound = ""
    if isinstance(auth, TokenExchangeAuth):
        if not caller.credential:
            raise CallerTokenRequired
        inbound = hashlib.sha256(caller.credential.encode()).hexdigest()
    tokens, key = caller.services.outgoing.tokens, (caller.endpoint.bundle.endpoint, auth, inbound, _tenant_of(caller))
    value = await tokens.get(key, lambda: _fetch_token(caller, auth, timeout_s))
    return _as_bearer(Credential(token=value, refuse=lambda: tokens.refuse(key, value)))


def _tenant_of(caller: Caller) -> str:
    """Return the name in the API's address, so that no tenant's API refuses the token of another's."""
    part = caller.endpoint.bundle.upstream.tenant
    return str(find_claim(caller.principal.claims, part.claim)) if part else ""


async def _fetch_token(caller: Caller, auth: OAuthMode, timeout_s: float) -> Fetched:
    secret = await _secret(caller, auth.client.client_secret)
    try:
        return await _ask_for_token(caller, auth, secret.token, timeout_s)
    except ClientRefused:
        if not secret.refuse():
            raise
    renewed = await _secret(caller, auth.client.client_secret)
    return await _ask_for_token(caller, auth, renewed.token, timeout_s)


async def _ask_for_token(caller: Caller, auth: OAuthMode, secret: str, timeout_s: float) -> Fetched:
    services = caller.services
    grant, ends_at = {"grant_type": "client_credentials"}, inf
    if isinstance(auth, TokenExchangeAuth):
        grant, ends_at = await _exchange_grant(caller, auth), _expiry(caller) - MARGIN_S
    value, kept_s = await request_token(
        partial(services.outgoing.circuits.send, services.http, endpoint=caller.endpoint.bundle.endpoint),
        auth.client,
        secret=secret,
        grant=grant,
        timeout_s=timeout_s,
    )
    return Fetched(value, good_until=min(services.clock() + kept_s, ends_at))


async def _exchange_grant(caller: Caller, exchange: TokenExchangeAuth) -> dict[str, str]:
    """Source: RFC 8693, section 2.1."""
    grant = {
        "grant_type": EXCHANGE,
        "subject_token": caller.credential,
        "subject_token_type": TOKEN_TYPES[exchange.subject_type],
        "requested_token_type": TOKEN_TYPES["access_token"],
    }
    if exchange.actor_token:
        actor = await _secret(caller, exchange.actor_token)
        grant |= {"actor_token": actor.token, "actor_token_type": TOKEN_TYPES[exchange.actor_type]}
    return grant


def _expiry(caller: Caller) -> float:
    """The expiry of the caller's token (UNIX seconds); verification has required the claim."""
    return float((caller.principal.claims or {})["exp"])


OAuthMode = ClientCredentialsAuth | TokenExchangeAuth
