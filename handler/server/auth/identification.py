"""Identification of the caller, by an API key, a token, or the claims that AWS has verified before the invocation.

AWS writes the claims of an authorizer, or of IAM by a signature, into the request context of the Lambda event, which
callers cannot.

Source: Amazon API Gateway, "Control access to HTTP APIs with JWT authorizers", "Use API Gateway Lambda authorizers",
"Control access to HTTP APIs with IAM authorization" (``authorizer.iam``) and "$context variables" (``identity``); AWS
Lambda, "Control access to Lambda function URLs"; IAM, "IAM identifiers" (forms of ARNs).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from starlette.datastructures import Headers

from handler.bundle.identity import ApiKey, Identity
from handler.bundle.model import Bundle
from handler.cold.records import record
from handler.errors.access import CredentialMalformed, CredentialRefused
from handler.server.auth.principal import KEY_PREFIX, SEALED_PREFIX, TOKEN, Principal, principal_of_key
from handler.server.auth.tokens import TokenVerifier, parse_token
from handler.strict_json import JSONObject

SIGNATURE = "AWS4-"
"""The beginning of the schemes of AWS's signatures, versions 4 and 4A."""

CLAIM = "iam"
"""The claim that only this module makes, at endpoints that trust an API."""

# Few requests have a signer, so the pattern is compiled at its first use.
_ARN = (
    r"arn:[a-z-]+:(?:iam|sts)::(?P<account>[0-9]{12}):"
    r"(?:assumed-role/(?P<role>[\w+=,.@-]{1,64})/(?P<session>[\w+=,.@-]{1,64})"
    r"|user/(?:[!-~]*/)?(?P<user>[\w+=,.@-]{1,64})|federated-user/[\w+=,.@-]{1,64}|root)"
)

ListText = Callable[[Sequence[Any]], str]
"""API Gateway's text for a claim that is a list."""


@record(frozen=True, slots=True, kw_only=True)
class Presented:
    """The parts of a request that identify its caller: headers (lower-case names) and Lambda event, empty elsewhere."""

    headers: Mapping[str, str]
    event: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def bearer(self) -> str:
        """The unchecked value of ``Authorization: Bearer``; empty string if absent."""
        scheme, _, value = self.headers.get("authorization", "").strip().partition(" ")
        return value.strip() if scheme.lower() == "bearer" else ""

    @property
    def sealed(self) -> str:
        """The unchecked access token of the OAuth proxy itself; empty string if absent."""
        return self.bearer if self.bearer.startswith(SEALED_PREFIX) else ""


def require_readable_credential(headers: Headers) -> None:
    """Refuse a request with several credentials or a malformed bearer token.

    Raises:
        CredentialMalformed: as above.

    Source: RFC 6750, section 3.1 (invalid_request).
    """
    credentials = [*headers.getlist("authorization"), *headers.getlist("x-api-key")]
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if len(credentials) > 1 or (scheme.lower() == "bearer" and not TOKEN.fullmatch(token.strip())):
        raise CredentialMalformed


async def identify(
    presented: Presented,
    bundle: Bundle,
    *,
    tokens: TokenVerifier,
    without_credential: Callable[[Bundle], Principal],
    now: float,
) -> Principal:
    """Identify the caller of a request that no authorizer has verified. ``now`` is a UNIX time.

    An API key comes as ``Authorization: Apikey K``, ``Authorization: Bearer stile_…`` or ``X-API-Key: K``, a token as
    ``Authorization: Bearer T``. ``without_credential`` returns the principal of a request without a credential. A
    signature that AWS has verified does not count as a credential.

    Raises:
        CredentialRefused: the credential is unknown, expired or malformed. Its caller is never anonymous.
        AccessError: there is no credential, and ``without_credential`` refuses that.
        KeysUnavailable, VerifierMissing: the token cannot be verified, see ``TokenVerifier.verify``.
    """
    headers, identity = presented.headers, bundle.identity
    authorization, key = headers.get("authorization"), headers.get("x-api-key")
    if authorization is not None and key is not None:
        raise CredentialRefused("two_credentials")
    if key is not None:
        return holder_of_key(key.strip(), identity.api_keys, now)
    if authorization is None or is_signed_for_aws(presented.event, authorization=authorization):
        return without_credential(bundle)
    scheme, _, value = authorization.strip().partition(" ")
    scheme, value = scheme.lower(), value.strip()
    if scheme not in ("apikey", "bearer"):
        raise CredentialRefused("scheme")
    if scheme == "apikey" or value.startswith(KEY_PREFIX):
        return holder_of_key(value, identity.api_keys, now)
    claims = await tokens.verify(value, identity.issuers, now=now)
    # Where AWS's signatures give the claim ``iam``, no token may.
    return Principal(kind="token", claims=without_iam(claims) if identity.trusted_apis else claims)


def holder_of_key(key: str, known: tuple[ApiKey, ...], now: float) -> Principal:
    """Return the principal of one of the keys.

    Raises:
        CredentialRefused: the key is not among them, or has expired.
    """
    digest = hashlib.sha256(key.encode()).hexdigest()
    # Every key is compared, so that the duration does not reveal which key came close.
    matches = [entry for entry in known if hmac.compare_digest(entry.sha256, digest)]
    if not matches:
        raise CredentialRefused("unknown_api_key")
    if matches[0].is_expired(now):
        raise CredentialRefused("expired")
    return principal_of_key(matches[0])


