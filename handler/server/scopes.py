"""Scopes: what a caller's credential was issued for, and what a tool asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle import Tool
from handler.errors import CredentialRequired, InsufficientScope
from handler.server.principal import ANONYMOUS, Principal

CLAIMS = ("scope", "scp")


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes that verified claims grant: texts separated by spaces, or arrays of texts.

    Source: RFC 9068, section 2.2.3 (``scope``); ``scp`` is Okta's and Entra's name for it.
    """
    return frozenset(scope for name in CLAIMS for scope in _texts(claims.get(name)))


def _texts(claim: Any) -> list[str]:
    match claim:
        case str():
            return claim.split()
        case list():
            return [scope for scope in claim if isinstance(scope, str)]
        case _:
            return []


def require_scopes(tool: Tool, principal: Principal) -> None:
    """Let a caller pass who may use the tool. Who has no claims (a key without any, development) is not asked.

    Raises:
        CredentialRequired: nobody is known to call.
        InsufficientScope: the caller's claims lack some of them.
    """
    needed = tool.options.scopes
    if needed and principal == ANONYMOUS:
        raise CredentialRequired(needed)
    if principal.claims is not None and not scopes_of(principal.claims).issuperset(needed):
        raise InsufficientScope(tool.name, needed)
