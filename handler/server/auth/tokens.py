"""Verification of callers' tokens: signed JSON Web Tokens of the issuers that an endpoint names.

Only ``alg``, ``kid``, ``typ`` and ``crit`` of a token's header are read: a token must not choose the location of its
key.

Source: RFC 7515 (JSON Web Signature), RFC 7519 (JSON Web Token), RFC 8725 (best current practices).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from handler.bundle.identity import RSA_BITS, SECRET_REFERENCE, Issuer, VerificationKey, is_for_trials
from handler.bundle.upstream import is_reference
from handler.cold.records import record
from handler.errors.access import CredentialRefused, KeysUnavailable, VerifierMissing
from handler.errors.infrastructure import SecretUnavailable
from handler.http.client import HttpClient
from handler.json_schema.json_bounds import nests_too_deeply
from handler.lru import Lru
from handler.server.auth.jwks import FRESH_S, KeySets
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.auth.principal import ID_JAG, audiences_in
from handler.settings import Secret
from handler.strict_json import JSONObject, parse_json

if TYPE_CHECKING:
    from jwt.algorithms import Algorithm

MAX_CHECKED = 4_096
"""Tokens whose checked signature is cached; the least recently used token is dropped first."""

MAX_TOKEN_CHARS = 16_384

LATEST_TIME = 253_402_300_799
"""The last second of the year 9999. A later time is a mistake or an attack."""

_COMPACT = r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)"


class TokenVerifier:
    """A verifier of tokens that caches key sets and checked signatures between requests.

    ``secrets`` maps the names that issuers' keys refer to. PyJWT loads with the first signature that is checked.
    """

    def __init__(self, http: HttpClient, *, secrets: Mapping[str, Secret], own: OwnSecrets | None = None) -> None:
        self._key_sets = KeySets(http)
        self._secrets = secrets
        self._own = own or OwnSecrets()
        self._checked: Lru[tuple[Issuer, bytes], _Voucher] = Lru(most=MAX_CHECKED)
        self._algorithms: Mapping[str, Algorithm] | None = None

    async def verify(
        self, text: str, issuers: tuple[Issuer, ...], *, now: float, is_assertion: bool = False
    ) -> JSONObject:
        """Return the claims of a token of one of ``issuers``, valid for this endpoint at ``now`` (UNIX seconds).

        An identity assertion is never an access token, and the reverse (RFC 8725, section 3.11).

        Raises:
            CredentialRefused: the token is not valid; the reason is a word for the log, without parts of the token.
            KeysUnavailable: the keys cannot be read, from the issuer or as a secret.
            VerifierMissing: the packages that verify signatures are missing.
        """
        token = parse_token(text)
        if (token.type == ID_JAG) != is_assertion:
            raise CredentialRefused("type")
        issuer = _issuer_of(token.claims, issuers)
        _judge(token.claims, issuer, now)
        checked = (issuer, hashlib.sha256(text.encode()).digest())
        voucher = self._checked.use(checked)
        if voucher is None or not await self._is_believed(voucher, issuer, now):
            self._checked.put(checked, await self._check_signature(token, issuer, now))
        return token.claims

    async def _is_believed(self, voucher: _Voucher, issuer: Issuer, now: float) -> bool:
        """Return whether the key behind a checked signature is still valid: it may have been replaced since."""
        if voucher.configured is not None:
            return voucher.material == await self._material(voucher.configured)
        fetched_at = voucher.fetched_at
        return fetched_at == self._key_sets.fetched_at(issuer.jwks_url) and now - fetched_at < FRESH_S

    async def _check_signature(self, token: Token, issuer: Issuer, now: float) -> _Voucher:
        """Check the signature of a token, and return the key or key set behind it.

        Raises:
            CredentialRefused: no key of the issuer made the signature.
            KeysUnavailable, VerifierMissing: as ``verify``.
        """
        algorithm = self._require_algorithm(token, issuer)
        key = _configured_key(token, issuer)
        if key is None:
            published = await self._published(algorithm, token, issuer, now)
            if not algorithm.verify(token.signed, published, token.signature):
                raise CredentialRefused("signature")
            return _Voucher(fetched_at=self._key_sets.fetched_at(issuer.jwks_url))
        material = await self._material(key)
        if not _is_signed(token, algorithm, material):
            # A secret in Secrets Manager is read again, as it may be new.
            secret = self._secret_of(key)
            newer = await self._material(key) if secret and self._own.refuse(secret, material) else material
            if newer == material or not _is_signed(token, algorithm, newer):
                raise CredentialRefused("signature")
            material = newer
        return _Voucher(configured=key, material=material)

    async def _published(self, algorithm: Algorithm, token: Token, issuer: Issuer, now: float) -> Any:
        """Return the key that the token names in the issuer's key set, prepared for the algorithm."""
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
        """Return the algorithm that the token names, if it fits the issuer's keys."""
        of_key_set = issuer.algorithms if issuer.jwks_url else ()
        if token.algorithm not in (*of_key_set, *(key.algorithm for key in issuer.keys)):
            raise CredentialRefused("algorithm")
        if self._algorithms is None:
            try:
                from jwt.algorithms import get_default_algorithms
            except ImportError as exc:
                raise VerifierMissing from exc
            self._algorithms = get_default_algorithms()
        if token.algorithm not in self._algorithms:
            raise VerifierMissing
        return self._algorithms[token.algorithm]

    async def _material(self, key: VerificationKey) -> str:
        """Return the text of a key, or of the secret that the key refers to.

        Raises:
            CredentialRefused: the secret does not exist.
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
        """Return the secret that an HS256 key refers to; empty string if there is none."""
        if key.algorithm != "HS256" or not key.key.startswith(SECRET_REFERENCE):
            return ""
        return self._secrets.get(key.key.removeprefix(SECRET_REFERENCE), "")


@record(frozen=True, slots=True, kw_only=True)
class _Voucher:
    """The source of a checked signature: a configured key with its text, or a key set by its time (UNIX seconds)."""

    configured: VerificationKey | None = None
    material: str = field(default="", repr=False)
    fetched_at: float = 0.0


def _issuer_of(claims: Mapping[str, Any], issuers: tuple[Issuer, ...]) -> Issuer:
    """Return the issuer that ``iss`` names, else the one without a name. Only its keys may verify the token."""
    name = claims.get("iss")
    if isinstance(name, str) or name is None:
        for issuer in sorted(issuers, key=lambda each: not each.issuer):
            if issuer.may_issue(name):
                return issuer
    raise CredentialRefused("issuer")


def _judge(claims: Mapping[str, Any], issuer: Issuer, now: float) -> None:
    """Refuse claims that are not valid at this time or for this endpoint."""
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
    """Return a time in UNIX seconds; ``None`` if absent. ``True`` is not a number."""
    if name not in claims:
        return None
    value = claims[name]
    if type(value) not in (int, float) or not 0 <= value <= LATEST_TIME:
        raise CredentialRefused("times")
    return float(value)


def _configured_key(token: Token, issuer: Issuer) -> VerificationKey | None:
    """Return the configured key for a token; ``None`` if no key fits. A key without an id is the issuer's only key.

    Raises:
        CredentialRefused: several keys fit.
    """
    has_id = token.key_id is not None or issuer.jwks_url
    keys = [key for key in issuer.keys if key.algorithm == token.algorithm]
    keys = [key for key in keys if not has_id or key.id in ("", token.key_id)]
    if len(keys) > 1:
        raise CredentialRefused("unknown_key")
    return keys[0] if keys else None


def _is_signed(token: Token, algorithm: Algorithm, material: str) -> bool:
    """Return whether the configured key with the text ``material`` made the signature of a token."""
    from jwt.exceptions import PyJWTError

    if is_for_trials(key=material) != is_for_trials(issuer=token.claims.get("iss")):
        raise CredentialRefused("development_key")
    try:
        key = algorithm.prepare_key(material)
    except (PyJWTError, ValueError, TypeError) as exc:
        raise CredentialRefused("bad_key") from exc
    return algorithm.verify(token.signed, key, token.signature)


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
        decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in parts.groups()]
        header, claims = map(parse_json, decoded[:2])
    except ValueError as exc:
        raise CredentialRefused("malformed") from exc
    if not isinstance(header, dict) or not isinstance(claims, dict) or nests_too_deeply(claims):
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
        signature=decoded[2],
    )
