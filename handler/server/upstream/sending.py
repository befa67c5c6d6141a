"""Sending of an HTTP request to the API, with its headers, its credential and one repetition."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from urllib.parse import urlsplit

from handler.cold.records import replaced
from handler.errors.infrastructure import HttpTimeout
from handler.http.client import HttpRequest, HttpResponse
from handler.server.auth.principal import ANONYMOUS, Principal
from handler.server.context import Caller
from handler.server.upstream.credentials import Credential, credential_for, signed
from handler.server.upstream.request_headers import told_headers

UNAUTHORIZED = 401

MIN_SECRET_BYTES = 8
"""A shorter text is not a secret, and could occur in the words of an API."""


async def send(caller: Caller, request: HttpRequest) -> HttpResponse:
    """Send a request to the API of the caller's endpoint, with the request headers and the credential of the caller.

    All attempts together have the request's ``timeout_s``. A refused credential (401) is forgotten. A ``repeatable``
    request is then sent once more if another credential can be obtained.

    Raises:
        CallError: the API cannot be asked on behalf of this caller; nothing was sent.
        HttpError: the API gave no response, see ``HttpClient.send``.
    """
    deadline = time.monotonic() + request.timeout_s
    told = told_headers(caller, caller.endpoint.bundle.upstream)
    circuits, endpoint = caller.services.outgoing.circuits, caller.endpoint.bundle.endpoint
    for may_repeat in (request.repeatable, False):
        credential = await credential_for(caller, timeout_s=_left(request, deadline))
        headers = {**told, **request.headers, **credential.headers}
        complete = await signed(caller, replaced(request, headers=headers))
        ready = replaced(complete, timeout_s=_left(request, deadline))
        with circuits.guard(request.url, endpoint=endpoint, asked=_asked(caller.principal, request)):
            answer = await caller.http.send_async(ready)
        answer = _without(_secrets(credential, request.url), answer)
        refused = answer.status == UNAUTHORIZED and credential.refuse()
        if not (refused and may_repeat):
            break
    return answer


def _secrets(credential: Credential, url: str) -> list[str]:
    """Return the credential, and the keys in the query string of the API's URL."""
    secrets = [credential.token.rpartition(" ")[2]]
    if "?" in url:
        from handler.http.url_keys import keys_in  # few URLs need it

        secrets += keys_in(url).values()
    return secrets


def _without(secrets: Sequence[str], answer: HttpResponse) -> HttpResponse:
    """Remove secrets from a response: some APIs repeat them in an error."""
    for secret in secrets:
        text = secret.encode()
        if len(text) >= MIN_SECRET_BYTES and text in answer.body:
            answer = replaced(answer, body=answer.body.replace(text, "…".encode()))
    return answer


def _asked(principal: Principal, request: HttpRequest) -> Hashable:
    """Return the key that failures count for: the principal, or, for anonymous callers, the request body.

    One subject may belong to several tenants of one host, whose APIs have URLs of their own.
    """
    if principal == ANONYMOUS:
        return hash(request.body)
    return principal.identity, request.url


def _left(request: HttpRequest, deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise HttpTimeout(urlsplit(request.url).hostname or "", timeout_s=request.timeout_s)
    return left_s
