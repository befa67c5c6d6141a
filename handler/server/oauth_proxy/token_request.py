"""Build the request to the provider's token endpoint for a client, and the client's answer.

Source: RFC 6749, sections 4.1.3, 5 and 6; RFC 7636, section 4.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handler.errors.access import OAuthRefused
from handler.server.oauth_proxy.proxy import GRANTS, ProxySite, parse_form
from handler.strict_json import JSONObject

VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
"""Source: RFC 7636, section 4.1."""

TOKEN_MEMBERS = ("access_token", "token_type", "expires_in", "refresh_token", "id_token")


def parse_token_request(body: bytes) -> dict[str, str]:
    """Return the parameters of a client's token request.

    Raises:
        OAuthRefused: the body is not a form.
    """
    try:
        return parse_form(body.decode("ascii"))
    except UnicodeDecodeError:
        raise OAuthRefused("invalid_request", "expected a form") from None


def token_form(site: ProxySite, asked: Mapping[str, str]) -> dict[str, str]:
    """Return the form for the provider's token endpoint, without the client secret.

    Raises:
        OAuthRefused: the client's request is not valid, so the provider is not asked.

    Source: RFC 6749, sections 4.1.3 and 6.
    """
    site.require_client(asked)
    form = _grant(site, asked)
    form["client_id"] = site.proxy.client_id
    resource = site.require_resource(asked)
    if site.proxy.resource == "keep" and "resource" in asked:
        form["resource"] = resource
    return form


def token_answer(site: ProxySite, answer: Mapping[str, Any]) -> JSONObject:
    """Return the client's part of the provider's answer, with the names of scopes that clients ask for."""
    kept = {name: answer[name] for name in TOKEN_MEMBERS if answer.get(name) is not None}
    if isinstance(answer.get("scope"), str):
        prefix = site.proxy.scope_prefix
        kept["scope"] = " ".join(scope.removeprefix(prefix) for scope in answer["scope"].split())
    return kept


def _grant(site: ProxySite, asked: Mapping[str, str]) -> dict[str, str]:
    match asked.get("grant_type"):
        case "authorization_code":
            if "redirect_uri" in asked:  # absent in OAuth 2.1: PKCE ties the code to the client
                site.require_redirect_uri(asked)
            if "code" not in asked or not VERIFIER.fullmatch(asked.get("code_verifier", "")):
                raise OAuthRefused("invalid_request", "expected code and code_verifier")
            return {
                "grant_type": "authorization_code",
                "code": asked["code"],
                "code_verifier": asked["code_verifier"],
                "redirect_uri": site.callback,
            }
        case "refresh_token":
            if "refresh_token" not in asked:
                raise OAuthRefused("invalid_request", "expected refresh_token")
            scope = " ".join(dict.fromkeys(site.wanted(asked.get("scope", "").split())))
            form = {"grant_type": "refresh_token", "refresh_token": asked["refresh_token"]}
            return {**form, "scope": scope} if scope else form
        case _:
            raise OAuthRefused("unsupported_grant_type", f"expected {' or '.join(GRANTS)}")
