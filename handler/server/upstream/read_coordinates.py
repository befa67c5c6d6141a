"""The schema coordinates of GraphQL requests for the log. Imported only if the endpoint's author asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from handler.errors.access import AccessError
from handler.errors.calls import CallError, DeadlinePassed, DocumentNotFound
from handler.errors.infrastructure import BundleError
from handler.errors.upstream import UpstreamError
from handler.server.asgi.responses import Refused
from handler.server.context import Caller

NOTHING: frozenset[str] = frozenset()


def note_read(caller: Caller, *, text: str, sha256: str) -> None:
    """Note the fields of an operation that is sent: an author's by its digest, any other by its text."""
    found = _fields(caller, text=text, sha256=sha256, max_tokens=None)  # it was checked
    if found:
        caller.note(coordinates=found)


def note_refused(caller: Caller, *, text: str = "", sha256: str = "") -> None:
    """Note the fields of an operation that is refused, as far as the schema has them."""
    limits = caller.endpoint.bundle.limits
    found = _fields(caller, text=text, sha256=sha256, max_tokens=limits.max_tokens)
    if found:
        caller.note(coordinates_refused=found)


@contextmanager
def noting_refusal(caller: Caller, *, text: str = "", sha256: str = "") -> Iterator[None]:
    """Note the fields of an operation if it is refused inside. Failures of the API are not refusals."""
    try:
        yield
    except (UpstreamError, DeadlinePassed):
        raise
    except (AccessError, CallError, DocumentNotFound, Refused):
        note_refused(caller, text=text, sha256=sha256)
        raise


def _fields(caller: Caller, *, text: str, sha256: str, max_tokens: int | None) -> frozenset[str]:
    log = caller.endpoint.bundle.log
    if log is None or not log.coordinates:
        return NOTHING
    return frozenset(log.reads.get(sha256, ())) if sha256 else _fields_of(caller, text, max_tokens=max_tokens)


def _fields_of(caller: Caller, text: str, *, max_tokens: int | None) -> frozenset[str]:
    """Return the fields of a caller's document; none if it cannot be read, or no request has loaded the schema."""
    index = caller.endpoint.schema.loaded
    if index is None or not text:
        return NOTHING
    from handler.graph.documents.used_fields import fields_of_text

    with suppress(BundleError):
        return fields_of_text(text, index, max_tokens=max_tokens)
    return NOTHING
