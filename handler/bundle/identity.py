"""The ways of callers to authenticate at an endpoint."""

from __future__ import annotations

from handler.cold.records import record
from handler.strict_json import JSONObject

SECRET_REFERENCE = "env:"  # noqa: S105 - the prefix of a secret's name in a bundle, not a secret
"""Prefix of the name of a secret that the function's environment has as ``STILE_SECRET_NAME``."""

DEVELOPMENT_ISSUER = "urn:stile:development"
"""The issuer of the tokens of ``stile token``, which only ``stile dev`` and ``stile call`` accept."""

DEVELOPMENT_KEY = "stile-development:"
"""Prefix of the keys of ``DEVELOPMENT_ISSUER``: a key with it verifies the tokens of no other issuer."""


def is_for_trials(*, issuer: object = "", key: str = "") -> bool:
    """Return whether an issuer's name or a key is that of the development issuer."""
    return issuer == DEVELOPMENT_ISSUER or key.startswith(DEVELOPMENT_KEY)


RSA_BITS = range(2_048, 16_385)
"""Length of an RSA key. Source: RFC 7518, section 3.3, for the minimum; longer keys only take time."""


@record(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key by its digest; the key itself is never stored. ``expires`` is a UNIX time in seconds, 0 for never."""

    name: str
    sha256: str
    expires: int
    claims: JSONObject | None  # the holder's claims for policies; None: the holder skips policies

    def is_expired(self, now: float) -> bool:
        """Return whether the key has expired at a UNIX time."""
        return bool(self.expires) and self.expires <= now


@record(frozen=True, slots=True, kw_only=True)
class VerificationKey:
    """A verification key of tokens, given by the author. An empty ``id``: the issuer's only key."""

    id: str
    algorithm: str  # HS256 | RS256 | RS384 | RS512 | ES256 | EdDSA
    key: str  # a PEM block; for HS256 the secret, or a reference to it: env:NAME


@record(frozen=True, slots=True, kw_only=True)
class Issuer:
    """An issuer of accepted tokens, and the requirements on them."""

    issuer: str  # the claim iss; empty: not checked
    audiences: tuple[str, ...]  # one of them must be in the claim aud; empty: not checked
    subject: str  # the claim sub; empty: any
    required_claims: tuple[str, ...]
    algorithms: tuple[str, ...]  # of tokens signed with a key of the key set
    jwks_url: str  # URL of the key set; empty: none
    keys: tuple[VerificationKey, ...]
    leeway_s: int  # tolerated difference of two clocks

    def may_issue(self, name: object) -> bool:
        """Return whether a token with this claim ``iss`` may be the issuer's."""
        return name == self.issuer if self.issuer else not is_for_trials(issuer=name)


@record(frozen=True, slots=True, kw_only=True)
class AssertionClient:
    """A client that gets tokens for identity assertions (ID-JAG). Its secrets are never stored, only their digests."""

    id: str  # the claim client_id of its assertions
    sha256: tuple[str, ...]  # digests of secrets: one, or the new and the old
    issuer: str  # of its assertions: one of the identity's


@record(frozen=True, slots=True, kw_only=True)
class OAuthProxy:
    """The OAuth proxy: clients that cannot register with the provider sign in as the one client that it knows."""

    issuer: str  # the issuer of the tokens: one of the identity's
    authorize_url: str
    token_url: str
    client_id: str
    client_secret: str  # a reference to the secret; empty: the provider knows a public client
    redirect_uris: tuple[str, ...]  # allowed redirect URIs; on loopback without a port: any port
    client_metadata_documents: tuple[str, ...]  # URLs accepted as client ids; none of them is fetched
    scope_prefix: str  # the provider's prefix of the names of an API's scopes
    extra_scopes: tuple[str, ...]  # requested in addition to the client's, by the provider's names
    resource: str  # drop | keep: the parameter that names the token's API to the provider
    assertion_clients: tuple[AssertionClient, ...] = ()  # none: no assertion is accepted


@record(frozen=True, slots=True, kw_only=True)
class Identity:
    """The ways of callers to authenticate."""

    issuers: tuple[Issuer, ...]
    api_keys: tuple[ApiKey, ...]
    trusted_apis: tuple[str, ...]  # ids of API Gateway APIs whose authorizer's claims are accepted
    typed_apis: tuple[str, ...] = ()  # trusted APIs whose authorizer reads the token from the header Authorization
    oauth_proxy: OAuthProxy | None = None

    @property
    def exists(self) -> bool:
        """True if there is a way to authenticate: without one, a credential makes no difference."""
        return bool(self.issuers or self.api_keys or self.trusted_apis)

    @property
    def trusts_development(self) -> bool:
        """True if tokens of ``stile token`` would be accepted."""
        return any(
            is_for_trials(issuer=issuer.issuer) or any(is_for_trials(key=key.key) for key in issuer.keys)
            for issuer in self.issuers
        )


@record(frozen=True, slots=True, kw_only=True)
class Access:
    """Access without a credential: ``anonymous`` is ``allow`` or ``challenge``."""

    anonymous: str
    listed: str = "all"  # all | allowed: with or without the tools whose scopes the caller lacks
    advertises_scopes: bool = True  # scopes of tools are named to everybody
