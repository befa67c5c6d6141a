"""The OAuth proxy at its public URL, and the parser of requests to it: shared by all of its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from handler.bundle.identity import OAuthProxy
from handler.cold.records import record
from handler.errors.access import OAuthRefused, RedirectRefused

GRANTS = ("authorization_code", "refresh_token")

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ID_JAG_PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"
"""The grant of identity assertions. Source: RFC 7523, section 2.1; draft-ietf-oauth-identity-assertion-authz-grant."""

STANDARD_SCOPES = frozenset({"openid", "profile", "email", "address", "phone", "offline_access"})
"""Scopes of OpenID Connect itself, which belong to no API. Source: OpenID Connect Core 1.0, sections 5.4 and 11."""

MAX_PARAMETERS = 40

ERROR_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
DESCRIPTION = re.compile(r"[\x20-\x21\x23-\x5B\x5D-\x7E]{1,500}")
"""Source: RFC 6749, section 4.1.2.1."""

LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|localhost|\[::1\]))(?::[0-9]{1,5})?((?:[/?].*)?)", re.DOTALL)


@record(frozen=True, slots=True, kw_only=True)
class ProxySite:
    """An OAuth proxy at its public URL. ``url`` is the endpoint's, without a slash at the end, and the issuer."""

    proxy: OAuthProxy
    url: str
    scopes: tuple[str, ...]  # for a client that asks for none
    known_scopes: tuple[str, ...]  # of all tools: a client may ask for these
    takes_assertions: bool = False  # there are clients for them, and a key that seals tokens

    @property
    def callback(self) -> str:
        """The one redirect URI that the provider has to know."""
        return f"{self.url}/oauth/callback"

    def require_client(self, parameters: Mapping[str, str]) -> None:
        """Refuse a client with neither the proxy's client id nor an allowed metadata document."""
        if parameters.get("client_id") not in (self.proxy.client_id, *self.proxy.client_metadata_documents):
            raise OAuthRefused("invalid_client", "this client is not known: it has to register")

    def require_redirect_uri(self, parameters: Mapping[str, str]) -> str:
        """Return the redirect URI of a request, which the owner has to allow."""
        return self.require_allowed(parameters.get("redirect_uri", ""), code="invalid_request")

    def require_allowed(self, redirect_uri: str, *, code: str) -> str:
        """Return a redirect URI that is on the owner's list as it is, or for loopback, with any port.

        ``code`` is OAuth's error code if it is not. Source: RFC 8252, section 7.3.
        """
        allowed, loopback = self.proxy.redirect_uris, LOOPBACK.fullmatch(redirect_uri)
        if redirect_uri not in allowed and not (loopback and f"{loopback[1]}{loopback[2]}" in allowed):
            raise RedirectRefused(code, redirect_uri)
        return redirect_uri

    def require_resource(self, parameters: Mapping[str, str]) -> str:
        """Return the one resource that tokens are for. Source: RFC 8707, section 2."""
        own = f"{self.url}/mcp"
        if parameters.get("resource", own).removesuffix("/") != own:
            raise OAuthRefused("invalid_target", f"expected {own}")
        return own

    def wanted(self, names: Iterable[str]) -> list[str]:
        """Return the requested scopes that tools need or the owner has named, by the provider's names.

        All others are left out: a client of this endpoint gets no rights elsewhere.

        Source: RFC 6749, section 3.3.
        """
        scopes = {*self.qualified(self.known_scopes), *self.proxy.extra_scopes}
        return [scope for scope in self.qualified(names) if scope in scopes]

    def qualified(self, scopes: Iterable[str]) -> list[str]:
        """Return scopes by the provider's names for them."""
        whole = STANDARD_SCOPES | {*self.proxy.extra_scopes}
        prefix = self.proxy.scope_prefix
        return [each if each in whole or each.startswith(prefix) else f"{prefix}{each}" for each in scopes]


def parse_form(raw: bytes, *, expected: str) -> dict[str, str]:
    """Return the parameters of a query or form. Those without a value count as left out (RFC 6749, section 3.1).

    Raises:
        OAuthRefused: it is not ``expected``, has too many parameters or one of them twice, or is not UTF-8.
    """
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError:
        raise OAuthRefused("invalid_request", f"expected {expected}") from None
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_PARAMETERS, errors="strict")
    except ValueError:
        raise OAuthRefused("invalid_request", f"expected at most {MAX_PARAMETERS} parameters, in UTF-8") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise OAuthRefused("invalid_request", "a parameter stands there twice")
    return {name: value for name, value in pairs if value}


def error_of(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return a provider's error as far as it can be passed on; ``server_error`` if it cannot."""
    code, description = answer.get("error"), answer.get("error_description")
    if not isinstance(code, str) or not ERROR_CODE.fullmatch(code):
        return {"error": "server_error"}
    if isinstance(description, str) and DESCRIPTION.fullmatch(description):
        return {"error": code, "error_description": description}
    return {"error": code}
