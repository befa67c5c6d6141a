"""Open the storage at a location."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from handler.aws.sigv4 import CredentialSource
from handler.errors.infrastructure import StorageError
from handler.http.client import HttpClient
from handler.storage.storage import Storage, require_key

if TYPE_CHECKING:
    from handler.storage.publishing import PublishStorage

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def open_storage(
    location: str, *, http: HttpClient, environ: Mapping[str, str], credentials: CredentialSource | None = None
) -> Storage:
    """Return the storage at ``location``: ``s3://bucket/prefix``, or the path of a folder. Touches neither yet.

    ``credentials``: the source that the process uses elsewhere, too; ``None`` if there is none.

    Raises:
        StorageError: the location is not valid.
        SettingsError: an AWS variable is missing or malformed.

    """
    if place := _place_in_s3(location):
        from handler.storage.s3 import S3Storage  # the function has one storage, and loads no other

        credentials = credentials or CredentialSource(environ, http=http)
        return S3Storage(*place, http=http, environ=environ, credentials=credentials)
    from handler.storage.local import FolderStorage

    return FolderStorage(location)


def open_publish_storage(location: str, *, http: HttpClient, environ: Mapping[str, str]) -> PublishStorage:
    """Return the storage at ``location`` for commands that publish. Touches nothing yet.

    Raises:
        StorageError: the location is not valid.
        SettingsError: an AWS variable is missing or malformed.
    """
    if place := _place_in_s3(location):
        from handler.storage.s3_publishing import S3PublishStorage  # at deploy time only

        credentials = CredentialSource(environ, http=http)
        return S3PublishStorage(*place, http=http, environ=environ, credentials=credentials)
    from handler.storage.folder_publishing import FolderPublishStorage  # at deploy time only

    return FolderPublishStorage(location)


def _place_in_s3(location: str) -> tuple[str, str] | None:
    """Return the bucket and the prefix; ``None`` for a folder."""
    if not location.startswith("s3://"):
        if not location or "://" in location or "\0" in location:
            raise StorageError(repr(location), "expected a folder or s3://bucket/prefix")
        return None
    bucket, _, prefix = location.removeprefix("s3://").partition("/")
    prefix = prefix.rstrip("/")
    if not _BUCKET.fullmatch(bucket) or ".." in bucket:
        raise StorageError(location, "expected s3://bucket/prefix with a bucket's name: a-z, 0-9, dots and dashes")
    if prefix:
        require_key(prefix, location)
    return bucket, prefix
