from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handler.bundle import ApiKey, Bundle
from handler.errors import CredentialRefused, CredentialRequired


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who calls. An unrestricted one skips policies; what patterns hide stays hidden for everybody."""

    kind: str  # anonymous | api_key | token | authorizer | development
    name: str = ""  # of an API key
    claims: Mapping[str, Any] | None = None  # verified, what policies call $jwt; None: no credential brought any
    unrestricted: bool = False


ANONYMOUS = Principal(kind="anonymous")
DEVELOPMENT = Principal(kind="development", name="development", unrestricted=True)

KEY_PREFIX = "stile_"


def identify(headers: Mapping[str, str], bundle: Bundle, *, development: bool, now: float) -> Principal:
    """Tell who calls from the request's headers (lower-case names).

    An API key comes as ``Authorization: Apikey K``, ``Authorization: Bearer stile_…`` or ``X-API-Key: K``. Without
    a credential the caller is anonymous, or, on ``stile dev``, the development principal. ``now`` is a UNIX time.

    Raises:
        CredentialRefused: a credential that is unknown, expired or malformed. It is never taken for none.
        CredentialRequired: none, where the endpoint challenges anonymous callers.
    """
    given = [headers[name] for name in ("authorization", "x-api-key") if name in headers]
    if len(given) > 1:
        raise CredentialRefused
    if given:
        return _holder(_key_in(headers), bundle.identity.api_keys, now)
    if development:
        return DEVELOPMENT
    if bundle.access.anonymous != "allow":
        raise CredentialRequired
    return ANONYMOUS


def _key_in(headers: Mapping[str, str]) -> str:
    if "x-api-key" in headers:
        return headers["x-api-key"].strip()
    scheme, _, value = headers["authorization"].strip().partition(" ")
    key = value.strip()
    if scheme.lower() == "apikey" or (scheme.lower() == "bearer" and key.startswith(KEY_PREFIX)):
        return key
    raise CredentialRefused


def _holder(key: str, known: tuple[ApiKey, ...], now: float) -> Principal:
    digest = hashlib.sha256(key.encode()).hexdigest()
    # Every key is compared, so that the time taken tells nothing about which one came close.
    matches = [entry for entry in known if hmac.compare_digest(entry.sha256, digest)]
    if not matches or (matches[0].expires and matches[0].expires <= now):
        raise CredentialRefused
    held = matches[0]
    return Principal(kind="api_key", name=held.name, claims=held.claims, unrestricted=held.claims is None)