def is_signed_for_aws(event: Mapping[str, Any], *, authorization: str) -> bool:
    """Return whether AWS has verified the request's signature, so that Stile need not check the header.

    The event then has the signer's ARN: for an HTTP API or function URL under ``authorizer.iam``, for a REST API under
    ``identity``. The signature identifies the caller only if the endpoint trusts the API, see ``authorized_claims``.
    """
    context = event.get("requestContext")
    if not authorization.startswith(SIGNATURE) or not isinstance(context, Mapping):
        return False
    arns = [signer.get("userArn") for signer in _signers(_with_signer(event, context))]
    return any(isinstance(arn, str) and arn.startswith("arn:") for arn in arns)


def authorized_claims(event: Mapping[str, Any], identity: Identity, *, authorization: str) -> JSONObject:
    """Return the claims that AWS has verified for a trusted API or function URL; empty if there are none.

    ``authorization`` is the request's header of that name. Its token restores the types that API Gateway has lost, if
    the configuration says that the authorizer verifies this header. Otherwise a caller could have invented the token.
    The claim ``iam`` comes from a verified signature alone, see ``iam_claims``.
    """
    context = event.get("requestContext")
    if not isinstance(context, Mapping) or context.get("apiId") not in identity.trusted_apis:
        return {}
    typed = context["apiId"] in identity.typed_apis
    claims = _claims_of_authorizer(event, context.get("authorizer"), authorization=authorization if typed else "")
    return without_iam(claims) or iam_claims(_with_signer(event, context))


def without_iam(claims: Mapping[str, Any]) -> JSONObject:
    """Return the claims of a token or authorizer without those that only a verified signature gives."""
    return {name: value for name, value in claims.items() if name != CLAIM and not name.startswith(_PATHS_OF_CLAIM)}


_PATHS_OF_CLAIM = (f"{CLAIM}.", f"{CLAIM}/")


def iam_claims(context: Mapping[str, Any]) -> JSONObject:
    """Return the claims of a request context's signer; empty if AWS has verified no signature.

    ``iam`` has ``arn``, ``account`` and, as far as the ARN has them, ``role`` with ``session``, or ``user``; ``id`` and
    ``organization`` as AWS gives them. ``sub`` is the ARN.
    """
    signer = next(iter(_signers(context)), {})
    arn = signer.get("userArn")
    parts = re.fullmatch(_ARN, arn, re.ASCII) if isinstance(arn, str) else None
    if not parts:
        return {}
    facts = {"arn": arn, **parts.groupdict(), "id": signer.get("userId", signer.get("user"))}
    facts["organization"] = signer.get("principalOrgId")
    return {CLAIM: {name: value for name, value in facts.items() if isinstance(value, str) and value}, "sub": arn}


def _with_signer(event: Mapping[str, Any], context: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request context without the authorizer of formats other than 2.0, whose members AWS did not write."""
    return context if event.get("version") == "2.0" else {**context, "authorizer": None}


def _signers(context: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the facts of an HTTP API in format 2.0 or a function URL, then those of a REST API or format 1.0."""
    authorizer = context.get("authorizer")
    iam = authorizer.get("iam") if isinstance(authorizer, Mapping) else None
    return [signer for signer in (iam, context.get("identity")) if isinstance(signer, Mapping)]


def _claims_of_authorizer(event: Mapping[str, Any], authorizer: Any, *, authorization: str) -> JSONObject:
    if not isinstance(authorizer, Mapping):
        return {}
    if event.get("version") == "2.0":
        claims = _of_jwt_authorizer(authorizer.get("jwt"), authorization, list_text=_in_brackets)
        return claims or _of_mapping(authorizer.get("lambda"))
    if "claims" in authorizer:  # only events of REST APIs have no version
        # REST APIs with a Cognito authorizer write a list with commas, HTTP APIs in brackets.
        list_text = _in_brackets if "version" in event else lambda values: ",".join(map(_flattened, values))
        return _of_jwt_authorizer(authorizer, authorization, list_text=list_text)
    return _of_mapping({name: value for name, value in authorizer.items() if name != "integrationLatency"})


def _of_jwt_authorizer(authorizer: Any, authorization: str, *, list_text: ListText) -> JSONObject:
    """Return the claims, with the scopes if the route required some."""
    if not isinstance(authorizer, Mapping):
        return {}
    claims = _with_types(_of_mapping(authorizer.get("claims")), authorization, list_text)
    scopes = authorizer.get("scopes")
    if claims and isinstance(scopes, list) and not {"scope", "scp"} & claims.keys():
        claims["scope"] = scopes
    return claims


def _of_mapping(value: Any) -> JSONObject:
    return dict(value) if isinstance(value, Mapping) else {}


def _with_types(claims: JSONObject, authorization: str, list_text: ListText) -> JSONObject:
    """Give claims the types that they have in the token, if the values agree.

    API Gateway writes each claim as a text, and different claims may have the same text: "[a b]" is a list of two, a
    list of one with a space in it, or a text. Only the verified token has their types. The token is not verified
    again, and a claim in it counts only if its text equals that of API Gateway.
    """
    scheme, _, text = authorization.partition(" ")
    try:
        typed = parse_token(text.strip() if scheme.lower() == "bearer" else authorization.strip()).claims
    except CredentialRefused:
        return claims
    return {
        name: typed[name] if name in typed and _is_flattened(typed[name], claim, list_text) else claim
        for name, claim in claims.items()
    }


def _is_flattened(value: Any, text: Any, list_text: ListText) -> bool:
    """Return whether ``text`` is API Gateway's form of a claim's value. Numbers may have an exponent there."""
    if not isinstance(text, str):
        return False
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return (list_text(value) if isinstance(value, list) else _flattened(value)) == text


def _in_brackets(values: Sequence[Any]) -> str:
    """A list as HTTP APIs write it."""
    return f"[{' '.join(map(_flattened, values))}]"


def _flattened(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return _in_brackets(value)
        case dict():
            return f"map[{' '.join(f'{name}:{_flattened(value[name])}' for name in sorted(value))}]"
        case _:
            return str(value)
