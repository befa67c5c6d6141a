"""The HTTP status of each error of a request, for all routes. ``handler/errors/`` shows the tree of errors.

The MCP route uses fewer statuses: there, a ``CallError`` is the result of a call, and a JSON-RPC error has the status
of its code.
"""

from __future__ import annotations

from collections.abc import Mapping

from handler.errors import StileError
from handler.errors.access import (
    AccessError,
    CredentialMalformed,
    CredentialRefused,
    CredentialRequired,
    InsufficientScope,
    KeysUnavailable,
    VerifierMissing,
)
from handler.errors.calls import (
    CallError,
    DeadlinePassed,
    DocumentNotFound,
    StateUnavailable,
    ToolNotFound,
    ValuesRefused,
)
from handler.errors.consent_errors import ConsentDeclined, ConsentImpossible, ConsentRequired
from handler.errors.upstream import CallerTokenRequired, ClaimMissing, UpstreamError

STATUSES: Mapping[type[StileError], int] = {
    StileError: 500,
    AccessError: 403,
    CredentialRequired: 401,
    CredentialRefused: 401,
    CredentialMalformed: 400,
    InsufficientScope: 403,
    KeysUnavailable: 503,
    VerifierMissing: 503,
    ToolNotFound: 404,
    DocumentNotFound: 400,
    CallError: 400,
    CallerTokenRequired: 403,
    ClaimMissing: 403,
    ConsentDeclined: 403,
    ConsentImpossible: 403,
    ConsentRequired: 403,
    ValuesRefused: 403,
    StateUnavailable: 503,
    UpstreamError: 502,
    DeadlinePassed: 504,
}


def status_of(error: StileError) -> int:
    """Return the status of an error, by its nearest class in ``STATUSES``."""
    return next(STATUSES[each] for each in type(error).__mro__ if each in STATUSES)
