"""How the log names callers: that two lines are one person's can be told, whose they are cannot."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

from handler.json_shape import to_json_bytes
from handler.server.principal import Principal

DIGEST_CHARS = 32  # 128 bits: no two callers meet, and a line stays readable


class Pseudonyms:
    """Names principals for the log.

    Callers that issuers know by a subject get a keyed digest of both, because subjects are few and guessable (mail
    addresses, numbers), so that a digest without a key could be undone by trying. Without ``key`` one is made up that
    nobody else has; names then agree within this process alone, and their prefix says so. ``plain`` writes issuer and
    subject as they are.
    """

    def __init__(self, *, key: str = "", plain: bool = False) -> None:
        self._key = key.encode()
        self._made_up = not key
        self.renew()
        self._prefix = "hmac" if key else "local-hmac"
        self._plain = plain

    def renew(self) -> None:
        """Make up another key, if the one there is was: processes made of one snapshot must not share it."""
        if self._made_up:
            self._key = secrets.token_bytes(32)

    def of(self, principal: Principal) -> str:
        """``hmac:…`` or ``local-hmac:…``, or issuer and subject; of others the key's name, or what they are."""
        claims = principal.claims or {}
        issuer, subject = claims.get("iss", ""), claims.get("sub")
        if subject is None:
            return principal.name or principal.kind
        return f"{issuer} {subject}".strip() if self._plain else f"{self._prefix}:{self._digest(issuer, subject)}"

    def _digest(self, issuer: Any, subject: Any) -> str:
        # As JSON, no two pairs give the same bytes.
        return hmac.new(self._key, to_json_bytes([issuer, subject]), hashlib.sha256).hexdigest()[:DIGEST_CHARS]
