"""Callers that an API Gateway authorizer has verified before the function was started.

What it found stands in the Lambda event's request context, which API Gateway writes and no caller can.

Source: Amazon API Gateway, "Control access to HTTP APIs with JWT authorizers" and "Use API Gateway Lambda authorizers".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle import JSONObject
from handler.errors import CredentialRefused
from handler.server.tokens import parse_token


def authorized_claims(event: Mapping[str, Any], trusted_apis: tuple[str, ...], *, authorization: str) -> JSONObject:
    """The claims that an authorizer of a trusted API verified; empty where there is none.

    ``authorization`` is the request's header of that name: it gives claims back the types that API Gateway took.
    """
    context = event.get("requestContext")
    if not isinstance(context, Mapping) or context.get("apiId") not in trusted_apis:
        return {}
    authorizer = context.get("authorizer")
    if not isinstance(authorizer, Mapping):
        return {}
    if event.get("version") == "2.0":
        return _of_jwt_authorizer(authorizer.get("jwt"), authorization) or _of_mapping(authorizer.get("lambda"))
    if "claims" in authorizer:
        return _of_jwt_authorizer(authorizer, authorization)
    return _of_mapping({name: value for name, value in authorizer.items() if name != "integrationLatency"})


def _of_jwt_authorizer(found: Any, authorization: str) -> JSONObject:
    """Claims and, where the route asked for some, the scopes among them."""
    if not isinstance(found, Mapping):
        return {}
    claims = _with_types(_of_mapping(found.get("claims")), authorization)
    scopes = found.get("scopes")
    if claims and isinstance(scopes, list) and not {"scope", "scp"} & claims.keys():
        claims["scope"] = scopes
    return claims


def _of_mapping(found: Any) -> JSONObject:
    return dict(found) if isinstance(found, Mapping) else {}


def _with_types(claims: JSONObject, authorization: str) -> JSONObject:
    """Claims with the types that the token itself gives them, where both say the same.

    API Gateway makes one text of each claim, of a list ``[a b]``. The token is not verified again: what it says
    counts only as far as its text is what API Gateway verified.
    """
    scheme, _, text = authorization.partition(" ")
    try:
        typed = parse_token(text.strip() if scheme.lower() == "bearer" else scheme).claims
    except CredentialRefused:
        return claims
    return {
        name: typed[name] if name in typed and _is_flattened(typed[name], claim) else claim
        for name, claim in claims.items()
    }


def _is_flattened(value: Any, text: Any) -> bool:
    """Whether ``text`` is what API Gateway makes of a claim's value. Its numbers may be written with an exponent."""
    if not isinstance(text, str):
        return False
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return _flattened(value) == text


def _flattened(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{' '.join(map(_flattened, value))}]"
        case dict():
            return f"map[{' '.join(f'{name}:{_flattened(value[name])}' for name in sorted(value))}]"
        case _:
            return str(value)
