"""Sending of an HTTP request to the API, with its headers, its credential and one repetition."""

from __future__ import annotations

import re
import time
from codecs import BOM_UTF8
from collections.abc import Hashable, Mapping
from typing import Any
from urllib.parse import urlsplit

from handler.bundle.upstream import TenantPart, Upstream, fill_tenant
from handler.cold.records import replaced
from handler.errors.infrastructure import HttpTimeout
from handler.errors.upstream import ClaimMissing, HeaderRefused
from handler.http.addresses import keys_in
from handler.http.client import HttpRequest, HttpResponse
from handler.json_schema.json_bounds import excess_of_json
from handler.server.auth.principal import ANONYMOUS
from handler.server.context import Caller
from handler.server.upstream.bound_variables import find_claim
from handler.server.upstream.credentials import Credential, credential_for, signature_headers
from handler.strict_json import find_json, json_pattern

UNAUTHORIZED = 401

ERRORS = b'"errors"'
"""The member that every answer has which refuses a credential as GraphQL does."""

MAX_HEADER_CHARS = 4_096

MIN_SECRET_BYTES = 8
"""A shorter text is not a secret, and could occur in the words of an API."""

_SENDABLE = re.compile(r"[\t -~\xa0-\xff]*")


async def send(caller: Caller, request: HttpRequest) -> HttpResponse:
    """Send a request to the API of the caller's endpoint, with the request headers and the credential of the caller.

    All attempts together have the request's ``timeout_s``. A credential that the API refuses, by status 401 or in
    GraphQL, is forgotten. A ``repeatable`` request is then sent once more if another credential can be obtained.

    Raises:
        CallError: the API cannot be asked on behalf of this caller; nothing was sent.
        HttpError: the API gave no response, see ``HttpClient.send``.
    """
    deadline = time.monotonic() + request.timeout_s
    ours = request_headers(caller, caller.endpoint.bundle.upstream)
    circuits, endpoint = caller.services.outgoing.circuits, caller.endpoint.bundle.endpoint
    # Failures count for the principal, or, for anonymous callers, for the request body. One subject may belong to
    # several tenants of one host, whose APIs have URLs of their own.
    anonymous = caller.principal == ANONYMOUS
    caller_key: Hashable = hash(request.body) if anonymous else (caller.principal.identity, request.url)
    for may_repeat in (request.repeatable, False):
        credential = await credential_for(caller, timeout_s=_left(request, deadline))
        headers = {**ours, **request.headers, **credential.headers}
        headers |= await signature_headers(caller, request, headers)
        ready = replaced(request, headers=headers, timeout_s=_left(request, deadline))
        answer = await circuits.send(caller.services.http, ready, endpoint=endpoint, asked=caller_key)
        answer = _without_secrets(answer, credential, request.url)
        refused = answer.status == UNAUTHORIZED or (ERRORS in answer.body and _refuses_in_graphql(answer, request))
        if not (refused and credential.refuse() and may_repeat):
            break
    return answer


def _refuses_in_graphql(answer: HttpResponse, request: HttpRequest) -> bool:
    from handler.server.upstream.refusal_codes import refused_by

    body = None if excess_of_json(answer.body, max_bytes=request.max_bytes) else json_in(answer)
    return isinstance(body, dict) and bool(refused_by(body.get("errors")))


def json_in(answer: HttpResponse) -> Any:
    """Return the JSON of a response; ``None`` if it is invalid."""
    return find_json(answer.body.removeprefix(BOM_UTF8))  # which some servers on Windows put first


def _left(request: HttpRequest, deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise HttpTimeout(urlsplit(request.url).hostname or "", timeout_s=request.timeout_s)
    return left_s


def _without_secrets(answer: HttpResponse, credential: Credential, url: str) -> HttpResponse:
    """Remove the credential and the keys in the API's URL from a response: some APIs repeat them in an error."""
    secrets = [credential.token.rpartition(" ")[2], *(keys_in(url).values() if "?" in url else ())]
    for text in secrets:
        if len(text.encode()) < MIN_SECRET_BYTES:
            continue
        pattern = json_pattern(text) if b"\\" in answer.body else re.escape(text)  # the search of escapes is slower
        if (body := re.sub(pattern.encode(), "…".encode(), answer.body)) != answer.body:
            answer = replaced(answer, body=body)
    return answer


def request_headers(caller: Caller, upstream: Upstream) -> dict[str, str]:
    """Return the headers of this caller's requests without the credential, by lower-case name.

    They are static, from claims, or forwarded from the client. The author's headers come last, so that a caller's
    header cannot replace them.

    Raises:
        ClaimMissing: the caller lacks a claim, or its value does not fit into a header.
        HeaderRefused: a forwarded header cannot be sent.
    """
    forwarded = {name: caller.headers[name] for name in upstream.forward_headers if name in caller.headers}
    for name, value in forwarded.items():
        if not _is_sendable(value.strip()):
            raise HeaderRefused(name)
    claims = caller.principal.claims or {}
    of_claims = {name: _text_of(claims, claim) for name, claim in upstream.claim_headers.items()}
    return {**forwarded, **upstream.headers, **of_claims}


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
    """Return whether a text is a valid header value. Source: RFC 9110, section 5.5."""
    return len(text) <= MAX_HEADER_CHARS and _SENDABLE.fullmatch(text) is not None


def url_of_tenant(caller: Caller, part: TenantPart) -> str:
    """Return the URL of the API for this caller, if each tenant has its own.

    Raises:
        ClaimMissing: the caller lacks the claim, or its value cannot be the name of a tenant.
    """
    value = find_claim(caller.principal.claims, part.claim)
    if value is None:
        raise ClaimMissing(part.claim)
    url = fill_tenant(part, value) if isinstance(value, str) else None
    if url is None:
        raise ClaimMissing(part.claim, misfit=True)
    return url
