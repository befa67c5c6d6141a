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


def note_read(caller: Caller, *, text: str, sha256: str) -> None:
    """Note the fields of an operation that is sent: an author's by its digest, any other by its text."""
    if fields := _fields(caller, text=text, sha256=sha256, max_tokens=None):  # it was checked
        caller.note(coordinates=fields | caller.facts.get("coordinates", frozenset()))


def note_refused(caller: Caller, *, text: str = "", sha256: str = "") -> None:
    """Note the fields of an operation that is refused, as far as the schema has them."""
    limits = caller.endpoint.bundle.limits
    if fields := _fields(caller, text=text, sha256=sha256, max_tokens=limits.max_tokens):
        caller.note(coordinates_refused=fields | caller.facts.get("coordinates_refused", frozenset()))


@contextmanager
def noting_coordinates(caller: Caller, *, text: str = "", sha256: str = "") -> Iterator[None]:
    """Note the fields of an operation if it is refused inside. Failures of the API are not refusals."""
    try:
        yield
    except (UpstreamError, DeadlinePassed):
        raise
    except (AccessError, CallError, DocumentNotFound, Refused):
        note_refused(caller, text=text, sha256=sha256)
        raise


def _fields(caller: Caller, *, text: str, sha256: str, max_tokens: int | None) -> frozenset[str]:
    """Return the fields of an operation; none if it cannot be read, or no request has loaded the schema."""
    log, index = caller.endpoint.bundle.log, caller.endpoint.schema.loaded
    if log is None or not log.coordinates:
        return frozenset()
    if sha256:
        return frozenset(log.reads.get(sha256, ()))
    if index is None or not text:
        return frozenset()
    from handler.graph.documents.used_fields import fields_of_text

    with suppress(BundleError):
        return fields_of_text(text, index, max_tokens=max_tokens)
    return frozenset()
