"""Headers that tell the API who calls, and those that it gets as the caller's client sent them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handler.bundle.upstream import Upstream
from handler.errors import ClaimMissing, HeaderRefused
from handler.server.context.caller import Caller
from handler.server.upstream.bound_variables import find_claim

MAX_CHARS = 4_096


def told_headers(caller: Caller, upstream: Upstream) -> dict[str, str]:
    """What requests of this caller have beside a credential, their names in lower case.

    Raises:
        ClaimMissing: the caller has no claims, lacks one, or has it in a form that no header can carry.
        HeaderRefused: what is to be forwarded cannot be sent.
    """
    forwarded = {name: caller.headers[name] for name in upstream.forward_headers if name in caller.headers}
    for name, value in forwarded.items():
        if not _is_sendable(value.strip()):
            raise HeaderRefused(name)
    claims = caller.principal.claims or {}
    told = {name: _text_of(claims, claim) for name, claim in upstream.claim_headers.items()}
    # The author's come last, so that nothing of a caller's replaces them.
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
        case str() if value == value.strip():  # a server would strip it, and see another one
            text = value
        case _:
            raise ClaimMissing(claim, misfit=True)
    if not text or not _is_sendable(text):
        raise ClaimMissing(claim, misfit=True)
    return text


def _is_sendable(text: str) -> bool:
    """Whether it is one line that goes out as it stands. Source: RFC 9110, section 5.5."""
    return len(text) <= MAX_CHARS and _SENDABLE.fullmatch(text) is not None


_SENDABLE = re.compile(r"[\t -~\xa0-\xff]*")
