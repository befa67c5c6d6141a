"""The development issuer: tokens for trials, which only ``stile dev`` and ``stile call`` of the same user accept.

One secret of the user, outside of all repositories, makes a key for each endpoint folder. So a token for one folder is
not valid for another, and no key can be published.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handler.bundle.identity import (
    DEVELOPMENT_ISSUER,
    DEVELOPMENT_KEY,
    Identity,
    Issuer,
    VerificationKey,
    is_for_trials,
)
from handler.commands.folders.user_secret import make_secret, read_user_secret, secret_file
from handler.http.client import HttpClient
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.auth.tokens import TokenVerifier, parse_token
from handler.settings import Secret
from handler.strict_json import JSONObject

ALGORITHM = "HS256"


def key_file(environ: Mapping[str, str]) -> Path:
    """Return the place of the user's secret."""
    return secret_file("development.key", environ)


def find_issuer(folder: Path, identity: Identity, *, environ: Mapping[str, str]) -> Issuer | None:
    """Return the development issuer of an endpoint folder; ``None`` if no token was ever made.

    A token needs one of the audiences that the endpoint's own issuers expect.

    Raises:
        KeyFileRefused: as ``read_secret``.
    """
    secret = read_user_secret(key_file(environ))
    return _issuer(folder, identity, secret) if secret else None


def require_issuer(folder: Path, identity: Identity, *, environ: Mapping[str, str]) -> Issuer:
    """Return the development issuer of an endpoint folder, with a new secret of the user if there is none.

    Raises:
        KeyFileRefused: the file cannot be written, or as ``read_secret``.
    """
    file = key_file(environ)
    return _issuer(folder, identity, read_user_secret(file) or make_secret(file))


def mint(issuer: Issuer, claims: Mapping[str, Any]) -> str:
    """Return a token of the development issuer with these claims."""
    from jwt import encode

    (key,) = issuer.keys
    return encode({**claims, "iss": issuer.issuer}, key.key, algorithm=ALGORITHM)


def audiences_of(identity: Identity) -> tuple[str, ...]:
    """Return the audiences that an endpoint's own issuers expect."""
    return tuple(dict.fromkeys(audience for issuer in identity.issuers for audience in issuer.audiences))


def _issuer(folder: Path, identity: Identity, secret: bytes) -> Issuer:
    derived = hmac.new(secret, os.fsencode(folder.resolve()), hashlib.sha256).hexdigest()
    return Issuer(
        issuer=DEVELOPMENT_ISSUER,
        audiences=audiences_of(identity),
        subject="",
        required_claims=(),
        algorithms=(),
        jwks_url="",
        keys=(VerificationKey(id="", algorithm=ALGORITHM, key=f"{DEVELOPMENT_KEY}{derived}"),),
        leeway_s=0,
    )


class LocalVerifier(TokenVerifier):
    """A verifier for one endpoint that also accepts the tokens of its development issuer.

    ``find_issuer`` returns the development issuer; ``None`` if its tokens are refused.
    """

    def __init__(
        self,
        http: HttpClient,
        *,
        secrets: Mapping[str, Secret],
        own: OwnSecrets,
        find_issuer: Callable[[], Issuer | None],
    ) -> None:
        super().__init__(http, secrets=secrets, own=own)
        self._find_issuer = find_issuer

    async def verify(
        self, text: str, issuers: tuple[Issuer, ...], *, now: float, is_assertion: bool = False
    ) -> JSONObject:
        """Verify a token as ``TokenVerifier.verify``. Only the development issuer may vouch for its own tokens."""
        if not is_assertion and is_for_trials(issuer=parse_token(text).claims.get("iss")):
            issuer = self._find_issuer()
            issuers = (issuer,) if issuer else ()
        return await super().verify(text, issuers, now=now, is_assertion=is_assertion)
