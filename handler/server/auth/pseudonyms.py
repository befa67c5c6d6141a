"""Pseudonymous caller ids for the log: stable per person, not reversible."""

from __future__ import annotations

import hashlib
import hmac
import os
from contextlib import suppress

from handler.errors.infrastructure import SecretUnavailable
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.auth.principal import Principal
from handler.settings import Secret, log_key_fault
from handler.strict_json import to_json_bytes

DIGEST_CHARS = 32  # 128 bits: no collisions, and a line stays readable


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
        await self._require_key()
        key, prefix = (self._key, "hmac") if self._key else (self._made_up, "local-hmac")
        # JSON gives different bytes for different pairs.
        digest = hmac.new(key, to_json_bytes([issuer, subject]), hashlib.sha256).hexdigest()
        return f"{prefix}:{digest[:DIGEST_CHARS]}"

    async def _require_key(self) -> None:
        if self._key or not self._secret:
            return
        with suppress(SecretUnavailable):  # ``OwnSecrets`` has reported it
            self._key = (await self._own.read(self._secret, fault_of=log_key_fault)).encode()
