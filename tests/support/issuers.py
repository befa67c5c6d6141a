"""A test's own identity provider: keys, tokens as its users get them or as attackers would like them, and a key set.

joserfc signs, which shares no code with what verifies.
"""

from __future__ import annotations

import base64
import hmac
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from joserfc import jws
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from handler.bundle.identity import Issuer, VerificationKey
from tests.support.raw_http import Peer, RawServer, answer, running_server
from tests.support.secrecy import SESSION

AUDIENCE = "https://api.example/mcp"
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "EdDSA")

PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi"})
"""Of a JSON Web Key. Source: RFC 7518, section 6; RFC 8037, section 2."""

Key = RSAKey | ECKey | OKPKey

# Its registry refuses headers that it does not know, and attackers' tokens have such.
_ANY_HEADER = JWSRegistry(algorithms=[*ALGORITHMS, "Ed25519", "HS256", "none"], strict_check_header=False)


@dataclass(frozen=True)
class SigningKey:
    """A key pair, and the algorithm that its owner signs with."""

    id: str
    algorithm: str
    key: Key

    def __post_init__(self) -> None:
        SESSION.keep("a private key", self.key.as_pem(private=True).decode())
        entry = self.key.as_dict(private=True)
        for member in PRIVATE_MEMBERS & entry.keys():
            SESSION.keep("a private key", str(entry[member]))

    def public(self, **more: Any) -> dict[str, Any]:
        """Its entry in a key set; a member that is ``None`` is left out."""
        entry = {**self.key.as_dict(private=False), "kid": self.id, "use": "sig", "alg": self.algorithm, **more}
        return {name: value for name, value in entry.items() if value is not None}

    def pem(self) -> str:
        return self.key.as_pem(private=False).decode()


def rsa_key(id_: str = "rsa", *, algorithm: str = "RS256", bits: int = 2048) -> SigningKey:
    return SigningKey(id_, algorithm, RSAKey.generate_key(bits))


def ec_key(id_: str = "ec") -> SigningKey:
    return SigningKey(id_, "ES256", ECKey.generate_key("P-256"))


def ed_key(id_: str = "ed") -> SigningKey:
    return SigningKey(id_, "EdDSA", OKPKey.generate_key("Ed25519"))


@dataclass(frozen=True)
class Provider:
    """An issuer of tokens. ``serves`` answers who asks for its key set."""

    name: str
    keys: tuple[SigningKey, ...]
    requests: list[bytes] = field(default_factory=list)

    def claims(self, **more: Any) -> dict[str, Any]:
        """The claims of a good token; one that is ``None`` is left out."""
        now = int(time.time())
        known = {"iss": self.name, "aud": AUDIENCE, "sub": "user-1", "iat": now, "exp": now + 86_400, **more}
        return {name: value for name, value in known.items() if value is not None}

    def token(self, key: SigningKey | None = None, *, header: Mapping[str, Any] | None = None, **claims: Any) -> str:
        """A token, signed by the first key. A member of the header that is ``None`` is left out."""
        signer = key or self.keys[0]
        known = {"typ": "at+jwt", "alg": signer.algorithm, "kid": signer.id, **(header or {})}
        shown = {name: value for name, value in known.items() if value is not None}
        return signed(self.claims(**claims), header=shown, key=signer.key)

    def key_set(self, **more: Any) -> bytes:
        return json.dumps({"keys": [key.public(**more) for key in self.keys]}).encode()


def signed(claims: Mapping[str, Any] | bytes, *, header: Mapping[str, Any], key: Key) -> str:
    """A token whatever its header and payload say."""
    payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # RFC 9864 has a newer name for EdDSA
        return SESSION.keep("a token", jws.serialize_compact(dict(header), payload, key, registry=_ANY_HEADER))


def signed_with_secret(claims: Mapping[str, Any], *, header: Mapping[str, Any], secret: bytes) -> str:
    """A token by HMAC with SHA-256, of any secret: an attacker may take a public key for one."""
    text = f"{_encoded(header)}.{_encoded(claims)}"
    digest = hmac.digest(secret, text.encode(), "sha256")
    return SESSION.keep("a token", f"{text}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}")


def unsigned(claims: Mapping[str, Any], *, header: Mapping[str, Any]) -> str:
    """A token with an empty signature."""
    return SESSION.keep("a token", f"{_encoded(header)}.{_encoded(claims)}.")


def _encoded(part: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def issuer_of(provider: Provider, *, jwks_url: str = "", **more: Any) -> Issuer:
    """What a bundle says of a provider."""
    known = Issuer(
        issuer=provider.name,
        audiences=(AUDIENCE,),
        subject="",
        required_claims=(),
        algorithms=ALGORITHMS,
        jwks_url=jwks_url,
        keys=(),
        leeway_s=30,
    )
    return replace(known, **more)


def given(*keys: SigningKey) -> tuple[VerificationKey, ...]:
    """Public keys as an author's bundle has them."""
    return tuple(VerificationKey(id=key.id, algorithm=key.algorithm, key=key.pem()) for key in keys)


@contextmanager
def serving_key_set(script: Callable[[Peer], None]) -> Iterator[RawServer]:
    """A server of key sets on loopback; ``requests`` has what it was asked."""
    with running_server(script) as server:
        yield server


def key_set_answer(body: bytes, **more: Any) -> bytes:
    """A key set as HTTP."""
    return answer(body, content_type="application/json", **more)
