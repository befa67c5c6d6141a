"""The address of the API for the caller's tenant. Imported only for an API with one address a tenant."""

from __future__ import annotations

from handler.bundle.upstream import TenantPart, fill_tenant
from handler.errors.upstream import ClaimMissing
from handler.server.context import Caller
from handler.server.upstream.bound_variables import find_claim


def url_of_tenant(caller: Caller, part: TenantPart) -> str:
    """Return the URL of the API for this caller.

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
