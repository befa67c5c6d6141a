"""The flow of the OAuth proxy: metadata, registration, redirects to the provider and back to the client, and tokens.

Many clients sign in only if they can register themselves (RFC 7591), or if a URL is accepted as a client id (client ID
metadata documents). Providers such as Cognito and Entra know only clients that their owner has entered. So the proxy
gives all clients the id of the one entered client, redirects them to the provider, and forwards the tokens for their
code. The proxy keeps nothing: the client's redirect URI and state travel as ``state``.

The provider redirects people to the proxy, and the proxy redirects them to their client. So the provider needs only
one redirect URI for all clients, and clients get the ``iss`` of the server that they asked (RFC 9207). The state is
not sealed: it holds only the target of the redirect, which has to be on the owner's list at each step. An attacker able
to forge a state could as well call that client, or have a state made.

Source: RFC 6749 (OAuth 2.0), RFC 7636 (PKCE), RFC 8252 (native apps), RFC 8414 (metadata), RFC 8707 (resources),
RFC 9207 (issuer identification); MCP 2026-07-28, basic/authorization.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from handler.errors.access import OAuthRefused
from handler.server.oauth_proxy.assertion_grant import SECRET_METHODS
from handler.server.oauth_proxy.proxy import GRANTS, ID_JAG_PROFILE, JWT_BEARER, ProxySite, error_of, parse_form
from handler.strict_json import JSONObject, find_json, parse_json, to_json_bytes

MAX_STATE_CHARS = 4_096
MAX_REDIRECT_URIS = 20
MAX_QUERY_BYTES = 16_384

PASSED_ON = ("prompt", "login_hint")
"""The parameters that a client may pass to the provider's sign-in page, unless ``authorize_url`` has them already."""

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
"""Source: RFC 7636, section 4.2: a SHA-256 in base64url."""

VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
"""Source: RFC 7636, section 4.1."""

TOKEN_MEMBERS = ("access_token", "token_type", "expires_in", "refresh_token", "id_token")


def metadata(site: ProxySite, *, jwks_url: str) -> JSONObject:
    """Return the document of RFC 8414, section 2, with the members of OpenID Connect Discovery, for its clients."""
    scopes = [*site.scopes, *(scope for scope in site.proxy.extra_scopes if scope == "offline_access")]
    openid = {
        "jwks_uri": jwks_url,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }
    assertions = site.takes_assertions
    return {
        "issuer": site.url,
        "authorization_endpoint": f"{site.url}/oauth/authorize",
        "token_endpoint": f"{site.url}/oauth/token",
        "registration_endpoint": f"{site.url}/oauth/register",
        **({"scopes_supported": scopes} if scopes else {}),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [*GRANTS, *([JWT_BEARER] if assertions else [])],
        **({"authorization_grant_profiles_supported": [ID_JAG_PROFILE]} if assertions else {}),
        "token_endpoint_auth_methods_supported": ["none", *(SECRET_METHODS if assertions else ())],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": bool(site.proxy.client_metadata_documents),
        **(openid if jwks_url else {}),
    }


