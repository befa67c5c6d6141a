"""The API behind an endpoint, and its credential.

A secret is a text: a reference (``secret:NAME``, ``ssm:NAME``, ``env:NAME``), or the secret itself in a bundle that its
author tries locally.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, NewType

from handler.cold.records import record, record_fields
from handler.errors.infrastructure import BundleError

SecretText = NewType("SecretText", str)
"""A reference to a secret, or the secret itself. Fields of this type, and no others, are taken for secrets."""

SECRET_SOURCES: Mapping[str, str] = {
    "env": r"[A-Za-z0-9_]{1,128}",
    "secret": r"[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*",
    "ssm": r"[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*",
}
"""Source of secrets -> pattern of their names. A name cannot lead elsewhere: it has no ``/`` and no ``..``."""

SIGNED_SERVICES = ("appsync", "execute-api", "vpc-lattice-svcs")
"""AWS services that serve customers' APIs. A signature for any other could do anything that the function's role may."""

CLIENT_AUTH = ("basic", "post")
"""Ways to send the client's secret to a token endpoint: header or form. Source: RFC 6749, section 2.3.1."""

TOKEN_TYPES: Mapping[str, str] = {
    "access_token": "urn:ietf:params:oauth:token-type:access_token",
    "id_token": "urn:ietf:params:oauth:token-type:id_token",
    "jwt": "urn:ietf:params:oauth:token-type:jwt",
}
"""Authors' names for types of tokens -> the names on the wire. Source: RFC 8693, section 3."""


OF_THE_CONNECTION = frozenset({"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"})
"""Headers that set a request's destination and end. A signature for another host could be used there."""


@record(frozen=True, slots=True)
class SecretReference:
    """A reference to a secret: ``source`` is a key of ``SECRET_SOURCES``."""

    source: str
    name: str

    def __str__(self) -> str:
        return f"{self.source}:{self.name}"


def is_reference(text: str) -> bool:
    """Return whether a text has the form of a reference, and is not the secret itself."""
    return text.partition(":")[0] in SECRET_SOURCES and ":" in text


def parse_reference(text: str) -> SecretReference | None:
    """Return the reference in a text; ``None`` if it is malformed, or the text is the secret itself."""
    source, _, name = text.partition(":")
    pattern = SECRET_SOURCES.get(source)
    fits = pattern and re.fullmatch(pattern, name) and len(name) <= MAX_NAME_CHARS
    return SecretReference(source, name) if fits else None


MAX_NAME_CHARS = 128


_SENT = "upstream.auth sent {secret}, which the API refuses: renew or correct it"
_MADE = "upstream.auth is {kind}, whose credential the API refuses"


@record(frozen=True, slots=True)
class NoAuth:
    """Requests without a credential."""

    KIND = "none"
    STRATEGY = ""
    OF_CALLER = False
    REFUSED = "config.yaml has no upstream.auth, so no credential was sent: name one there"


@record(frozen=True, slots=True, kw_only=True)
class BearerAuth:
    """One token for all callers, as ``Authorization: Bearer``."""

    KIND = "bearer"
    STRATEGY = "bearer"
    OF_CALLER = False
    REFUSED = _SENT

    token: SecretText = field(repr=False)


@record(frozen=True, slots=True, kw_only=True)
class HeaderAuth:
    """One key for all callers, in its own header. ``header`` is in lower case."""

    KIND = "header"
    STRATEGY = "api_key"
    OF_CALLER = False
    REFUSED = _SENT

    header: str
    value: SecretText = field(repr=False)


@record(frozen=True, slots=True, kw_only=True)
class PassthroughAuth:
    """The caller's own token, unchanged, if its audiences include the API's."""

    KIND = "passthrough"
    STRATEGY = "oauth"
    OF_CALLER = True
    REFUSED = "upstream.auth passed the caller's own token on, which the API refuses"

    audience: str  # the API's audience


