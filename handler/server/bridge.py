"""An OAuth authorization server in front of a provider that clients cannot register with.

Many clients sign in only where they can register themselves (RFC 7591), or where a URL is taken for a client id
(client ID metadata documents). Providers such as Cognito and Entra know only clients that their owner has entered. So
the bridge gives all clients the one that is entered, sends them on to the provider, and forwards what they get for
their code. Nothing is kept: what the way back needs travels as ``state``.

The provider sends people back to the bridge, and the bridge sends them on to their client. So the provider has one
redirect URI to know whatever clients there are, and clients get the ``iss`` of the server that they asked (RFC 9207).
The state is not sealed: it says no more than where to go on to, which has to stand on the owner's list at each step,
and whoever could make one could as well call that client, or have one made.

Source: RFC 6749 (OAuth 2.0), RFC 7636 (PKCE), RFC 8252 (native apps), RFC 8414 (metadata), RFC 8707 (resources),
RFC 9207 (issuer identification); MCP 2026-07-28, basic/authorization.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from handler.bundle import Bridge, JSONObject
from handler.errors import OAuthRefused
from handler.json_shape import parse_json, to_json_bytes

GRANTS = ("authorization_code", "refresh_token")

STANDARD_SCOPES = frozenset({"openid", "profile", "email", "address", "phone", "offline_access"})
"""Scopes of OpenID Connect itself, which belong to no API. Source: OpenID Connect Core 1.0, sections 5.4 and 11."""

MAX_PARAMETERS = 40
MAX_STATE_CHARS = 4_096
MAX_REDIRECT_URIS = 20

PASSED_ON = ("prompt", "login_hint")
"""What a client may tell the provider's sign-in page."""

ERROR_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
DESCRIPTION = re.compile(r"[\x20-\x21\x23-\x5B\x5D-\x7E]{1,500}")
"""Source: RFC 6749, section 4.1.2.1."""

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
"""Source: RFC 7636, sections 4.1 and 4.2; S256 always has 43 characters."""

LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|localhost|\[::1\]))(?::[0-9]{1,5})?((?:[/?].*)?)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeSite:
    """A bridge where clients reach it. ``url`` is the endpoint's, without a slash at the end; it is the issuer."""

    bridge: Bridge
    url: str
    scopes: tuple[str, ...]  # what a client that asks for none gets

    @property
    def callback(self) -> str:
        """The one redirect URI that the provider has to know."""
        return f"{self.url}/oauth/callback"


def metadata(site: BridgeSite, *, jwks_url: str) -> JSONObject:
    """The document of RFC 8414, section 2, with what OpenID Connect Discovery requires of one, for who asks there."""
    offline = [scope for scope in site.bridge.extra_scopes if scope == "offline_access"]
    openid = {
        "jwks_uri": jwks_url,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }
    scopes = [*site.scopes, *offline]
    return {
        "issuer": site.url,
        "authorization_endpoint": f"{site.url}/oauth/authorize",
        "token_endpoint": f"{site.url}/oauth/token",
        "registration_endpoint": f"{site.url}/oauth/register",
        **({"scopes_supported": scopes} if scopes else {}),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [*GRANTS],
        "token_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": bool(site.bridge.client_metadata_documents),
        **(openid if jwks_url else {}),
    }


