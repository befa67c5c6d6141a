"""The check of a credential's scopes against the scopes that a tool requires."""

from __future__ import annotations

from collections.abc import Sequence

from handler.errors.access import CredentialRequired, InsufficientScope
from handler.server.auth.principal import ANONYMOUS, Principal


def require_scopes(name: str, needed: Sequence[str], principal: Principal) -> None:
    """Refuse a caller without the scopes that a tool, or a tool's operation, needs.

    A known principal without claims (an API key without claims, development) passes.

    Raises:
        CredentialRequired: the caller is anonymous.
        InsufficientScope: the caller's claims lack a scope.
    """
    if not has_scopes(needed, principal):
        if principal == ANONYMOUS:
            raise CredentialRequired(needed)
        raise InsufficientScope(name, needed, held=principal.scopes)


def has_scopes(needed: Sequence[str], principal: Principal) -> bool:
    """Tell if a caller passes ``require_scopes``."""
    if needed and principal == ANONYMOUS:
        return False
    return principal.claims is None or principal.scopes.issuperset(needed)
