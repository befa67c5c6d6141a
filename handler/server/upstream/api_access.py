"""The credential that a tool in Python has for the API behind its endpoint: the one that its GraphQL requests carry."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import field

from handler.bundle.upstream import BearerAuth, HeaderAuth, NoAuth, PassthroughAuth, SigV4Auth, UpstreamAuth
from handler.errors import CallError, CredentialUnavailable
from handler.records import record
from handler.server.auth.principal import ANONYMOUS
from handler.server.context.caller import Caller
from handler.server.upstream.credentials import credential_for
from handler.server.upstream.request_headers import told_headers


@record(frozen=True, slots=True, kw_only=True)
class ApiAccess:
    """How a request of this caller to the API would be made."""

    strategy: str = "none"  # oauth, bearer, api_key, custom, none
    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tokenless: bool = False  # the caller may ask, and there is no token that an author could be given


NO_ACCESS = ApiAccess()


async def api_access(caller: Caller, *, required: bool) -> ApiAccess:
    """The credential and the headers, with which the caller may ask the API; without them where there are none to get.

    Raises:
        CredentialUnavailable: it is ``required``, and could not be got, which is no fault of the caller.
        ClaimMissing: it is ``required``, and the API is told a claim that the caller lacks.
    """
    upstream = caller.endpoint.bundle.upstream
    left_s = caller.deadline - time.monotonic()
    try:
        credential = await credential_for(caller, timeout_s=max(0.0, min(upstream.timeout_s, left_s)))
    except CredentialUnavailable:
        if required:
            raise
        return NO_ACCESS
    except CallError:
        return NO_ACCESS
    if isinstance(upstream.auth, PassthroughAuth):  # what is passed on is the caller's own token: no author is given it
        return ApiAccess(tokenless=True)
    tokenless = isinstance(upstream.auth, NoAuth | SigV4Auth) and caller.principal != ANONYMOUS
    try:
        told = told_headers(caller, upstream)
    except CallError:
        if required and not tokenless:
            raise
        return ApiAccess(tokenless=tokenless)
    headers = {**told, **credential.headers}
    return ApiAccess(
        strategy=_strategy(upstream.auth, headers),
        token=credential.token or None,
        headers=headers,
        tokenless=tokenless,
    )


def _strategy(auth: UpstreamAuth, headers: Mapping[str, str]) -> str:
    """A signature is of one request, so that no author is given any."""
    match auth:
        case NoAuth() | SigV4Auth():
            return "custom" if headers else "none"
        case BearerAuth():
            return "bearer"
        case HeaderAuth():
            return "api_key"
        case _:
            return "oauth"
