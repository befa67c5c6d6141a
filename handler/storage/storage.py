"""The interface of storages of bundles, and the rule of their keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Protocol

from handler.cold.records import record
from handler.errors.infrastructure import StorageError

READ_TIMEOUT_S = 5.0


@record(frozen=True, slots=True)
class StoredObject:
    """One object as read. ``etag`` is passed to the next ``read``; its form is up to the storage.

    ``version``: the id that a versioned bucket gave the object, which nobody can guess; empty string elsewhere.
    """

    body: bytes = field(repr=False)
    etag: str
    version: str = ""


class Storage(Protocol):
    """A storage of bundles. Keys look like ``api/customers/bundle.v2.json``."""

    location: str

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = READ_TIMEOUT_S) -> StoredObject | None:
        """Read an object; ``None`` if it still has ``etag``. Waits ``timeout_s`` at most for a network.

        Raises:
            ObjectNotFound: there is no such object.
            StorageError: the storage does not answer as it should, or the key is not valid.

        """

    def list_keys(self, endpoint: str = "", *, timeout_s: float = READ_TIMEOUT_S) -> Iterator[str]:
        """Yield the keys below ``folder/name``, or all, without some of schema indexes. S3 is asked for each 1,000.

        Raises:
            StorageError: the storage does not answer as it should.
        """

    def warm(self) -> None:
        """Open a connection for the first read, if reads need one. Errors are left to that read."""


def require_key(key: str, location: str) -> None:
    """Refuse a key that a storage could read as another, or as a way out of its folder.

    Raises:
        StorageError: the key is not valid.
    """
    segments = key.split("/")
    if not {"", ".", ".."}.isdisjoint(segments) or re.search(r"[\x00-\x1f\x7f\\]", key):
        raise StorageError(location, f"{key!r} is not a key: expected names joined by single slashes")
