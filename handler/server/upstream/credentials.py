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
    """Source: RFC 6749, section 4.4; RFC 8693, section 2.1."""
    services = caller.services
    grant, ends_at = {"grant_type": "client_credentials"}, inf
    if isinstance(auth, TokenExchangeAuth):
        grant = {
            "grant_type": EXCHANGE,
            "subject_token": caller.credential,
            "subject_token_type": TOKEN_TYPES[auth.subject_type],
            "requested_token_type": TOKEN_TYPES["access_token"],
        }
        if auth.actor_token:
            actor = await _secret(caller, auth.actor_token)
            grant |= {"actor_token": actor.token, "actor_token_type": TOKEN_TYPES[auth.actor_type]}
        ends_at = float((caller.principal.claims or {})["exp"]) - MARGIN_S  # verification has required the claim
    value, kept_s = await request_token(
        partial(services.outgoing.circuits.send, services.http, endpoint=caller.endpoint.bundle.endpoint),
        auth.client,
        secret=secret,
        grant=grant,
        timeout_s=timeout_s,
    )
    return Fetched(value, good_until=min(services.clock() + kept_s, ends_at))


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


OAuthMode = ClientCredentialsAuth | TokenExchangeAuth
