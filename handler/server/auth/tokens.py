"""Tokens that callers bring: signed JSON Web Tokens, verified against the issuers that an endpoint names.

Only ``alg``, ``kid`` and ``crit`` of a token's header are looked at: where its key is, a token does not decide.

Source: RFC 7519 (JSON Web Token), RFC 7515 (JSON Web Signature), RFC 8725 (best current practices).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from handler.bundle.model import RSA_BITS, SECRET_REFERENCE, Issuer, JSONObject, VerificationKey
from handler.bundle.upstream import is_reference
from handler.errors import CredentialRefused, KeysUnavailable, SecretUnavailable, VerifierMissing
from handler.http.client import HttpClient
from handler.json_bounds import MAX_NESTING, nests_deeper
from handler.lru import Lru
from handler.records import record
from handler.server.auth.jwks import FRESH_S, KeySets
from handler.server.auth.own_secrets import OwnSecrets
from handler.settings import Secret
from handler.strict_json import parse_json

if TYPE_CHECKING:
    from jwt.algorithms import Algorithm

MAX_TOKEN_CHARS = 16_384

MAX_CHECKED = 4_096
"""Tokens whose signature is remembered; the one unused for longest goes first."""

LATEST_TIME = 253_402_300_799
"""The last second of the year 9999: a time beyond it is a mistake or an attack."""

_COMPACT = r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)"


class TokenVerifier:
    """Verifies tokens, and keeps between requests what is the same for the next one: key sets and checked signatures.

    ``secrets`` are those that keys of issuers refer to, by name. PyJWT loads with the first signature that is checked.
    """

    def __init__(self, http: HttpClient, *, secrets: Mapping[str, Secret], own: OwnSecrets | None = None) -> None:
        self._key_sets = KeySets(http)
        self._secrets = secrets
        self._own = own or OwnSecrets()
        self._checked: Lru[tuple[Issuer, bytes], _Voucher] = Lru(most=MAX_CHECKED)
        self._algorithms: Mapping[str, Algorithm] | None = None

    async def verify(self, text: str, issuers: tuple[Issuer, ...], *, now: float) -> JSONObject:
        """The claims of a token that one of ``issuers`` made, for this endpoint and this time (UNIX seconds).

        Raises:
            CredentialRefused: any other token; the reason is a word for the log, with nothing of the token in it.
            KeysUnavailable: the keys that could tell cannot be read, from its issuer or as a secret.
            VerifierMissing: the packages that could tell are not there.
        """
        token = parse_token(text)
        issuer = _issuer_of(token.claims, issuers)
        _judge(token.claims, issuer, now)
        checked = (issuer, hashlib.sha256(text.encode()).digest())
        voucher = self._checked.use(checked)
        if voucher is None or not await self._is_believed(voucher, issuer, now):
            self._checked.put(checked, await self._check_signature(token, issuer, now))
        return token.claims

    async def _is_believed(self, voucher: _Voucher, issuer: Issuer, now: float) -> bool:
        """Whether what vouched for a signature still counts: a key may have been replaced since."""
        if voucher.given is not None:
            return voucher.material == await self._material(voucher.given)
        fetched_at = voucher.fetched_at
        return fetched_at == self._key_sets.fetched_at(issuer.jwks_url) and now - fetched_at < FRESH_S

    async def _check_signature(self, token: Token, issuer: Issuer, now: float) -> _Voucher:
        """What vouches for the signature of a token.

        Raises:
            CredentialRefused: nothing does.
        """
        algorithm = self._require_algorithm(token, issuer)
        given = _given_key(token, issuer)
        if given:
            return await self._check_with_given(token, algorithm, given)
        key = await self._published(algorithm, token, issuer, now)
        if not algorithm.verify(token.signed, key, token.signature):
            raise CredentialRefused("signature")
        return _Voucher(fetched_at=self._key_sets.fetched_at(issuer.jwks_url))

    async def _check_with_given(self, token: Token, algorithm: Algorithm, given: VerificationKey) -> _Voucher:
        """Check a signature with a key of the author's. A secret that lies elsewhere may have been replaced there."""
        material = await self._material(given)
        if not _is_signed(token, algorithm, material):
            secret = self._secret_of(given)
            newer = await self._material(given) if secret and self._own.refuse(secret, material) else material
            if newer == material or not _is_signed(token, algorithm, newer):
                raise CredentialRefused("signature")
            material = newer
        return _Voucher(given=given, material=material)

    async def _published(self, algorithm: Algorithm, token: Token, issuer: Issuer, now: float) -> Any:
        """The key of the issuer's key set that the token names, ready for its algorithm."""
        from jwt.exceptions import PyJWTError

        url = issuer.jwks_url
        if not url or token.algorithm not in issuer.algorithms:
            raise CredentialRefused("unknown_key")
        jwk = await self._key_sets.find(url, algorithm=token.algorithm, key_id=token.key_id, now=now)
        try:
            key = algorithm.from_jwk(dict(jwk))
        except (PyJWTError, ValueError, TypeError) as exc:
            raise CredentialRefused("bad_key") from exc
        if jwk["kty"] == "RSA" and key.key_size not in RSA_BITS:
            raise CredentialRefused("bad_key")
        return key

    def _require_algorithm(self, token: Token, issuer: Issuer) -> Algorithm:
        """The algorithm that the token names, if the issuer's keys are for it."""
        of_key_set = issuer.algorithms if issuer.jwks_url else ()
        if token.algorithm not in (*of_key_set, *(key.algorithm for key in issuer.keys)):
            raise CredentialRefused("algorithm")
        if self._algorithms is None:
            self._algorithms = _load_algorithms()
        if token.algorithm not in self._algorithms:
            raise VerifierMissing
        return self._algorithms[token.algorithm]

    async def _material(self, key: VerificationKey) -> str:
        """The text of a key: its own, or that of the secret it refers to.

        Raises:
            CredentialRefused: there is no such secret.
            KeysUnavailable: the secret cannot be read.
        """
        if key.algorithm != "HS256" or not is_reference(key.key):
            return key.key
        secret = self._secret_of(key)
        if not secret:
            raise CredentialRefused("no_secret")
        try:
            return await self._own.read(secret)
        except SecretUnavailable as exc:
            raise KeysUnavailable(f"secret: {exc.variable}") from exc

    def _secret_of(self, key: VerificationKey) -> Secret:
        """The secret that an HS256 key refers to; empty if there is none."""
        if key.algorithm != "HS256" or not key.key.startswith(SECRET_REFERENCE):
            return ""
        return self._secrets.get(key.key.removeprefix(SECRET_REFERENCE), "")


