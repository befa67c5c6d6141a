"""Request headers for the API beside the credential: static, from claims, and forwarded from the client."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handler.bundle.upstream import Upstream
from handler.errors.upstream import ClaimMissing, HeaderRefused
from handler.server.context import Caller
from handler.server.upstream.bound_variables import find_claim

MAX_CHARS = 4_096


def told_headers(caller: Caller, upstream: Upstream) -> dict[str, str]:
    """Return the headers of this caller's requests without the credential, by lower-case name.

    Raises:
        ClaimMissing: the caller lacks a claim, or its value does not fit into a header.
        HeaderRefused: a forwarded header cannot be sent.
    """
    forwarded = {name: caller.headers[name] for name in upstream.forward_headers if name in caller.headers}
    for name, value in forwarded.items():
        if not _is_sendable(value.strip()):
            raise HeaderRefused(name)
    claims = caller.principal.claims or {}
    told = {name: _text_of(claims, claim) for name, claim in upstream.claim_headers.items()}
    # The author's headers come last, so that a caller's header cannot replace them.
    return {**forwarded, **upstream.headers, **told}


def _text_of(claims: Mapping[str, Any], claim: str) -> str:
    value = find_claim(claims, claim)
    match value:
        case None:
            raise ClaimMissing(claim)
        case bool():
            return "true" if value else "false"
        case int() | float():
            text = repr(value)
        case str() if value == value.strip():  # a server would strip white space, and read another value
            text = value
        case _:
            raise ClaimMissing(claim, misfit=True)
    if not text or not _is_sendable(text):
        raise ClaimMissing(claim, misfit=True)
    return text


def _is_sendable(text: str) -> bool:
    """Tell if a text is a valid header value. Source: RFC 9110, section 5.5."""
    return len(text) <= MAX_CHARS and _SENDABLE.fullmatch(text) is not None


_SENDABLE = re.compile(r"[\t -~\xa0-\xff]*")
