"""Identification of the caller, by an API key, a token or an authorizer's claims."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from starlette.datastructures import Headers

from handler.bundle.identity import ApiKey
from handler.bundle.model import Bundle
from handler.errors.access import CredentialMalformed, CredentialRefused, CredentialRequired
from handler.records import record
from handler.server.auth.api_gateway_authorizer import authorized_claims, is_signed_for_aws
from handler.server.auth.tokens import TokenVerifier


@record(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller. An unrestricted principal skips policies; hidden coordinates stay hidden."""

    kind: str  # anonymous | api_key | token | authorizer | development
    name: str = ""  # of an API key
    claims: Mapping[str, Any] | None = None  # verified, ``$jwt`` in policies; None if no credential has claims
    unrestricted: bool = False

    @property
    def issuer(self) -> str:
        """The ``iss`` claim; empty string if absent."""
        return self._text("iss")

    @property
    def subject(self) -> str:
        """The ``sub`` claim; empty string if absent."""
        return self._text("sub")

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes that the claims grant."""
        return scopes_of(self.claims or {})

    def _text(self, name: str) -> str:
        value = (self.claims or {}).get(name)
        return value if isinstance(value, str) else ""


ANONYMOUS = Principal(kind="anonymous")
DEVELOPMENT = Principal(kind="development", name="development", unrestricted=True)

TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""Source: RFC 6750, section 2.1 (b64token)."""

KEY_PREFIX = "stile_"

SCOPE_CLAIMS = ("scope", "scp")


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


def require_readable_credential(headers: Headers) -> None:
    """Refuse a request with several credentials or a malformed bearer token.

    Raises:
        CredentialMalformed: as above.

    Source: RFC 6750, section 3.1 (invalid_request).
    """
    given = [*headers.getlist("authorization"), *headers.getlist("x-api-key")]
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if len(given) > 1 or (scheme.lower() == "bearer" and not TOKEN.fullmatch(token.strip())):
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
    presented: Presented, bundle: Bundle, *, tokens: TokenVerifier, development: bool, now: float
) -> Principal:
    """Identify the caller of a request that no authorizer has verified. ``now`` is a UNIX time.

    An API key comes as ``Authorization: Apikey K``, ``Authorization: Bearer stile_…`` or ``X-API-Key: K``, a token as
    ``Authorization: Bearer T``. Without a credential the caller is anonymous, or, on ``stile dev``, the development
    principal. A signature that AWS has verified does not count as a credential.

    Raises:
        CredentialRefused: the credential is unknown, expired or malformed. Its caller is never anonymous.
        CredentialRequired: there is no credential, and the endpoint challenges anonymous callers.
        KeysUnavailable, VerifierMissing: the token cannot be verified, see ``TokenVerifier.verify``.
    """
    headers, identity = presented.headers, bundle.identity
    given = [headers[name] for name in ("authorization", "x-api-key") if name in headers]
    if len(given) > 1:
        raise CredentialRefused("two_credentials")
    if given and not is_signed_for_aws(presented.event, authorization=headers.get("authorization", "")):
        scheme, value = _credential_in(headers)
        if scheme == "apikey":
            return _holder(value, identity.api_keys, now)
        return Principal(kind="token", claims=await tokens.verify(value, identity.issuers, now=now))
    if development:
        return DEVELOPMENT
    return anonymous_at(bundle)


def anonymous_at(bundle: Bundle) -> Principal:
    """Return the anonymous principal, if the endpoint allows anonymous callers.

    Raises:
        CredentialRequired: the endpoint challenges anonymous callers.
    """
    if bundle.access.anonymous != "allow":
        raise CredentialRequired
    return ANONYMOUS


def _credential_in(headers: Mapping[str, str]) -> tuple[str, str]:
    """Return the scheme, ``apikey`` or ``bearer``, and the credential."""
    if "x-api-key" in headers:
        return "apikey", headers["x-api-key"].strip()
    scheme, _, value = headers["authorization"].strip().partition(" ")
    scheme, value = scheme.lower(), value.strip()
    if scheme not in ("apikey", "bearer"):
        raise CredentialRefused("scheme")
    return "apikey" if value.startswith(KEY_PREFIX) else scheme, value


def _holder(key: str, known: tuple[ApiKey, ...], now: float) -> Principal:
    digest = hashlib.sha256(key.encode()).hexdigest()
    # Every key is compared, so that the duration does not reveal which key came close.
    matches = [entry for entry in known if hmac.compare_digest(entry.sha256, digest)]
    if not matches:
        raise CredentialRefused("unknown_api_key")
    held = matches[0]
    if held.is_expired(now):
        raise CredentialRefused("expired")
    return principal_of_key(held)


def principal_of_key(key: ApiKey) -> Principal:
    """Return the principal of the holder of an API key."""
    return Principal(kind="api_key", name=key.name, claims=key.claims, unrestricted=key.claims is None)


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes in verified claims, each a string separated by spaces or an array of strings.

    Source: RFC 9068, section 2.2.3 (``scope``); ``scp`` is the name at Okta and Entra.
    """
    return frozenset(scope for name in SCOPE_CLAIMS for scope in _texts(claims.get(name)))


def _texts(claim: Any) -> list[str]:
    match claim:
        case str():
            return claim.split()
        case list():
            return [scope for scope in claim if isinstance(scope, str)]
        case _:
            return []