def registration(site: ProxySite, body: bytes) -> JSONObject:
    """Return the registration of a client: every client gets the id of the one that the provider knows.

    Raises:
        OAuthRefused: the body is malformed, or the owner does not allow one of the redirect URIs.

    Source: RFC 7591, sections 3.2.1 and 3.2.2.
    """
    client = find_json(body)
    if not isinstance(client, dict):
        raise OAuthRefused("invalid_client_metadata", "expected a JSON object")
    uris = client.get("redirect_uris")
    if not isinstance(uris, list) or not 1 <= len(uris) <= MAX_REDIRECT_URIS:
        raise OAuthRefused("invalid_redirect_uri", f"expected redirect_uris, 1 to {MAX_REDIRECT_URIS} of them")
    for uri in uris:
        site.require_allowed(uri if isinstance(uri, str) else "", code="invalid_redirect_uri")
    return {
        "client_id": site.proxy.client_id,
        "redirect_uris": uris,
        "grant_types": [*GRANTS],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def authorize_location(site: ProxySite, query: bytes) -> str:
    """Return the target of a client's authorization request: the provider, or the client with an error.

    Raises:
        OAuthRefused: the client or its redirect URI is not known, so no redirect is safe; or the request is malformed.
    """
    parameters = _parse_query(query)
    site.require_client(parameters)
    redirect_uri = site.require_redirect_uri(parameters)
    state = parameters.get("state")
    if state is not None and len(state) > MAX_STATE_CHARS:
        raise OAuthRefused("invalid_request", f"a state may have {MAX_STATE_CHARS} characters")
    try:
        return _provider_location(site, parameters, to_state(redirect_uri, state))
    except OAuthRefused as exc:
        answer = {"error": exc.code, "error_description": exc.description}
        return _client_location(site, redirect_uri, state, answer)


def callback_location(site: ProxySite, query: bytes) -> str:
    """Return the target of the provider's answer: the client that asked.

    Raises:
        OAuthRefused: the answer belongs to no request that went through the proxy, or is another provider's.
    """
    answer = _parse_query(query)
    redirect_uri, state = _opened(answer.get("state", ""))
    site.require_allowed(redirect_uri, code="invalid_request")
    if answer.get("iss", site.proxy.issuer) != site.proxy.issuer:
        raise OAuthRefused("invalid_request", "the answer is another provider's")
    outcome = {"code": answer["code"]} if "code" in answer else error_of(answer)
    return _client_location(site, redirect_uri, state, outcome)


def _parse_query(query: bytes) -> dict[str, str]:
    if len(query) > MAX_QUERY_BYTES:
        raise OAuthRefused("invalid_request", f"a query may have {MAX_QUERY_BYTES} bytes")
    return parse_form(query, expected="a query that is percent-encoded")


def to_state(redirect_uri: str, state: str | None) -> str:
    """Encode a client's redirect URI and state as the ``state`` for the provider."""
    return base64.urlsafe_b64encode(to_json_bytes([redirect_uri, state])).decode()


def _opened(text: str) -> tuple[str, str | None]:
    try:
        match parse_json(base64.b64decode(text, altchars=b"-_", validate=True)):
            case [str(redirect_uri), str() | None as state]:
                (state or "").encode()  # a lone surrogate cannot be sent on
                return redirect_uri, state
    except ValueError:
        pass
    raise OAuthRefused("invalid_request", "the state is not from a request that went through here")


def _provider_location(site: ProxySite, parameters: Mapping[str, str], state: str) -> str:
    if parameters.get("response_type") != "code":
        raise OAuthRefused("unsupported_response_type", "expected response_type=code")
    if "request" in parameters or "request_uri" in parameters:
        raise OAuthRefused("request_not_supported", "expected the parameters themselves")
    method, challenge = parameters.get("code_challenge_method"), parameters.get("code_challenge", "")
    if method != "S256" or not CHALLENGE.fullmatch(challenge):
        raise OAuthRefused("invalid_request", "expected a code_challenge, with code_challenge_method=S256")
    fixed = parse_qs(urlsplit(site.proxy.authorize_url).query, keep_blank_values=True)
    query = {
        "response_type": "code",
        "client_id": site.proxy.client_id,
        "redirect_uri": site.callback,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        **{name: parameters[name] for name in PASSED_ON if name in parameters and name not in fixed},
    }
    scopes = site.wanted(parameters.get("scope", "").split()) or site.qualified(site.scopes)
    if scope := " ".join(dict.fromkeys((*scopes, *site.proxy.extra_scopes))):
        query["scope"] = scope
    resource = site.require_resource(parameters)
    if site.proxy.resource == "keep":
        query["resource"] = resource
    return _with_query(site.proxy.authorize_url, query)


def _client_location(site: ProxySite, redirect_uri: str, state: str | None, answer: Mapping[str, str]) -> str:
    own_state = {} if state is None else {"state": state}
    return _with_query(redirect_uri, {**answer, **own_state, "iss": site.url})


def _with_query(url: str, parameters: Mapping[str, str]) -> str:
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}{urlencode(parameters, quote_via=quote)}"


def token_form(site: ProxySite, parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the form for the provider's token endpoint, without the client secret.

    Raises:
        OAuthRefused: the client's request is not valid, so the provider is not asked.

    Source: RFC 6749, sections 4.1.3 and 6.
    """
    site.require_client(parameters)
    form = {**_grant(site, parameters), "client_id": site.proxy.client_id}
    resource = site.require_resource(parameters)
    if site.proxy.resource == "keep" and "resource" in parameters:
        form["resource"] = resource
    return form


def token_answer(site: ProxySite, answer: Mapping[str, Any]) -> JSONObject:
    """Return the client's part of the provider's answer, with the names of scopes that clients ask for."""
    members = {name: answer[name] for name in TOKEN_MEMBERS if answer.get(name) is not None}
    if isinstance(answer.get("scope"), str):
        prefix = site.proxy.scope_prefix
        members["scope"] = " ".join(scope.removeprefix(prefix) for scope in answer["scope"].split())
    return members


def _grant(site: ProxySite, parameters: Mapping[str, str]) -> dict[str, str]:
    match parameters.get("grant_type"):
        case "authorization_code":
            if "redirect_uri" in parameters:  # absent in OAuth 2.1: PKCE ties the code to the client
                site.require_redirect_uri(parameters)
            if "code" not in parameters or not VERIFIER.fullmatch(parameters.get("code_verifier", "")):
                raise OAuthRefused("invalid_request", "expected code and code_verifier")
            grant = {name: parameters[name] for name in ("grant_type", "code", "code_verifier")}
            return {**grant, "redirect_uri": site.callback}
        case "refresh_token":
            if "refresh_token" not in parameters:
                raise OAuthRefused("invalid_request", "expected refresh_token")
            scope = " ".join(dict.fromkeys(site.wanted(parameters.get("scope", "").split())))
            grant = {name: parameters[name] for name in ("grant_type", "refresh_token")}
            return {**grant, "scope": scope} if scope else grant
        case _:
            raise OAuthRefused("unsupported_grant_type", f"expected {' or '.join(GRANTS)}")
