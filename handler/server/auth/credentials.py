from __future__ import annotations

import re

from starlette.datastructures import Headers

from handler.errors import CredentialMalformed

TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""Source: RFC 6750, section 2.1 (b64token)."""


def require_readable_credential(headers: Headers) -> None:
    """Let a request pass that has at most one credential, and one that can be read if it is a bearer token.

    Raises:
        CredentialMalformed: it has several, or a bearer token that is none.

    Source: RFC 6750, section 3.1 (invalid_request).
    """
    given = [*headers.getlist("authorization"), *headers.getlist("x-api-key")]
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if len(given) > 1 or (scheme.lower() == "bearer" and not TOKEN.fullmatch(token.strip())):
        raise CredentialMalformed