@record(frozen=True, slots=True, kw_only=True)
class _Voucher:
    """What vouched for a signature: a key of the author's as it was then, or a key set of that time (UNIX seconds)."""

    given: VerificationKey | None = None
    material: str = field(default="", repr=False)
    fetched_at: float = 0.0


@record(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as it came: nothing of it is believed yet."""

    algorithm: str
    key_id: str | None
    claims: JSONObject
    signed: bytes
    signature: bytes


def parse_token(text: str) -> Token:
    """Take a token in JWS compact form apart, without verifying it.

    Raises:
        CredentialRefused: it is none, too large, or asks for an extension.
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
    signed = f"{parts[1]}.{parts[2]}".encode()
    return Token(algorithm=algorithm, key_id=key_id, claims=claims, signed=signed, signature=signature)


def _decoded(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error as exc:
        raise ValueError("no base64url") from exc


def _issuer_of(claims: Mapping[str, Any], issuers: tuple[Issuer, ...]) -> Issuer:
    """The issuer that a token says it is from: its keys alone can vouch for that."""
    name = claims.get("iss")
    if isinstance(name, str) or name is None:
        for issuer in issuers:
            if issuer.issuer and issuer.issuer == name:
                return issuer
        for issuer in issuers:
            if not issuer.issuer:
                return issuer
    raise CredentialRefused("issuer")


def _judge(claims: Mapping[str, Any], issuer: Issuer, now: float) -> None:
    """Refuse claims that are not for this time or not for this endpoint."""
    expires = _time(claims, "exp")
    begins = max(_time(claims, "nbf") or 0, _time(claims, "iat") or 0)
    if expires is None:
        raise CredentialRefused("no_expiry")
    if expires + issuer.leeway_s <= now:
        raise CredentialRefused("expired")
    if begins - issuer.leeway_s > now:
        raise CredentialRefused("not_yet_valid")
    if issuer.audiences and not audiences_in(claims) & {*issuer.audiences}:
        raise CredentialRefused("audience")
    if issuer.subject and claims.get("sub") != issuer.subject:
        raise CredentialRefused("subject")
    if not claims.keys() >= {*issuer.required_claims}:
        raise CredentialRefused("missing_claim")


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    """A time in UNIX seconds, or ``None`` where there is none. ``True`` is no number."""
    if name not in claims:
        return None
    value = claims[name]
    if type(value) not in (int, float) or not 0 <= value <= LATEST_TIME:
        raise CredentialRefused("times")
    return float(value)


def audiences_in(claims: Mapping[str, Any]) -> set[str]:
    """Whom a token is for.

    Source: RFC 7519, section 4.1.3; Amazon Cognito, whose access tokens have no ``aud`` but a ``client_id``.
    """
    found = claims.get("aud")
    if "aud" not in claims and claims.get("token_use") == "access":
        found = claims.get("client_id")
    listed = found if isinstance(found, list) else [found]
    return {each for each in listed if isinstance(each, str)}


def _given_key(token: Token, issuer: Issuer) -> VerificationKey | None:
    """The key of the author's that the token means. One without an id is the only key that there is.

    Raises:
        CredentialRefused: the token names none, and several could be meant.
    """
    named = token.key_id is not None or issuer.jwks_url
    found = [
        key for key in issuer.keys if key.algorithm == token.algorithm and (not named or key.id in ("", token.key_id))
    ]
    if len(found) > 1:
        raise CredentialRefused("unknown_key")
    return found[0] if found else None


def _is_signed(token: Token, algorithm: Algorithm, material: str) -> bool:
    """Whether a key of the author's, whose text is ``material``, made the signature of a token."""
    from jwt.exceptions import PyJWTError

    try:
        key = algorithm.prepare_key(material)
    except (PyJWTError, ValueError, TypeError) as exc:
        raise CredentialRefused("bad_key") from exc
    return algorithm.verify(token.signed, key, token.signature)


def _load_algorithms() -> Mapping[str, Algorithm]:
    try:
        from jwt.algorithms import get_default_algorithms
    except ImportError as exc:
        raise VerifierMissing from exc
    return get_default_algorithms()
