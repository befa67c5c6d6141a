"""The credential of a tool in Python for the API behind its endpoint, as its GraphQL requests carry it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import field

from handler.bundle.upstream import PassthroughAuth
from handler.cold.records import record
from handler.errors.calls import CallError
from handler.errors.upstream import CredentialUnavailable
from handler.server.auth.principal import ANONYMOUS
from handler.server.context import Caller
from handler.server.upstream.credentials import credential_for
from handler.server.upstream.sending import request_headers


@record(frozen=True, slots=True, kw_only=True)
class ApiAccess:
    """The credential and headers of a caller's requests to the API, as an author's code sees them."""

    strategy: str = "none"  # oauth, bearer, api_key, custom, none
    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tokenless: bool = False  # the caller may use the API, but no token may be given to an author


NO_ACCESS = ApiAccess()


async def api_access(caller: Caller, *, required: bool) -> ApiAccess:
    """Return the credential and headers for the caller's requests to the API; without them if they cannot be obtained.

    Raises:
        CredentialUnavailable: the ``required`` credential could not be obtained, which is not the caller's fault.
        ClaimMissing, HeaderRefused: the headers of a ``required`` credential cannot be built from the request.
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
    if isinstance(upstream.auth, PassthroughAuth):  # the caller's own token is not given to an author
        return ApiAccess(tokenless=True)
    tokenless = not upstream.auth.STRATEGY and caller.principal != ANONYMOUS
    try:
        headers = {**request_headers(caller, upstream), **credential.headers}
    except CallError:
        if required and not tokenless:
            raise
        return ApiAccess(tokenless=tokenless)
    return ApiAccess(
        strategy=upstream.auth.STRATEGY or ("custom" if headers else "none"),
        token=credential.token or None,
        headers=headers,
        tokenless=tokenless,
    )
