"""The HTTP status of each error that a request may end with, on every route; ``errors.py`` draws their tree.

The route of MCP answers with less of them: a ``CallError`` is the result of a call there, and an error of JSON-RPC has
the status of its code.
"""

from __future__ import annotations

from collections.abc import Mapping

from handler.errors import (
    AccessError,
    CallError,
    CallerTokenRequired,
    ClaimMissing,
    ConsentDeclined,
    ConsentImpossible,
    ConsentRequired,
    CredentialMalformed,
    CredentialRefused,
    CredentialRequired,
    DeadlinePassed,
    DocumentNotFound,
    InsufficientScope,
    KeysUnavailable,
    StateUnavailable,
    StileError,
    ToolNotFound,
    UpstreamError,
    ValuesRefused,
    VerifierMissing,
)

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
    """Return the status of an error, by the nearest class that has a row."""
    return next(STATUSES[each] for each in type(error).__mro__ if each in STATUSES)
