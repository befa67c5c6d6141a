"""Scopes: what a caller's credential was issued for, and what a tool asks for."""

from __future__ import annotations

from collections.abc import Sequence

from handler.errors import CredentialRequired, InsufficientScope
from handler.server.principal import ANONYMOUS, Principal


def require_scopes(name: str, needed: Sequence[str], principal: Principal) -> None:
    """Let a caller pass who may use a tool, or a tool's operation, that needs these scopes.

    Who has no claims (a key without any, development) is not asked.

    Raises:
        CredentialRequired: nobody is known to call.
        InsufficientScope: the caller's claims lack some of them.
    """
    if needed and principal == ANONYMOUS:
        raise CredentialRequired(needed)
    if principal.claims is not None and not principal.scopes.issuperset(needed):
        raise InsufficientScope(name, needed)
