"""Parsed tokens that are not verified: JSON Web Tokens in compact form.

Only ``alg``, ``kid``, ``typ`` and ``crit`` of a token's header are read: a token must not choose the location of its
key.

Source: RFC 7515 (JSON Web Signature).
"""

from __future__ import annotations

import base64
import binascii
import re

from handler.cold.records import record
from handler.errors.access import CredentialRefused
from handler.json_schema.json_bounds import MAX_NESTING, nests_deeper
from handler.strict_json import JSONObject, parse_json

MAX_TOKEN_CHARS = 16_384

_COMPACT = r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)"


@record(frozen=True, slots=True, kw_only=True)
class Token:
    """A parsed token that is not verified yet."""

    algorithm: str
    key_id: str | None
    type: str  # the header typ, in lower case, without the prefix of media types (RFC 7515, section 4.1.9)
    claims: JSONObject
    signed: bytes
    signature: bytes


def parse_token(text: str) -> Token:
    """Parse a token in JWS compact form, without verification.

    Raises:
        CredentialRefused: the text is malformed or too large, or requires an extension (``crit``).
    """
    if len(text) > MAX_TOKEN_CHARS:
        raise CredentialRefused("too_large")
    parts = re.fullmatch(_COMPACT, text)
    if not parts:
        raise CredentialRefused("malformed")
    try:
        header, claims = (parse_json(_decoded(part)) for part in parts.groups()[:2])
        signature = _decoded(parts[3])
    except ValueError as exc:
        raise CredentialRefused("malformed") from exc
    if not isinstance(header, dict) or not isinstance(claims, dict) or nests_deeper(claims, MAX_NESTING):
        raise CredentialRefused("malformed")
    if "crit" in header:
        raise CredentialRefused("critical_header")
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or not isinstance(key_id, str | None):
        raise CredentialRefused("malformed")
    return Token(
        algorithm=algorithm,
        key_id=key_id,
        type=str(header.get("typ")).lower().removeprefix("application/"),
        claims=claims,
        signed=f"{parts[1]}.{parts[2]}".encode(),
        signature=signature,
    )


def _decoded(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error as exc:
        raise ValueError("no base64url") from exc
