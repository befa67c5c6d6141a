"""The published keys of issuers: JSON Web Key Sets, fetched when a token needs one.

Source: RFC 7517 (JSON Web Key).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from math import inf
from typing import Any

from handler.cold.records import record
from handler.errors.access import CredentialRefused, KeysUnavailable
from handler.errors.infrastructure import HttpError
from handler.http.client import HttpClient, HttpRequest
from handler.json_schema.json_bounds import nests_too_deeply
from handler.lru import Lru
from handler.strict_json import parse_json

FRESH_S = 600.0
"""Time that a key set is used without being fetched again."""

STALE_S = 86_400.0
"""Time after the last fetch that keys serve while the issuer does not answer."""

UNKNOWN_KEY_PAUSE_S = 60.0
"""Minimum time between fetches because of unknown key ids: anybody can make such tokens."""

RETRY_PAUSE_S = 10.0
"""Minimum time between fetches if an issuer did not answer."""

TIMEOUT_S = 2.0
MAX_BYTES = 262_144
MAX_SETS = 64

KEY_TYPES: Mapping[str, tuple[str, str]] = {
    "RS256": ("RSA", ""),
    "RS384": ("RSA", ""),
    "RS512": ("RSA", ""),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""Algorithm -> its key type and curve. Source: RFC 7518 and RFC 8037, section 3.1 of each."""

PUBLIC_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "RSA": ("kty", "n", "e"),
    "EC": ("kty", "crv", "x", "y"),
    "OKP": ("kty", "crv", "x"),
}
"""Key type -> members of a public key. A secret (``oct``) must not be published."""


@record(frozen=True, slots=True, kw_only=True)
class Jwk:
    """A public key of a set. Without ``id``, no token can name the key. Without ``algorithm``, the key type decides."""

    id: str | None
    algorithm: str | None
    members: Mapping[str, str]  # public members only

    def fits(self, algorithm: str) -> bool:
        """Return whether the key fits an algorithm."""
        type_ = (self.members["kty"], self.members.get("crv", ""))
        return self.algorithm in (None, algorithm) and KEY_TYPES.get(algorithm) == type_


class KeySets:
    """A cache of ``max_sets`` key sets by URL, each fetched when it is needed."""

    def __init__(self, http: HttpClient, *, timeout_s: float = TIMEOUT_S, max_sets: int = MAX_SETS) -> None:
        self._http = http
        self._timeout_s = timeout_s
        self._sets: Lru[str, _KeySet] = Lru(most=max_sets)

    async def find(self, url: str, *, algorithm: str, key_id: str | None, now: float) -> Mapping[str, str]:
        """Return the members of the one key that fits a token's header. ``now`` is a UNIX time.

        Raises:
            CredentialRefused: no key fits, or more than one.
            KeysUnavailable: the key set cannot be fetched.
        """
        key_set = self._sets.use_or_make(url, lambda: _KeySet(url, self._http, timeout_s=self._timeout_s))
        keys = [key for key in await key_set.keys(key_id, now) if key_id in (None, key.id) and key.fits(algorithm)]
        if len(keys) != 1:
            raise CredentialRefused("unknown_key")
        return keys[0].members

    def fetched_at(self, url: str) -> float:
        """Return the UNIX time when the cached set was fetched; ``-inf`` if no set is cached."""
        key_set = self._sets.peek(url)
        return key_set.fetched_at if key_set else -inf


class _KeySet:
    """The keys behind one URL. Waiting requests share one fetch."""

    def __init__(self, url: str, http: HttpClient, *, timeout_s: float) -> None:
        self._url = url
        self._http = http
        self._timeout_s = timeout_s
        self._keys: tuple[Jwk, ...] = ()
        self.fetched_at = -inf
        self._asked_at = -inf
        self._lock = asyncio.Lock()

    async def keys(self, key_id: str | None, now: float) -> tuple[Jwk, ...]:
        if self._is_due(key_id, now):
            async with self._lock:
                if self._is_due(key_id, now):  # else another request has fetched it meanwhile
                    await self._fetch(now)
        if now - self.fetched_at > STALE_S:
            raise KeysUnavailable
        return self._keys

    def _is_due(self, key_id: str | None, now: float) -> bool:
        if now - self.fetched_at >= FRESH_S:
            return now - self._asked_at >= RETRY_PAUSE_S
        unknown = key_id is not None and key_id not in [key.id for key in self._keys]
        return unknown and now - self._asked_at >= UNKNOWN_KEY_PAUSE_S

    async def _fetch(self, now: float) -> None:
        """Fetch the set. If that fails or the response is not a key set, the old keys stay."""
        request = HttpRequest(
            method="GET",
            url=self._url,
            headers={"accept": "application/jwk-set+json, application/json"},
            timeout_s=self._timeout_s,
            max_bytes=MAX_BYTES,
            repeatable=True,
        )
        try:
            response = await self._http.send_async(request)
            if response.status == 200:
                self._keys = parse_key_set(response.body)
                self.fetched_at = now
        except (HttpError, ValueError):
            pass
        self._asked_at = now  # only now, so that concurrent requests wait for the response


def parse_key_set(raw: bytes) -> tuple[Jwk, ...]:
    """Parse the keys that can verify signatures; other keys are skipped.

    Raises:
        ValueError: the JSON is not a key set.
    """
    content = parse_json(raw)
    if nests_too_deeply(content):  # Python versions differ in the nesting that they can read
        raise ValueError("nested too deeply")
    match content:
        case {"keys": list(keys)}:
            return tuple(jwk for key in keys if isinstance(key, dict) and (jwk := _jwk(key)))
    raise ValueError("no key set")


def _jwk(key: Mapping[str, Any]) -> Jwk | None:
    """Parse one key; ``None`` if it cannot verify. Private members and certificate locations are left out."""
    type_ = key.get("kty")
    names = PUBLIC_MEMBERS.get(type_, ()) if isinstance(type_, str) else ()
    members = {name: key.get(name) for name in names}
    id_, algorithm, operations = key.get("kid"), key.get("alg"), key.get("key_ops", ["verify"])
    if not members or not all(isinstance(member, str) for member in members.values()):
        return None
    if key.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    if not isinstance(id_, str | None) or not isinstance(algorithm, str | None):
        return None
    return Jwk(id=id_, algorithm=algorithm, members={name: str(member) for name, member in members.items()})
