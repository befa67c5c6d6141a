"""Identification of the caller, by an API key, a token or an authorizer's claims."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from starlette.datastructures import Headers

from handler.bundle.identity import ApiKey
from handler.bundle.model import Bundle
from handler.cold.records import record
from handler.errors.access import CredentialMalformed, CredentialRefused
from handler.server.auth.api_gateway_authorizer import authorized_claims, is_signed_for_aws, without_iam
from handler.server.auth.principal import KEY_PREFIX, SEALED_PREFIX, TOKEN, Principal, principal_of_key
from handler.server.auth.tokens import TokenVerifier


@record(frozen=True, slots=True, kw_only=True)
class Presented:
    """The parts of a request that identify its caller: headers (lower-case names) and Lambda event, empty elsewhere."""

    headers: Mapping[str, str]
    event: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def bearer(self) -> str:
        """The unchecked value of ``Authorization: Bearer``; empty string if absent."""
        scheme, _, value = self.headers.get("authorization", "").strip().partition(" ")
        return value.strip() if scheme.lower() == "bearer" else ""

    @property
    def sealed(self) -> str:
        """The unchecked access token of the OAuth proxy itself; empty string if absent."""
        return self.bearer if self.bearer.startswith(SEALED_PREFIX) else ""


def require_readable_credential(headers: Headers) -> None:
    """Refuse a request with several credentials or a malformed bearer token.

    Raises:
        CredentialMalformed: as above.

    Source: RFC 6750, section 3.1 (invalid_request).
    """
    credentials = [*headers.getlist("authorization"), *headers.getlist("x-api-key")]
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if len(credentials) > 1 or (scheme.lower() == "bearer" and not TOKEN.fullmatch(token.strip())):
        raise CredentialMalformed


def find_authorized(presented: Presented, bundle: Bundle, *, development: bool) -> Principal | None:
    """Return the principal that an authorizer of a trusted API has verified; ``None`` if there is none.

    The headers then need no check: the API has checked those that it requires. On ``stile dev`` there is no API in
    front of the server, so no event is trusted.
    """
    if development:
        return None
    authorization = presented.headers.get("authorization", "")
    claims = authorized_claims(presented.event, bundle.identity, authorization=authorization)
    return Principal(kind="authorizer", claims=claims) if claims else None


async def identify(
    presented: Presented,
    bundle: Bundle,
    *,
    tokens: TokenVerifier,
    without_credential: Callable[[Bundle], Principal],
    now: float,
) -> Principal:
    """Identify the caller of a request that no authorizer has verified. ``now`` is a UNIX time.

    An API key comes as ``Authorization: Apikey K``, ``Authorization: Bearer stile_…`` or ``X-API-Key: K``, a token as
    ``Authorization: Bearer T``. ``without_credential`` returns the principal of a request without a credential. A
    signature that AWS has verified does not count as a credential.

    Raises:
        CredentialRefused: the credential is unknown, expired or malformed. Its caller is never anonymous.
        AccessError: there is no credential, and ``without_credential`` refuses that.
        KeysUnavailable, VerifierMissing: the token cannot be verified, see ``TokenVerifier.verify``.
    """
    headers, identity = presented.headers, bundle.identity
    authorization, key = headers.get("authorization"), headers.get("x-api-key")
    if authorization is not None and key is not None:
        raise CredentialRefused("two_credentials")
    if key is not None:
        return _holder(key.strip(), identity.api_keys, now)
    if authorization is None or is_signed_for_aws(presented.event, authorization=authorization):
        return without_credential(bundle)
    scheme, _, value = authorization.strip().partition(" ")
    scheme, value = scheme.lower(), value.strip()
    if scheme not in ("apikey", "bearer"):
        raise CredentialRefused("scheme")
    if scheme == "apikey" or value.startswith(KEY_PREFIX):
        return _holder(value, identity.api_keys, now)
    claims = await tokens.verify(value, identity.issuers, now=now)
    # Where AWS's signatures give the claim ``iam``, no token may.
    return Principal(kind="token", claims=without_iam(claims) if identity.trusted_apis else claims)


def _holder(key: str, known: tuple[ApiKey, ...], now: float) -> Principal:
    digest = hashlib.sha256(key.encode()).hexdigest()
    # Every key is compared, so that the duration does not reveal which key came close.
    matches = [entry for entry in known if hmac.compare_digest(entry.sha256, digest)]
    if not matches:
        raise CredentialRefused("unknown_api_key")
    if matches[0].is_expired(now):
        raise CredentialRefused("expired")
    return principal_of_key(matches[0])
