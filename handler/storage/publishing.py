"""The interface of storages that bundles are published to: conditional writes, facts and versions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from handler.errors.infrastructure import ObjectNotFound
from handler.storage.storage import Storage

FRESH = timedelta(days=1)
"""The age up to which ``add`` leaves an existing object as it is. An older one counts as new afterwards, so that
``discard`` spares it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectHead:
    """A stored object without its body."""

    etag: str  # for conditions; its form is up to the storage
    version: str  # empty string if the storage keeps no versions
    sha256: str  # hex digest of the body; empty string if the storage does not know it
    size: int  # bytes
    modified: datetime  # UTC
    facts: Mapping[str, str] = field(default_factory=dict)  # as given to the write; empty if none were


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectVersion:
    """An entry in the history of a key. ``head`` of the storage has the facts of a version that is not a removal."""

    version: str
    modified: datetime  # UTC
    size: int  # bytes; 0 for a removal
    etag: str  # equal for versions with the same body; empty string for a removal
    is_current: bool
    is_removal: bool


class WritableStorage(Storage, Protocol):
    """A storage that can be written without a look at its present objects."""

    def write(self, key: str, body: bytes) -> None:
        """Create or replace an object in one step: no reader ever sees half of it.

        Raises:
            StorageError: the storage does not answer as it should, or the key is not valid.
        """


class PublishStorage(WritableStorage, Protocol):
    """A storage whose objects are replaced only by those that know the present one. Methods may run in threads.

    Every method raises ``StorageError`` if the storage does not answer as it should, or the key is not valid.
    """

    def add(self, key: str, body: bytes) -> bool:
        """Create an object in one step. Return ``False`` if the key exists."""

    def head(self, key: str, *, version: str = "") -> ObjectHead:
        """Describe an object, or an older version of it.

        Raises:
            ObjectNotFound: there is no such object.
        """

    def get(self, key: str, *, version: str = "") -> tuple[ObjectHead, bytes]:
        """Read an object, or an older version of it, of which a folder and a versioned bucket keep some.

        Raises:
            ObjectNotFound: there is no such object.
        """

    def put(self, key: str, body: bytes, *, expected: str | None, facts: Mapping[str, str]) -> ObjectHead:
        """Store an object in one step, if the present one has the etag ``expected``; ``None``: if there is none.

        ``facts``: short printable ASCII by lower-case names, stored in the same step.

        Raises:
            ObjectChanged: another object is there, or none. Nothing was stored.
            WriteUnconfirmed: the storage did not confirm that the object is stored.
        """

    def remove(self, key: str, *, expected: str, facts: Mapping[str, str]) -> None:
        """Remove an object that has the etag ``expected``. Its versions stay, if the storage keeps versions.

        S3 keeps no ``facts`` of a removal.

        Raises:
            ObjectChanged: another object is there, or none.
            WriteUnconfirmed: the storage did not confirm that the object is removed.
        """

    def keys(self) -> Sequence[str]:
        """Return the keys of all present objects, sorted."""

    def kept_keys(self) -> Sequence[str]:
        """Return the keys of all objects, sorted, also of removed ones of which versions are kept."""

    def discard(self, key: str, *, before: datetime) -> bool:
        """Remove an object and all of its versions. Return ``False`` if it was stored or added since ``before``.

        A concurrent ``add`` or ``write`` of the object stays.
        """

    def versions(self, key: str) -> Sequence[ObjectVersion]:
        """Return the history of a key, newest first; empty if the storage keeps none."""

    def keeps_versions(self) -> bool:
        """Return whether removed and replaced objects can be read."""


def holds(storage: PublishStorage, key: str, body: bytes) -> bool:
    """Return whether an object has these bytes: by the storage's own digest, or else by the bytes."""
    try:
        digest = storage.head(key).sha256
        return digest == hashlib.sha256(body).hexdigest() if digest else storage.get(key)[1] == body
    except ObjectNotFound:
        return False