@record(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """The client of a token endpoint, and the parameters of its request. Empty strings are not sent."""

    token_url: str
    client_id: str
    client_secret: SecretText = field(repr=False)
    client_auth: str  # one of CLIENT_AUTH
    scope: str
    audience: str
    resource: str


@record(frozen=True, slots=True, kw_only=True)
class ClientCredentialsAuth:
    """A token that the endpoint gets for itself, the same for all callers. Source: RFC 6749, section 4.4."""

    KIND = "client_credentials"
    STRATEGY = "oauth"
    OF_CALLER = False
    REFUSED = _MADE

    client: OAuthClient


@record(frozen=True, slots=True, kw_only=True)
class TokenExchangeAuth:
    """A token exchanged for the caller's. Source: RFC 8693."""

    KIND = "token_exchange"
    STRATEGY = "oauth"
    OF_CALLER = True
    REFUSED = _MADE

    client: OAuthClient
    subject_type: str  # type of the caller's token: a key of TOKEN_TYPES
    actor_token: SecretText = field(repr=False)  # empty: there is no actor
    actor_type: str  # a key of TOKEN_TYPES


@record(frozen=True, slots=True, kw_only=True)
class SigV4Auth:
    """Requests signed with the function's role."""

    KIND = "sigv4"
    STRATEGY = ""
    OF_CALLER = False
    REFUSED = _MADE

    service: str  # one of SIGNED_SERVICES
    region: str


UpstreamAuth = (
    NoAuth | BearerAuth | HeaderAuth | PassthroughAuth | ClientCredentialsAuth | TokenExchangeAuth | SigV4Auth
)
"""The kinds of credentials.

``OF_CALLER``: it is the caller's token, or is got for that token. ``STRATEGY``: its name for tools in Python; empty if
no credential serves several requests. ``REFUSED``: the words for an author whose API refuses it.
"""


@record(frozen=True, slots=True, kw_only=True)
class TenantPart:
    """The place in the API's URL that a verified claim fills: see ``fill_tenant``."""

    before: str  # the URL before it
    claim: str
    after: str
    pattern: str  # of the author: a regular expression for the whole value


@record(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The GraphQL API behind the endpoint. ``url`` is empty if none is configured. Headers are in lower case.

    With ``tenant``, ``url`` is as the author wrote it, and not an address.
    """

    url: str
    timeout_s: float
    max_bytes: int
    headers: Mapping[str, str]  # the same in every request
    claim_headers: Mapping[str, str]  # header -> the verified claim with its value
    forward_headers: tuple[str, ...]  # copied from the caller's request
    documents: str  # text | documentId | apollo: the form in which an operation is sent
    auth: UpstreamAuth
    tenant: TenantPart | None = None

    @property
    def client(self) -> OAuthClient | None:
        """The client of the token endpoint; ``None`` if the credential needs none."""
        return next((value for _, value in _fields_in(self.auth) if isinstance(value, OAuthClient)), None)

    @property
    def secrets(self) -> tuple[SecretText, ...]:
        """The secrets of its credential, as in the bundle. Their type marks them, so no kind is forgotten."""
        return tuple(value for annotation, value in _fields_in(self.auth) if annotation == "SecretText" and value)


def _fields_in(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield the annotation and the value of each field of a record, and of the records in it."""
    for name, annotation, _ in record_fields(type(part)):
        value = getattr(part, name)
        yield annotation, value
        if hasattr(value, "__layout__"):
            yield from _fields_in(value)


def require_own_headers(upstream: Upstream) -> None:
    """Require that no header of the requests is the connection's own.

    Raises:
        BundleError: one is.
    """
    key = (upstream.auth.header,) if isinstance(upstream.auth, HeaderAuth) else ()
    for name in (*upstream.headers, *upstream.claim_headers, *upstream.forward_headers, *key):
        if name.lower() in OF_THE_CONNECTION:
            raise BundleError(f"the header {name} is the connection's own", path="upstream.headers")


SAMPLE = "tenant"
"""A value to check all other parts of a URL with."""

SLASHES_OF_A_HOST = 2


def is_in_host(part: TenantPart) -> bool:
    """Return whether the tenant is a label of the host, and not a segment of the path."""
    return part.before.count("/") == SLASHES_OF_A_HOST


def fill_tenant(part: TenantPart, value: str) -> str | None:
    """Return the URL for a tenant; ``None`` if the name does not fit.

    No name that fits the author's pattern can end the label or the segment: it has no dot, slash, ``@`` or ``%``.
    """
    kind = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?" if is_in_host(part) else r"[A-Za-z0-9_-]{1,100}"
    fits = re.fullmatch(kind, value) and re.fullmatch(part.pattern, value, re.ASCII)
    return f"{part.before}{value}{part.after}" if fits else None


def is_address_of(upstream: Upstream, url: str) -> bool:
    """Return whether a URL is the API's, for some tenant if there are tenants."""
    part = upstream.tenant
    if part is None:
        return url == upstream.url
    return fill_tenant(part, url.removeprefix(part.before).removesuffix(part.after)) == url


def sample_address(upstream: Upstream) -> str:
    """Return the URL of the API, for a tenant with an ordinary name if there are tenants."""
    part = upstream.tenant
    return f"{part.before}{SAMPLE}{part.after}" if part else upstream.url
