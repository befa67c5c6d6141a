"""Scopes: what a caller's credential was issued for, and what a tool asks for."""

from __future__ import annotations

from collections.abc import Sequence

from handler.errors import CredentialRequired, InsufficientScope
from handler.server.auth.principal import ANONYMOUS, Principal


def require_scopes(name: str, needed: Sequence[str], principal: Principal) -> None:
    """Let a caller pass who may use a tool, or a tool's operation, that needs these scopes.

    Who has no claims (a key without any, development) is not asked.

    Raises:
        CredentialRequired: nobody is known to call.
        InsufficientScope: the caller's claims lack some of them.
    """
    if not has_scopes(needed, principal):
        if principal == ANONYMOUS:
            raise CredentialRequired(needed)
        raise InsufficientScope(name, needed, held=principal.scopes)


def has_scopes(needed: Sequence[str], principal: Principal) -> bool:
    """Whether ``require_scopes`` would let a caller pass."""
    if needed and principal == ANONYMOUS:
        return False
    return principal.claims is None or principal.scopes.issuperset(needed)
