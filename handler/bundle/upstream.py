"""The API behind an endpoint, and with whose credential it is asked.

A secret is a text: a reference (``secret:NAME``, ``ssm:NAME``, ``env:NAME``), or in a bundle that is tried on its
author's machine the secret itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from handler.records import record

SECRET_SOURCES: Mapping[str, re.Pattern[str]] = {
    "env": re.compile(r"[A-Za-z0-9_]{1,128}"),
    "secret": re.compile(r"[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*"),
    "ssm": re.compile(r"[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*"),
}
"""Where secrets are -> what they are called there. No name leads elsewhere: there is no ``/`` and no ``..``."""

SIGNED_SERVICES = ("appsync", "execute-api", "vpc-lattice-svcs")
"""AWS services that serve APIs of others. A signature for any other one could do what the function's role may."""

CLIENT_AUTH = ("basic", "post")
"""How a token endpoint learns the client's secret: in a header, or in the form. Source: RFC 6749, section 2.3.1."""

TOKEN_TYPES: Mapping[str, str] = {
    "access_token": "urn:ietf:params:oauth:token-type:access_token",
    "id_token": "urn:ietf:params:oauth:token-type:id_token",
    "jwt": "urn:ietf:params:oauth:token-type:jwt",
}
"""What kinds of tokens authors write -> what they are called on the wire. Source: RFC 8693, section 3."""


@record(frozen=True, slots=True)
class SecretReference:
    """A secret that is elsewhere: ``source`` is a key of ``SECRET_SOURCES``."""

    source: str
    name: str

    def __str__(self) -> str:
        return f"{self.source}:{self.name}"


def is_reference(text: str) -> bool:
    """Whether a text means to name a secret, and is none itself."""
    return text.partition(":")[0] in SECRET_SOURCES and ":" in text


def parse_reference(text: str) -> SecretReference | None:
    """The reference in a text; ``None`` where it is malformed, or a secret itself."""
    source, _, name = text.partition(":")
    known = SECRET_SOURCES.get(source)
    return SecretReference(source, name) if known and known.fullmatch(name) and len(name) <= MAX_NAME_CHARS else None


MAX_NAME_CHARS = 128


@record(frozen=True, slots=True)
class NoAuth:
    """The API is asked without a credential."""


@record(frozen=True, slots=True, kw_only=True)
class BearerAuth:
    """One token for everybody, as ``Authorization: Bearer``."""

    token: str = field(repr=False)  # a secret


@record(frozen=True, slots=True, kw_only=True)
class HeaderAuth:
    """One key for everybody, in a header of its own. ``header`` is in lower case."""

    header: str
    value: str = field(repr=False)  # a secret


@record(frozen=True, slots=True, kw_only=True)
class PassthroughAuth:
    """The caller's own token, as it came, if it is for the API, too."""

    audience: str  # one of the token's


@record(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """Who asks a token endpoint, and for what. Empty texts are not sent."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)  # a secret
    client_auth: str  # one of CLIENT_AUTH
    scope: str
    audience: str
    resource: str


@record(frozen=True, slots=True, kw_only=True)
class ClientCredentialsAuth:
    """A token that the endpoint itself gets, the same for everybody. Source: RFC 6749, section 4.4."""

    client: OAuthClient


@record(frozen=True, slots=True, kw_only=True)
class TokenExchangeAuth:
    """A token that the caller's is exchanged for. Source: RFC 8693."""

    client: OAuthClient
    subject_type: str  # what the caller's token is: a key of TOKEN_TYPES
    actor_token: str = field(repr=False)  # a secret; empty: none acts for the caller
    actor_type: str  # a key of TOKEN_TYPES


@record(frozen=True, slots=True, kw_only=True)
class SigV4Auth:
    """Requests signed with the function's role."""

    service: str  # one of SIGNED_SERVICES
    region: str


UpstreamAuth = (
    NoAuth | BearerAuth | HeaderAuth | PassthroughAuth | ClientCredentialsAuth | TokenExchangeAuth | SigV4Auth
)


@record(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The GraphQL API behind the endpoint. An empty ``url``: none is configured. Headers are in lower case."""

    url: str
    timeout_s: float
    max_bytes: int
    headers: Mapping[str, str]  # the same in every request
    claim_headers: Mapping[str, str]  # header -> the verified claim that it has the value of
    forward_headers: tuple[str, ...]  # taken over from the caller's request
    documents: str  # text | documentId | apollo: how an operation is named to it
    auth: UpstreamAuth

    @property
    def client(self) -> OAuthClient | None:
        """Who asks a token endpoint for it."""
        return self.auth.client if isinstance(self.auth, ClientCredentialsAuth | TokenExchangeAuth) else None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that asking it takes, as the bundle has them."""
        match self.auth:
            case BearerAuth(token=secret) | HeaderAuth(value=secret):
                return (secret,)
            case ClientCredentialsAuth(client=client):
                return (client.client_secret,)
            case TokenExchangeAuth(client=client, actor_token=actor):
                return (client.client_secret, actor) if actor else (client.client_secret,)
            case _:
                return ()
