"""The exchange of an identity assertion (ID-JAG) of a company's provider for an access token of the endpoint.

The provider decides which of its users may use which client at which endpoint, so nobody is asked here. The token is
short, has no refresh token, and lives no longer than the assertion.

Source: draft-ietf-oauth-identity-assertion-authz-grant; RFC 7523, section 3; MCP,
``io.modelcontextprotocol/enterprise-managed-authorization``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from handler.bundle.identity import AssertionClient, Identity, Issuer
from handler.cold.records import record
from handler.errors.access import AssertionRefused, CredentialRefused, OAuthRefused
from handler.server.auth.access_tokens import MAX_ACCESS_TOKEN_CHARS, seal_access_token
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.oauth_proxy.proxy import ProxySite
from handler.strict_json import JSONObject

MAX_AGE_S = 60
"""Time from the issuing of an assertion (``iat``) in which it is accepted. An instance remembers it as long."""

SKEW_S = 10
"""Time that the provider's clock may be ahead of this one. It lengthens no lifetime."""

MAX_TOKEN_S = 300

MAX_JTI_CHARS = 256
MAX_REMEMBERED = 10_000

OWN_CLAIMS = frozenset({"aud", "resource", "scope", "scp", "exp", "iat", "nbf", "jti"})
"""Claims that belong to the assertion, not to its subject."""

NARROWING = ("cnf", "authorization_details")
"""Claims that narrow an assertion, to a key's holder or to certain actions: without support, it is refused."""


class UsedAssertions:
    """The assertions that this instance has accepted, until they are too old anyway."""

    def __init__(self) -> None:
        self._until: dict[tuple[str, str, str], float] = {}

    def use(self, assertion: tuple[str, str, str], *, until: float, now: float) -> None:
        """Remember an assertion by its endpoint, issuer and ``jti``.

        Raises:
            AssertionRefused: the assertion was used before, or too many are remembered.
        """
        if len(self._until) >= MAX_REMEMBERED:
            self._until = {key: end for key, end in self._until.items() if end > now}
        if self._until.get(assertion, 0.0) > now:
            raise AssertionRefused("replayed")
        if len(self._until) >= MAX_REMEMBERED:
            raise AssertionRefused("too_many_assertions")
        self._until[assertion] = until


@record(frozen=True, slots=True, kw_only=True)
class AssertionExchange:
    """The parts of the function that an exchange needs. ``now`` is a UNIX time."""

    identity: Identity
    endpoint: str
    tokens: TokenVerifier
    states: RequestStates
    used: UsedAssertions
    now: float


async def exchange_assertion(
    exchange: AssertionExchange, site: ProxySite, asked: Mapping[str, str], *, client: AssertionClient
) -> JSONObject:
    """Return the token response to an authenticated client's request.

    Raises:
        OAuthRefused: the assertion is not valid for this client and endpoint now, or the request is not.
        KeysUnavailable, VerifierMissing: the assertion cannot be judged.
        StateUnavailable: the token cannot be sealed.
    """
    resource = site.require_resource(asked)
    claims = await _verified(exchange, site, asked.get("assertion", ""), client=client)
    _judge(claims, issuer=site.url, resource=resource, client=client, now=exchange.now)
    scopes = _granted(claims, asked.get("scope", "").split())
    issued_at = int(exchange.now)
    expires = min(issued_at + MAX_TOKEN_S, int(claims["exp"]))
    token = await seal_access_token(
        {
            **{name: value for name, value in claims.items() if name not in OWN_CLAIMS},
            "aud": resource,
            "iat": issued_at,
            "exp": expires,
            **({"scope": " ".join(scopes)} if scopes else {}),
        },
        endpoint=exchange.endpoint,
        resource=resource,
        states=exchange.states,
    )
    if len(token) > MAX_ACCESS_TOKEN_CHARS:
        raise AssertionRefused("too_large")
    # Last, and without a pause before the answer: of two requests at once, one gets a token.
    until = claims["iat"] + MAX_AGE_S + 1
    exchange.used.use((exchange.endpoint, claims["iss"], claims["jti"]), until=until, now=exchange.now)
    scope = {"scope": " ".join(scopes)} if scopes else {}
    return {"access_token": token, "token_type": "Bearer", "expires_in": expires - issued_at, **scope}


async def _verified(
    exchange: AssertionExchange, site: ProxySite, assertion: str, *, client: AssertionClient
) -> JSONObject:
    """Return the claims of an assertion of the client's provider for this authorization server."""
    if not assertion:
        raise OAuthRefused("invalid_request", "expected an assertion")
    issuers = tuple(_for_assertions(each, site) for each in exchange.identity.issuers if each.issuer == client.issuer)
    try:
        return await exchange.tokens.verify(assertion, issuers, now=exchange.now, is_assertion=True)
    except CredentialRefused as exc:
        raise AssertionRefused(exc.reason) from exc


def _for_assertions(issuer: Issuer, site: ProxySite) -> Issuer:
    """Return the rules for an issuer's assertions. A secret that several know proves no provider, so no HS256."""
    keys = tuple(key for key in issuer.keys if key.algorithm != "HS256")
    return replace(issuer, audiences=(site.url,), leeway_s=SKEW_S, keys=keys)


def _judge(claims: Mapping[str, Any], *, issuer: str, resource: str, client: AssertionClient, now: float) -> None:
    """Refuse an assertion whose signature is valid, and that is not for this client, resource and time.

    ``issuer`` is the authorization server's own. ``aud`` and ``resource`` may be a text, or a list of that text alone.
    """
    if claims.get("aud") not in (issuer, [issuer]):
        raise AssertionRefused("audience")
    if claims.get("resource") not in (resource, [resource]):
        raise AssertionRefused("resource")
    if claims.get("client_id") != client.id:
        raise AssertionRefused("client")
    if not _is_text(claims.get("sub")):
        raise AssertionRefused("subject")
    if not _is_text(claims.get("jti")) or len(claims["jti"]) > MAX_JTI_CHARS:
        raise AssertionRefused("no_jti")
    if any(name in claims for name in NARROWING):
        raise AssertionRefused("narrowed")
    if int(claims["exp"]) <= now:  # a second that is not whole counts for nothing
        raise AssertionRefused("expired")
    if "iat" not in claims or now - claims["iat"] > MAX_AGE_S:
        raise AssertionRefused("too_old")


def _is_text(claim: Any) -> bool:
    return isinstance(claim, str) and bool(claim)


def _granted(claims: Mapping[str, Any], asked: list[str]) -> list[str]:
    """Return the scopes that the provider grants, of those that the client asks for; all if it asks for none.

    Source: RFC 6749, section 3.3.
    """
    given = claims.get("scope", "")
    if not isinstance(given, str) or not given.isascii() or not given.isprintable():  # only spaces part scopes
        raise AssertionRefused("scope")
    granted = dict.fromkeys(given.split())
    scopes = [scope for scope in granted if scope in asked] if asked else [*granted]
    if asked and not scopes:
        raise OAuthRefused("invalid_scope", "the assertion grants none of these scopes")
    return scopes
