"""Scopes: what a caller's credential was issued for, and what a tool asks for."""

from __future__ import annotations

from handler.bundle import Tool
from handler.errors import CredentialRequired, InsufficientScope
from handler.server.principal import ANONYMOUS, Principal


def require_scopes(tool: Tool, principal: Principal) -> None:
    """Let a caller pass who may use the tool. Who has no claims (a key without any, development) is not asked.

    Raises:
        CredentialRequired: nobody is known to call.
        InsufficientScope: the caller's claims lack some of them.
    """
    needed = tool.options.scopes
    if needed and principal == ANONYMOUS:
        raise CredentialRequired(needed)
    if principal.claims is not None and not principal.scopes.issuperset(needed):
        raise InsufficientScope(tool.name, needed)
