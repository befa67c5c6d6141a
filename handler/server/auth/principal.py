"""The caller, the facts of its credential, and its pseudonymous id for the log: stable per person, not reversible."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from handler.bundle.identity import ApiKey
from handler.bundle.model import Bundle
from handler.cold.records import record
from handler.errors.access import CredentialRequired, InsufficientScope
from handler.errors.infrastructure import SecretUnavailable
from handler.server.auth.own_secrets import OwnSecrets
from handler.settings import Secret, log_key_fault
from handler.strict_json import to_json_bytes


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
    def identity(self) -> tuple[str, ...]:
        """The facts that no other caller shares. Without a subject, they include all claims."""
        claims = "" if self.subject else json.dumps(self.claims, sort_keys=True)
        return self.kind, self.name, self.issuer, self.subject, claims

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes that the claims grant."""
        return scopes_of(self.claims or {})

    def _text(self, name: str) -> str:
        value = (self.claims or {}).get(name)
        return value if isinstance(value, str) else ""


ANONYMOUS = Principal(kind="anonymous")
DEVELOPMENT = Principal(kind="development", name="development", unrestricted=True)

DIGEST_CHARS = 32  # 128 bits: no collisions, and a line stays readable

TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""Source: RFC 6750, section 2.1 (b64token)."""

KEY_PREFIX = "stile_"

SEALED_PREFIX = "stile."
"""The beginning of access tokens that the OAuth proxy issues itself. No JSON Web Token begins so: see its alphabet."""

ID_JAG = "oauth-id-jag+jwt"
"""The type of identity assertions. Source: draft-ietf-oauth-identity-assertion-authz-grant."""

SCOPE_CLAIMS = ("scope", "scp")


def anonymous_at(bundle: Bundle) -> Principal:
    """Return the anonymous principal, if the endpoint allows anonymous callers.

    Raises:
        CredentialRequired: the endpoint challenges anonymous callers.
    """
    if bundle.access.anonymous != "allow":
        raise CredentialRequired
    return ANONYMOUS


def principal_of_key(key: ApiKey) -> Principal:
    """Return the principal of the holder of an API key."""
    return Principal(kind="api_key", name=key.name, claims=key.claims, unrestricted=key.claims is None)


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes in verified claims, each a string separated by spaces or an array of strings.

    Source: RFC 9068, section 2.2.3 (``scope``); ``scp`` is the name at Okta and Entra.
    """
    values = [claims.get(name) for name in SCOPE_CLAIMS]
    scopes = [value.split() if isinstance(value, str) else value for value in values]
    return frozenset(scope for each in scopes if isinstance(each, list) for scope in each if isinstance(scope, str))


def audiences_in(claims: Mapping[str, Any]) -> set[str]:
    """Return the audiences of a token.

    Source: RFC 7519, section 4.1.3; Amazon Cognito, whose access tokens have a ``client_id`` instead of ``aud``.
    """
    audience = claims.get("aud")
    if "aud" not in claims and claims.get("token_use") == "access":
        audience = claims.get("client_id")
    return {text for text in (audience if isinstance(audience, list) else [audience]) if isinstance(text, str)}


def require_scopes(name: str, needed: Sequence[str], principal: Principal) -> None:
    """Refuse a caller without the scopes that a tool, or a tool's operation, needs.

    A known principal without claims (an API key without claims, development) passes.

    Raises:
        CredentialRequired: the caller is anonymous.
        InsufficientScope: the caller's claims lack a scope.
    """
    if not has_scopes(needed, principal):
        if principal == ANONYMOUS:
            raise CredentialRequired(needed)
        raise InsufficientScope(name, needed, held=principal.scopes)


def has_scopes(needed: Sequence[str], principal: Principal) -> bool:
    """Return whether a caller passes ``require_scopes``."""
    if needed and principal == ANONYMOUS:
        return False
    return principal.claims is None or principal.scopes.issuperset(needed)


class Pseudonyms:
    """The ids of principals in the log.

    A caller with a subject gets a keyed digest of issuer and subject. Subjects are few and guessable (mail addresses,
    numbers), so a digest without a key could be reversed by trying. Without ``key``, and while the key cannot be read,
    a random key of this process is used; ids then agree within this process only, and have another prefix. A key that
    was read is kept, so that lines of one process can be compared. ``plain`` writes issuer and subject unchanged.
    """

    def __init__(self, *, key: Secret = "", plain: bool = False, own: OwnSecrets | None = None) -> None:
        self._secret = key
        self._own = own or OwnSecrets()
        self._plain = plain
        self.renew()

    def renew(self) -> None:
        """Make another random key: processes that start from one snapshot must not share a key."""
        self._made_up = os.urandom(32)
        self._key = self._secret.encode() if isinstance(self._secret, str) else b""

    async def of(self, principal: Principal) -> str:
        """Return ``hmac:…``, ``local-hmac:…`` or issuer and subject; without subject, the API key's name or kind."""
        claims = principal.claims or {}
        issuer, subject = claims.get("iss", ""), claims.get("sub")
        if subject is None:
            return principal.name or principal.kind
        if self._plain:
            return f"{issuer} {subject}".strip()
        if self._secret and not self._key:
            with suppress(SecretUnavailable):  # ``OwnSecrets`` has reported it
                self._key = (await self._own.read(self._secret, fault_of=log_key_fault)).encode()
        key, prefix = (self._key, "hmac") if self._key else (self._made_up, "local-hmac")
        # JSON gives different bytes for different pairs.
        digest = hmac.new(key, to_json_bytes([issuer, subject]), hashlib.sha256).hexdigest()
        return f"{prefix}:{digest[:DIGEST_CHARS]}"
