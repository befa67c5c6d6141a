"""Where code of ours calls an author's: the one place that takes whatever may come out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from handler.errors import AccessError, CallError, McpError


class AuthorFailed(Exception):
    """An author's code raised what it is not meant to raise: ``error``."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


@contextmanager
def authors_code() -> Iterator[None]:
    """Run what an author wrote. Errors that say what a caller is answered with go through.

    Raises:
        AuthorFailed: anything else went wrong, ``sys.exit`` among it.
    """
    try:
        yield
    except (AccessError, CallError, McpError):
        raise
    except (Exception, SystemExit) as exc:
        raise AuthorFailed(exc) from exc
