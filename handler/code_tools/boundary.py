"""Where code of ours calls an author's: the one place that takes whatever may come out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from handler.errors import AccessError, CallError, McpError
from handler.json_bounds import MAX_NESTING, nests_deeper
from handler.strict_json import to_well_formed_json

MAX_ERROR_BYTES = 400_000
"""Of a JSON-RPC error: however its text is escaped, an answer holds it."""


class AuthorFailed(Exception):
    """An author's code raised what it is not meant to raise: ``error``."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


@contextmanager
def authors_code() -> Iterator[None]:
    """Run what an author wrote. Errors that say what a caller is answered with go through.

    Raises:
        AuthorFailed: anything else went wrong, ``sys.exit`` and an error that cannot be sent among it.
    """
    try:
        yield
    except (AccessError, CallError):
        raise
    except McpError as exc:
        _require_sendable(exc)
        raise
    except (Exception, SystemExit) as exc:
        raise AuthorFailed(exc) from exc


def _require_sendable(error: McpError) -> None:
    try:
        size = len(to_well_formed_json([error.message, error.data]))
    except (TypeError, ValueError, RecursionError) as exc:
        raise AuthorFailed(error) from exc
    if size > MAX_ERROR_BYTES or nests_deeper(error.data, MAX_NESTING) or not isinstance(error.message, str):
        raise AuthorFailed(error)
