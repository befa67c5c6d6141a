"""Claims of callers whose AWS signature API Gateway or a function URL has verified: ``iam`` and ``sub``.

Source: AWS Lambda, "Control access to Lambda function URLs"; Amazon API Gateway, "Control access to HTTP APIs with IAM
authorization" (``authorizer.iam``) and "$context variables" (``identity``); IAM, "IAM identifiers" (forms of ARNs).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handler.strict_json import JSONObject

CLAIM = "iam"
"""The claim that only this module makes, at endpoints that trust an API."""


def iam_claims(context: Mapping[str, Any]) -> JSONObject:
    """Return the claims of a request context's signer; empty if AWS has verified no signature.

    ``iam`` has ``arn``, ``account`` and, as far as the ARN has them, ``role`` with ``session``, or ``user``; ``id`` and
    ``organization`` as AWS gives them. ``sub`` is the ARN.
    """
    signer = _signer(context)
    arn = signer.get("userArn")
    found = _ARN.fullmatch(arn) if isinstance(arn, str) else None
    if not found:
        return {}
    facts = {"arn": arn, **found.groupdict(), "id": signer.get("userId", signer.get("user"))}
    facts["organization"] = signer.get("principalOrgId")
    return {CLAIM: {name: value for name, value in facts.items() if isinstance(value, str) and value}, "sub": arn}


def without_iam(claims: Mapping[str, Any]) -> JSONObject:
    """Return the claims of a token or authorizer without those that only a verified signature gives."""
    return {name: value for name, value in claims.items() if name != CLAIM and not _PATH.match(name)}


def _signer(context: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of an HTTP API in format 2.0 or a function URL, or those of a REST API or format 1.0."""
    authorizer, identity = context.get("authorizer"), context.get("identity")
    iam = authorizer.get("iam") if isinstance(authorizer, Mapping) else None
    if isinstance(iam, Mapping):
        return iam
    return identity if isinstance(identity, Mapping) else {}


_ARN = re.compile(
    r"arn:[a-z-]+:(?:iam|sts)::(?P<account>[0-9]{12}):"
    r"(?:assumed-role/(?P<role>[\w+=,.@-]{1,64})/(?P<session>[\w+=,.@-]{1,64})"
    r"|user/(?:[!-~]*/)?(?P<user>[\w+=,.@-]{1,64})|federated-user/[\w+=,.@-]{1,64}|root)",
    re.ASCII,
)
_PATH = re.compile(rf"{CLAIM}[./]")