def registration(site: BridgeSite, body: bytes) -> JSONObject:
    """What a client that registers is told that it is: whoever asks, the one that the provider knows.

    Raises:
        OAuthRefused: it wants answers sent to where the owner lets none go.

    Source: RFC 7591, sections 3.2.1 and 3.2.2.
    """
    try:
        asked = parse_json(body)
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise OAuthRefused("invalid_client_metadata", "expected a JSON object")
    uris = asked.get("redirect_uris")
    if not isinstance(uris, list) or not 1 <= len(uris) <= MAX_REDIRECT_URIS:
        raise OAuthRefused("invalid_redirect_uri", f"expected redirect_uris, 1 to {MAX_REDIRECT_URIS} of them")
    if not all(isinstance(uri, str) and is_allowed(uri, site.bridge) for uri in uris):
        raise OAuthRefused("invalid_redirect_uri", NOT_ON_THE_LIST)
    return {
        "client_id": site.bridge.client_id,
        "redirect_uris": uris,
        "grant_types": [*GRANTS],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def authorize_location(site: BridgeSite, query: str) -> str:
    """Where a client's authorization request goes on to: the provider, or back to the client with an error.

    Raises:
        OAuthRefused: the client or its redirect URI is not known, so that nobody may be sent anywhere.
    """
    asked = parse_form(query)
    _require_client(site, asked)
    redirect_uri = _require_redirect_uri(site, asked)
    state = asked.get("state")
    if state is not None and len(state) > MAX_STATE_CHARS:
        raise OAuthRefused("invalid_request", f"a state may have {MAX_STATE_CHARS} characters")
    try:
        return _provider_location(site, asked, to_state(redirect_uri, state))
    except OAuthRefused as exc:
        answer = {"error": exc.code, "error_description": exc.description}
        return _client_location(site, redirect_uri, state, answer)


def callback_location(site: BridgeSite, query: str) -> str:
    """Where the provider's answer goes on to: the client that asked.

    Raises:
        OAuthRefused: it is the answer to no request that went through here, or of another provider.
    """
    answered = parse_form(query)
    redirect_uri, state = _opened(answered.get("state", ""))
    if not is_allowed(redirect_uri, site.bridge):
        raise OAuthRefused("invalid_request", NOT_ON_THE_LIST)
    if answered.get("iss", site.bridge.issuer) != site.bridge.issuer:
        raise OAuthRefused("invalid_request", "the answer is another provider's")
    if "code" in answered:
        return _client_location(site, redirect_uri, state, {"code": answered["code"]})
    return _client_location(site, redirect_uri, state, error_of(answered))


def token_form(site: BridgeSite, body: bytes) -> dict[str, str]:
    """What to ask the provider's token endpoint for a client, but for the secret.

    Raises:
        OAuthRefused: a request that the provider is not asked for.

    Source: RFC 6749, sections 4.1.3 and 6.
    """
    try:
        asked = parse_form(body.decode("ascii"))
    except UnicodeDecodeError:
        raise OAuthRefused("invalid_request", "expected a form") from None
    _require_client(site, asked)
    form = _grant(site, asked)
    form["client_id"] = site.bridge.client_id
    if site.bridge.resource == "keep" and "resource" in asked:
        form["resource"] = _resource(site, asked)
    return form


def token_answer(site: BridgeSite, answer: Mapping[str, Any]) -> JSONObject:
    """What of the provider's tokens a client gets, with the scopes by the names that it asked for them."""
    kept = {name: answer[name] for name in TOKEN_MEMBERS if answer.get(name) is not None}
    if isinstance(answer.get("scope"), str):
        prefix = site.bridge.scope_prefix
        kept["scope"] = " ".join(scope.removeprefix(prefix) for scope in answer["scope"].split())
    return kept


def error_of(answer: Mapping[str, Any]) -> dict[str, str]:
    """The error that a provider answers with, as far as it can be passed on."""
    code, description = answer.get("error"), answer.get("error_description")
    known = isinstance(code, str) and ERROR_CODE.fullmatch(code)
    found = {"error": str(code) if known else "server_error"}
    if known and isinstance(description, str) and DESCRIPTION.fullmatch(description):
        found["error_description"] = description
    return found


def is_allowed(redirect_uri: str, bridge: Bridge) -> bool:
    """Whether answers may be sent there: it stands on the list as it is, or at any port of its own machine.

    Source: RFC 8252, section 7.3.
    """
    own = LOOPBACK.fullmatch(redirect_uri)
    return redirect_uri in bridge.redirect_uris or bool(own and f"{own[1]}{own[2]}" in bridge.redirect_uris)


def parse_form(text: str) -> dict[str, str]:
    """The parameters of a query or form. Those without a value count as left out (RFC 6749, section 3.1).

    Raises:
        OAuthRefused: there are too many, one stands there twice, or it is no UTF-8.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_PARAMETERS, errors="strict")
    except ValueError:
        raise OAuthRefused("invalid_request", f"expected at most {MAX_PARAMETERS} parameters, in UTF-8") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise OAuthRefused("invalid_request", "a parameter stands there twice")
    return {name: value for name, value in pairs if value}


def to_state(redirect_uri: str, state: str | None) -> str:
    """What the way back needs, as the provider's ``state``."""
    return base64.urlsafe_b64encode(to_json_bytes([redirect_uri, state])).decode()


def _opened(text: str) -> tuple[str, str | None]:
    try:
        match parse_json(base64.b64decode(text, altchars=b"-_", validate=True)):
            case [str(redirect_uri), str() | None as state]:
                (state or "").encode()  # half of a surrogate pair cannot be sent on
                return redirect_uri, state
    except ValueError:
        pass
    raise OAuthRefused("invalid_request", "the state is none of a request that went through here")


def _provider_location(site: BridgeSite, asked: Mapping[str, str], state: str) -> str:
    if asked.get("response_type") != "code":
        raise OAuthRefused("unsupported_response_type", "expected response_type=code")
    if "request" in asked or "request_uri" in asked:
        raise OAuthRefused("request_not_supported", "expected the parameters themselves")
    if asked.get("code_challenge_method") != "S256" or not CHALLENGE.fullmatch(asked.get("code_challenge", "")):
        raise OAuthRefused("invalid_request", "expected a code_challenge, with code_challenge_method=S256")
    sent = {
        "response_type": "code",
        "client_id": site.bridge.client_id,
        "redirect_uri": site.callback,
        "state": state,
        "code_challenge": asked["code_challenge"],
        "code_challenge_method": "S256",
        **{name: asked[name] for name in PASSED_ON if name in asked},
    }
    scopes = asked["scope"].split() if "scope" in asked else site.scopes
    if scope := _qualified((*scopes, *site.bridge.extra_scopes), site.bridge):
        sent["scope"] = scope
    resource = _resource(site, asked)
    if site.bridge.resource == "keep":
        sent["resource"] = resource
    return _with_query(site.bridge.authorize_url, sent)


def _grant(site: BridgeSite, asked: Mapping[str, str]) -> dict[str, str]:
    match asked.get("grant_type"):
        case "authorization_code":
            _require_redirect_uri(site, asked)
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
            scope = _qualified(asked.get("scope", "").split(), site.bridge)
            form = {"grant_type": "refresh_token", "refresh_token": asked["refresh_token"]}
            return {**form, "scope": scope} if scope else form
        case _:
            raise OAuthRefused("unsupported_grant_type", f"expected {' or '.join(GRANTS)}")


def _require_client(site: BridgeSite, asked: Mapping[str, str]) -> None:
    if asked.get("client_id") not in (site.bridge.client_id, *site.bridge.client_metadata_documents):
        raise OAuthRefused("invalid_client", "this client is not known: it has to register")


def _require_redirect_uri(site: BridgeSite, asked: Mapping[str, str]) -> str:
    redirect_uri = asked.get("redirect_uri", "")
    if not is_allowed(redirect_uri, site.bridge):
        raise OAuthRefused("invalid_request", NOT_ON_THE_LIST)
    return redirect_uri


def _resource(site: BridgeSite, asked: Mapping[str, str]) -> str:
    """The one API that tokens are asked for here. Source: RFC 8707, section 2."""
    own = f"{site.url}/mcp"
    if asked.get("resource", own).removesuffix("/") != own:
        raise OAuthRefused("invalid_target", f"expected {own}")
    return own


def _qualified(scopes: Iterable[str], bridge: Bridge) -> str:
    """Scopes by the names that the provider has for them."""
    prefix = bridge.scope_prefix
    named = (
        scope
        if scope in STANDARD_SCOPES or scope.startswith(prefix) or scope in bridge.extra_scopes
        else f"{prefix}{scope}"
        for scope in scopes
    )
    return " ".join(dict.fromkeys(named))


def _client_location(site: BridgeSite, redirect_uri: str, state: str | None, answer: Mapping[str, str]) -> str:
    kept = {} if state is None else {"state": state}
    return _with_query(redirect_uri, {**answer, **kept, "iss": site.url})


def _with_query(url: str, parameters: Mapping[str, str]) -> str:
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}{urlencode(parameters, quote_via=quote)}"


NOT_ON_THE_LIST = "the redirect URI is none that the owner of this server allows"
TOKEN_MEMBERS = ("access_token", "token_type", "expires_in", "refresh_token", "id_token")
