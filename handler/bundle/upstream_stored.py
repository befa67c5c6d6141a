"""Reader of the stored API behind an endpoint; ``bundle/stored.py`` reads the rest of a bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from handler.bundle.upstream import (
    BearerAuth,
    ClientCredentialsAuth,
    HeaderAuth,
    NoAuth,
    OAuthClient,
    PassthroughAuth,
    SigV4Auth,
    TokenExchangeAuth,
    Upstream,
    UpstreamAuth,
)
from handler.errors.infrastructure import BundleError
from handler.strict_json import each, inside, mapping, of_kind, read_text, require

OF_THE_CONNECTION = frozenset({"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"})
"""Headers that set a request's destination and end. A signature for another host could be used there."""


def read_upstream(raw: dict[str, object]) -> Upstream:
    """Read the stored ``upstream``.

    Raises:
        BundleError: not an upstream; the error has the path.
    """
    upstream = Upstream(
        url=require(raw, "url", str),
        timeout_s=require(raw, "timeout_s", float),
        max_bytes=require(raw, "max_bytes", int),
        headers=mapping(raw, "headers", read_text),
        claim_headers=mapping(raw, "claim_headers", read_text),
        forward_headers=each(raw, "forward_headers", read_text),
        documents=require(raw, "documents", str),
        auth=inside("auth", _auth, require(raw, "auth", dict)),
    )
    key = (upstream.auth.header,) if isinstance(upstream.auth, HeaderAuth) else ()
    for name in (*upstream.headers, *upstream.claim_headers, *upstream.forward_headers, *key):
        if name.lower() in OF_THE_CONNECTION:
            raise BundleError(f"the header {name} is the connection's own", path="headers")
    return upstream


def _auth(raw: dict[str, object]) -> UpstreamAuth:
    return of_kind(raw, AUTH_READERS)


def _client(raw: dict[str, object]) -> OAuthClient:
    stored = require(raw, "client", dict)
    return inside("client", lambda one: OAuthClient(**{name: require(one, name, str) for name in _CLIENT}), stored)


def _token_exchange(raw: dict[str, object]) -> TokenExchangeAuth:
    return TokenExchangeAuth(
        client=_client(raw),
        subject_type=require(raw, "subject_type", str),
        actor_token=require(raw, "actor_token", str),
        actor_type=require(raw, "actor_type", str),
    )


_CLIENT = OAuthClient.__slots__

AUTH_READERS: Mapping[str, Callable[[dict[str, object]], UpstreamAuth]] = {
    "none": lambda _: NoAuth(),
    "bearer": lambda raw: BearerAuth(token=require(raw, "token", str)),
    "header": lambda raw: HeaderAuth(header=require(raw, "header", str), value=require(raw, "value", str)),
    "passthrough": lambda raw: PassthroughAuth(audience=require(raw, "audience", str)),
    "client_credentials": lambda raw: ClientCredentialsAuth(client=_client(raw)),
    "token_exchange": _token_exchange,
    "sigv4": lambda raw: SigV4Auth(service=require(raw, "service", str), region=require(raw, "region", str)),
}
AUTH_KINDS: Mapping[type, str] = {
    NoAuth: "none",
    BearerAuth: "bearer",
    HeaderAuth: "header",
    PassthroughAuth: "passthrough",
    ClientCredentialsAuth: "client_credentials",
    TokenExchangeAuth: "token_exchange",
    SigV4Auth: "sigv4",
}
