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
    """A stored object without its body, or a version in the history of a key, which may be a removal."""

    etag: str  # for conditions; its form is up to the storage; equal for equal bodies, empty for a removal
    version: str  # empty string if the storage keeps no versions
    sha256: str  # hex digest of the body; empty string if the storage does not know it
    size: int  # bytes; 0 for a removal
    modified: datetime  # UTC
    facts: Mapping[str, str] = field(default_factory=dict)  # as given to the write; empty if none were
    is_current: bool = False  # in a history: the present one

    @property
    def is_removal(self) -> bool:
        """True if the version is the removal of the object."""
        return not self.etag


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

    def etags(self) -> Mapping[str, str]:
        """Return the etags of all present objects by their sorted keys; empty strings for unreadable ones."""

    def kept_keys(self) -> Sequence[str]:
        """Return the keys of all objects, sorted, also of removed ones of which versions are kept."""

    def discard(self, key: str, *, before: datetime) -> bool:
        """Remove an object and all of its versions. Return ``False`` if it was stored or added since ``before``.

        A concurrent ``add`` or ``write`` of the object stays.
        """

    def versions(self, key: str) -> Sequence[ObjectHead]:
        """Return the history of a key, newest first; empty if the storage keeps none.

        Only ``head`` has the facts and the digest of a version from every storage.
        """

    def keeps_versions(self) -> bool:
        """Return whether removed and replaced objects can be read."""

    def read_tags(self) -> Mapping[str, str]:
        """Return the tags of the bucket, by which its stack describes the function; empty if there are none."""


def holds(storage: PublishStorage, key: str, body: bytes) -> bool:
    """Return whether an object has these bytes: by the storage's own digest, or else by the bytes."""
    try:
        digest = storage.head(key).sha256
        return digest == hashlib.sha256(body).hexdigest() if digest else storage.get(key)[1] == body
    except ObjectNotFound:
        return False


def possible_etags(body: bytes) -> list[str]:
    """Return the etags that storages give to an object of these bytes, except S3 to one that a key in KMS encrypts.

    Source: Amazon S3 API, the ETag of "Object".
    """
    md5 = hashlib.md5(body, usedforsecurity=False).hexdigest()
    return [hashlib.sha256(body).hexdigest(), f'"{md5}"']
