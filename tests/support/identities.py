"""Endpoints whose callers have claims, and issuers whose tokens they would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from handler.bundle.identity import ApiKey, Identity, Issuer
from handler.compiler.compile import Compiled

KEY = "stile_0123456789"
HOLDER = {"x-api-key": KEY}
"""The headers of who holds the key."""


def issuer(name: str, **more: Any) -> Issuer:
    """An issuer by the claim ``iss``, which asks for nothing else."""
    nothing: dict[str, Any] = {
        "audiences": (),
        "subject": "",
        "required_claims": (),
        "algorithms": (),
        "jwks_url": "",
        "keys": (),
        "leeway_s": 0,
    }
    return Issuer(issuer=name, **nothing | more)


def api_key(claims: Mapping[str, Any] | None = None, *, name: str = "ops") -> ApiKey:
    """The key as a bundle has it; with these claims (``None``: its holder skips policies)."""
    digest = sha256(KEY.encode()).hexdigest()
    return ApiKey(name=name, sha256=digest, expires=0, claims=None if claims is None else dict(claims))


def identified(
    compiled: Compiled, claims: Mapping[str, Any] | None = None, *, issuers: Sequence[str] = (), key: str = "ops"
) -> Compiled:
    """The endpoint with one API key, whose holder has these claims (``None``: skips policies), and these issuers."""
    keys = (api_key(claims, name=key),)
    identity = Identity(issuers=tuple(map(issuer, issuers)), api_keys=keys, trusted_apis=())
    return replace(compiled, bundle=replace(compiled.bundle, identity=identity))
