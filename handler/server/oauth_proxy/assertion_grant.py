"""The exchange of an identity assertion (ID-JAG) of a company's provider for an access token of the endpoint.

The provider decides which of its users may use which client at which endpoint, so nobody is asked here. The token is
short, has no refresh token, and lives no longer than the assertion. Public clients cannot exchange assertions.

Source: draft-ietf-oauth-identity-assertion-authz-grant; RFC 6749, sections 2.3.1 and 3.2.1; RFC 7523, section 3; MCP,
``io.modelcontextprotocol/enterprise-managed-authorization``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_plus

from handler.bundle.identity import AssertionClient, Issuer
from handler.bundle.model import Bundle
from handler.errors.access import AssertionRefused, CredentialRefused, OAuthRefused
from handler.server.auth.sealed_state import MAX_ACCESS_TOKEN_CHARS, seal_access_token
from handler.server.context import Services
from handler.server.oauth_proxy.proxy import ProxySite
from handler.strict_json import JSONObject

SECRET_METHODS = ("client_secret_basic", "client_secret_post")

_REFUSED = "this client is not known, or its secret is not valid"

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


def authenticate_client(
    clients: tuple[AssertionClient, ...], parameters: Mapping[str, str], *, authorization: str
) -> AssertionClient:
    """Return the client of a token request, by its secret in the header or in the form.

    Raises:
        OAuthRefused: the client is unknown, its secret is missing or wrong, or it authenticates in two ways.
    """
    client_id, secret = parameters.get("client_id", ""), parameters.get("client_secret", "")
    if "client_assertion" in parameters or "client_assertion_type" in parameters:
        raise OAuthRefused("invalid_client", f"expected a secret, by {' or '.join(SECRET_METHODS)}")
    if authorization:
        if secret:
            raise OAuthRefused("invalid_request", "expected one client authentication")
        basic_id, secret = _basic(authorization)
        if client_id not in ("", basic_id):
            raise OAuthRefused("invalid_client", _REFUSED)
        client_id = basic_id
    digest = hashlib.sha256(secret.encode()).hexdigest()
    # Every digest is compared, so that the duration does not reveal which secret came close.
    matches = [client for client in clients for sha256 in client.sha256 if hmac.compare_digest(sha256, digest)]
    client = next((client for client in matches if client.id == client_id), None)
    if not secret or client is None:
        raise OAuthRefused("invalid_client", _REFUSED)
    return client


def _basic(authorization: str) -> tuple[str, str]:
    scheme, _, value = authorization.strip().partition(" ")
    try:
        text = base64.b64decode(value.strip(), validate=True).decode() if scheme.lower() == "basic" else ""
        client_id, colon, secret = text.partition(":")
        decoded = unquote_plus(client_id, errors="strict"), unquote_plus(secret, errors="strict")
    except ValueError:
        colon = ""
    if not colon:
        raise OAuthRefused("invalid_client", _REFUSED)
    return decoded


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


async def exchange_assertion(
    services: Services,
    bundle: Bundle,
    site: ProxySite,
    used: UsedAssertions,
    *,
    parameters: Mapping[str, str],
    client: AssertionClient,
) -> JSONObject:
    """Return the token response to an authenticated client's request.

    Raises:
        OAuthRefused: the assertion is not valid for this client and endpoint now, or the request is not.
        KeysUnavailable, VerifierMissing: the assertion cannot be judged.
        StateUnavailable: the token cannot be sealed.
    """
    resource, now = site.require_resource(parameters), services.clock()
    assertion = parameters.get("assertion", "")
    if not assertion:
        raise OAuthRefused("invalid_request", "expected an assertion")
    issuers = tuple(_for_assertions(each, site) for each in bundle.identity.issuers if each.issuer == client.issuer)
    try:
        verifier = services.verifier_of(bundle.endpoint)
        claims = await verifier.verify(assertion, issuers, now=now, is_assertion=True)
    except CredentialRefused as exc:
        raise AssertionRefused(exc.reason) from exc
    _judge(claims, issuer=site.url, resource=resource, client=client, now=now)
    scopes = _scopes_of(claims, parameters.get("scope", "").split())
    issued_at = int(now)
    expires = min(issued_at + MAX_TOKEN_S, int(claims["exp"]))
    scope = {"scope": " ".join(scopes)} if scopes else {}
    subject = {name: value for name, value in claims.items() if name not in OWN_CLAIMS}
    token = await seal_access_token(
        {**subject, "aud": resource, "iat": issued_at, "exp": expires, **scope},
        endpoint=bundle.endpoint,
        resource=resource,
        states=services.states,
    )
    if len(token) > MAX_ACCESS_TOKEN_CHARS:
        raise AssertionRefused("too_large")
    # Last, and without a pause before the answer: of two requests at once, one gets a token.
    until = claims["iat"] + MAX_AGE_S + 1
    used.use((bundle.endpoint, claims["iss"], claims["jti"]), until=until, now=now)
    return {"access_token": token, "token_type": "Bearer", "expires_in": expires - issued_at, **scope}


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
    subject, jti = claims.get("sub"), claims.get("jti")
    if not isinstance(subject, str) or not subject:
        raise AssertionRefused("subject")
    if not isinstance(jti, str) or not 0 < len(jti) <= MAX_JTI_CHARS:
        raise AssertionRefused("no_jti")
    if any(name in claims for name in NARROWING):
        raise AssertionRefused("narrowed")
    if int(claims["exp"]) <= now:  # a second that is not whole counts for nothing
        raise AssertionRefused("expired")
    if "iat" not in claims or now - claims["iat"] > MAX_AGE_S:
        raise AssertionRefused("too_old")


def _scopes_of(claims: Mapping[str, Any], wanted: list[str]) -> list[str]:
    """Return the scopes that the provider grants, of those that the client asks for; all if it asks for none.

    Source: RFC 6749, section 3.3.
    """
    text = claims.get("scope", "")
    if not isinstance(text, str) or not text.isascii() or not text.isprintable():  # only spaces part scopes
        raise AssertionRefused("scope")
    scopes = [scope for scope in dict.fromkeys(text.split()) if not wanted or scope in wanted]
    if wanted and not scopes:
        raise OAuthRefused("invalid_scope", "the assertion grants none of these scopes")
    return scopes
