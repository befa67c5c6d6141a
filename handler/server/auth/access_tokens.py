"""Access tokens that the OAuth proxy issues itself, for identity assertions. They are for one endpoint's MCP route.

A token holds the claims of the assertion, sealed with the key of ``STILE_STATE_KEY``. So every instance can read it,
and nothing is stored.
"""

from __future__ import annotations

from handler.bundle.model import Bundle
from handler.errors.access import CredentialRefused
from handler.errors.protocol import StateRefused
from handler.server.auth.principal import SEALED_PREFIX
from handler.server.auth.sealed_state import RequestStates
from handler.strict_json import JSONObject

MAX_ACCESS_TOKEN_CHARS = 6_000
"""API Gateway accepts 10,240 bytes of headers in all."""


async def seal_access_token(claims: JSONObject, *, endpoint: str, resource: str, states: RequestStates) -> str:
    """Return an access token with claims, for the resource (URL) of an endpoint.

    Raises:
        StateUnavailable: there is no readable key, or the claims are too large.
    """
    return SEALED_PREFIX + await states.seal(claims, binding=_binding(endpoint, resource))


async def open_access_token(
    text: str, bundle: Bundle, *, resource: str, states: RequestStates, now: float
) -> JSONObject:
    """Return the claims of an access token for ``resource``, valid at ``now`` (UNIX seconds).

    The client has to be configured still: publishing without it ends its tokens.

    Raises:
        CredentialRefused: the token is not valid here and now.
    """
    proxy = bundle.identity.oauth_proxy
    clients = {(client.id, client.issuer) for client in proxy.assertion_clients} if proxy else set()
    if not clients or not resource or len(text) > MAX_ACCESS_TOKEN_CHARS:
        raise CredentialRefused("malformed")
    try:
        claims: JSONObject = await states.open(
            text.removeprefix(SEALED_PREFIX), binding=_binding(bundle.endpoint, resource)
        )
    except StateRefused as exc:
        raise CredentialRefused("signature") from exc
    if claims["exp"] <= now:
        raise CredentialRefused("expired")
    if (claims["client_id"], claims["iss"]) not in clients:
        raise CredentialRefused("client")
    if not bundle.identity.trusted_apis:
        return claims
    from handler.server.auth.iam_claims import without_iam  # AWS's signatures alone give this claim

    return without_iam(claims)


def _binding(endpoint: str, resource: str) -> JSONObject:
    """Return the facts that a token is for. States of calls have other members, so none of them opens as a token."""
    return {"endpoint": endpoint, "access_token": resource}
