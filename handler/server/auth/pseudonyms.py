"""How the log names callers: that two lines are one person's can be told, whose they are cannot."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress

from handler.errors import SecretUnavailable
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.auth.principal import Principal
from handler.settings import Secret, log_key_fault
from handler.strict_json import to_json_bytes

DIGEST_CHARS = 32  # 128 bits: no two callers meet, and a line stays readable


class Pseudonyms:
    """Names principals for the log.

    Callers that issuers know by a subject get a keyed digest of both, because subjects are few and guessable (mail
    addresses, numbers), so that a digest without a key could be undone by trying. Without ``key``, and while it cannot
    be read, one is made up that nobody else has; names then agree within this process alone, and their prefix says so.
    A key that was read serves for good: lines of one process can be compared. ``plain`` writes issuer and subject as
    they are.
    """

    def __init__(self, *, key: Secret = "", plain: bool = False, own: OwnSecrets | None = None) -> None:
        self._secret = key
        self._own = own or OwnSecrets()
        self._plain = plain
        self.renew()

    def renew(self) -> None:
        """Make up another key: processes made of one snapshot must not share it."""
        self._made_up = secrets.token_bytes(32)
        self._key = self._secret.encode() if isinstance(self._secret, str) else b""

    async def of(self, principal: Principal) -> str:
        """``hmac:…`` or ``local-hmac:…``, or issuer and subject; of others the key's name, or what they are."""
        claims = principal.claims or {}
        issuer, subject = claims.get("iss", ""), claims.get("sub")
        if subject is None:
            return principal.name or principal.kind
        if self._plain:
            return f"{issuer} {subject}".strip()
        await self._require_key()
        key, prefix = (self._key, "hmac") if self._key else (self._made_up, "local-hmac")
        # As JSON, no two pairs give the same bytes.
        digest = hmac.new(key, to_json_bytes([issuer, subject]), hashlib.sha256).hexdigest()
        return f"{prefix}:{digest[:DIGEST_CHARS]}"

    async def _require_key(self) -> None:
        if self._key or not self._secret:
            return
        with suppress(SecretUnavailable):  # which the log was told of
            self._key = (await self._own.read(self._secret, fault_of=log_key_fault)).encode()
