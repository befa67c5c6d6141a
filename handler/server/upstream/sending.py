from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from handler.errors import HttpTimeout
from handler.http.client import HttpRequest, HttpResponse
from handler.server.auth.principal import ANONYMOUS, Principal
from handler.server.context.caller import Caller
from handler.server.upstream.credentials import Credential, credential_for, signed
from handler.server.upstream.request_headers import told_headers

UNAUTHORIZED = 401

MIN_SECRET_BYTES = 8
"""Shorter ones are no secrets, and would be found in words of the API."""


async def send(caller: Caller, request: HttpRequest) -> HttpResponse:
    """Send a request to the API of the caller's endpoint, with what the API is told and the credential it takes.

    All of it together has the request's ``timeout_s``. A credential that is refused (401) is forgotten, and a
    ``repeatable`` request is sent once more with another one, if there is one to be had.

    Raises:
        CallError: the API cannot be asked on behalf of this caller; nothing was sent.
        HttpError: there is no answer, as ``HttpClient.send`` says.
    """
    deadline = time.monotonic() + request.timeout_s
    told = told_headers(caller, caller.endpoint.bundle.upstream)
    answer, again = await _send(caller, request, told, deadline)
    if again and request.repeatable:
        answer, _ = await _send(caller, request, told, deadline)
    return answer


async def _send(
    caller: Caller, request: HttpRequest, told: Mapping[str, str], deadline: float
) -> tuple[HttpResponse, bool]:
    """The answer, and whether another credential may get another one."""
    credential = await credential_for(caller, timeout_s=_left(request, deadline))
    headers = {**told, **request.headers, **credential.headers}
    complete, endpoint = await signed(caller, replace(request, headers=headers)), caller.endpoint.bundle.endpoint
    ready = replace(complete, timeout_s=_left(request, deadline))
    asked = _asked(caller.principal, request)
    answer = await caller.services.outgoing.circuits.send(caller.http, ready, endpoint=endpoint, asked=asked)
    return _without(credential, answer), answer.status == UNAUTHORIZED and credential.refuse()


def _without(credential: Credential, answer: HttpResponse) -> HttpResponse:
    """The answer as callers may read it: some APIs repeat in an error the credential that they were sent."""
    secret = credential.token.rpartition(" ")[2].encode()
    if len(secret) < MIN_SECRET_BYTES or secret not in answer.body:
        return answer
    return replace(answer, body=answer.body.replace(secret, "…".encode()))


def _asked(principal: Principal, request: HttpRequest) -> Hashable:
    """Whose patience ends where there are no answers: one caller's, or that of all who ask this and are not known."""
    if principal == ANONYMOUS:
        return hash(request.body)
    return principal.kind, principal.name, principal.issuer, principal.subject


def _left(request: HttpRequest, deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise HttpTimeout(urlsplit(request.url).hostname or "", timeout_s=request.timeout_s)
    return left_s
