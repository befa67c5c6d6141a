"""The boundary between our code and an author's: the one place that catches every exception of authors' code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from handler.errors import StileError
from handler.errors.access import AccessError
from handler.errors.calls import CallError
from handler.errors.protocol import McpError
from handler.json_schema.json_bounds import MAX_NESTING, nests_deeper
from handler.strict_json import to_well_formed_json

MAX_ERROR_BYTES = 400_000
"""The limit of a JSON-RPC error's message and data: it fits into an answer, however the text is escaped."""


class AuthorFailed(StileError):
    """An author's code raised ``error``, which is not an error for callers."""

    stile_code = "code-failed"
    __context__ = None  # an author's class may fail wherever a traceback reads it; __cause__ is readable

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


@contextmanager
def authors_code() -> Iterator[None]:
    """Run an author's code. Errors that define the answer to the caller (access, call and MCP errors) go through.

    Raises:
        AuthorFailed: any other failure, including ``sys.exit`` and an error that cannot be sent.
    """
    try:
        yield
    except (AccessError, CallError, McpError) as exc:
        error = _readable(exc)
        if error is not exc:
            raise AuthorFailed(error) from error
        if isinstance(exc, McpError):
            _require_sendable(exc)
        raise
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - the edge of an author's code: a failure of the call
        error = _readable(exc)
        raise AuthorFailed(error) from error


def _readable(error: BaseException) -> BaseException:
    """Return an error, or one with its traceback alone if the class of an author fails where its text is read."""
    place = sys.exc_info()[2]
    try:
        str(error)
        traceback.format_exception(error)
    except (Exception, SystemExit):  # noqa: BLE001 - the edge of an author's error: its text is its author's code
        return RuntimeError("an exception of a class whose text cannot be read").with_traceback(place)
    return error


def _require_sendable(error: McpError) -> None:
    try:
        size = len(to_well_formed_json([error.message, error.data]))
    except (TypeError, ValueError, RecursionError) as exc:
        raise AuthorFailed(error) from exc
    if size > MAX_ERROR_BYTES or nests_deeper(error.data, MAX_NESTING) or not isinstance(error.message, str):
        raise AuthorFailed(error)
