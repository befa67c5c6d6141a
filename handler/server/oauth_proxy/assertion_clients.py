"""Authentication of the clients that exchange identity assertions for tokens. Public clients cannot.

Source: RFC 6749, sections 2.3.1 and 3.2.1; draft-ietf-oauth-identity-assertion-authz-grant ("Client Authentication").
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import unquote_plus

from handler.bundle.identity import AssertionClient
from handler.errors.access import OAuthRefused

SECRET_METHODS = ("client_secret_basic", "client_secret_post")


def authenticate_client(
    clients: tuple[AssertionClient, ...], asked: Mapping[str, str], *, authorization: str
) -> AssertionClient:
    """Return the client of a token request, by its secret in the header or in the form.

    Raises:
        OAuthRefused: the client is unknown, its secret is missing or wrong, or it authenticates in two ways.
    """
    client_id, secret = asked.get("client_id", ""), asked.get("client_secret", "")
    if "client_assertion" in asked or "client_assertion_type" in asked:
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
    matches = [client for client in clients for known in client.sha256 if hmac.compare_digest(known, digest)]
    found = [client for client in matches if client.id == client_id]
    if not secret or not found:
        raise OAuthRefused("invalid_client", _REFUSED)
    return found[0]


_REFUSED = "this client is not known, or its secret is not valid"


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
