"""The schema indexes at a destination that no kept version of any endpoint names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from handler.bundle.model import ENDPOINT_NAME
from handler.bundle.stored import index_key, index_named_by, shared_index_key
from handler.commands.published.withdrawal import bundles_by_endpoint
from handler.errors.infrastructure import BundleError, ObjectNotFound, StorageError
from handler.storage.publishing import PublishStorage
from handler.strict_json import JSONObject

MIN_AGE = timedelta(days=7)
"""The age from which an index may be deleted. A publish makes an index fresh before any bundle names it."""

AT_ONCE = 16

_INDEX = re.compile(rf"({ENDPOINT_NAME.pattern}/)?{re.escape(shared_index_key(''))}[0-9a-f]{{64}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedIndex:
    """A stored schema index that no kept version names."""

    key: str
    size: int  # bytes
    modified: datetime  # UTC

    def line(self) -> str:
        return f"{self.key}: {self.size:,} bytes, of {self.modified.date().isoformat()}"

    def plain(self) -> JSONObject:
        """Return the index as JSON."""
        return {"key": self.key, "bytes": self.size, "modified": self.modified.isoformat(timespec="seconds")}


def find_unused(storage: PublishStorage) -> list[UnusedIndex]:
    """Return the indexes older than ``MIN_AGE`` that neither a present bundle nor an older version of one names.

    Raises:
        StorageError: a version cannot be read, so its index is not known.
    """
    limit = datetime.now(UTC) - MIN_AGE
    stored = storage.keys()  # before the bundles: a new index is young
    named = _named(storage, [key for keys in bundles_by_endpoint(storage.kept_keys()).values() for key in keys])
    unnamed = sorted(set(filter(_INDEX.fullmatch, stored)) - named)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = list(threads.map(lambda key: _look(storage, key), unnamed))
    return [each for each in found if each and each.modified < limit]


def discard_indexes(storage: PublishStorage, unused: Iterable[UnusedIndex]) -> list[UnusedIndex]:
    """Delete indexes with their versions, and return those deleted. One that was published meanwhile stays."""
    limit = datetime.now(UTC) - MIN_AGE
    return [each for each in unused if storage.discard(each.key, before=limit)]


def _look(storage: PublishStorage, key: str) -> UnusedIndex | None:
    try:
        head = storage.head(key)
    except ObjectNotFound:  # deleted meanwhile
        return None
    return UnusedIndex(key=key, size=head.size, modified=head.modified)


def _named(storage: PublishStorage, keys: Sequence[str]) -> set[str]:
    """Return the keys of the indexes that the versions of these bundles name."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        versions = [
            (key, version)
            for key, found in zip(keys, threads.map(lambda key: _versions(storage, key), keys), strict=True)
            for version in found
        ]
        return {name for names in threads.map(lambda each: _indexes_of(storage, *each), versions) for name in names}


def _versions(storage: PublishStorage, key: str) -> list[str]:
    """Return the versions of a bundle, and the present one (an empty string), which may lack a version."""
    kept = {each.etag: each.version for each in storage.versions(key) if not each.is_removal}
    return ["", *kept.values()]


def _indexes_of(storage: PublishStorage, key: str, version: str) -> tuple[str, ...]:
    """Return the keys that a bundle's index may have. Older functions and commands read the shared one."""
    try:
        _, raw = storage.get(key, version=version)
    except ObjectNotFound:  # the endpoint is removed, or the version was forgotten meanwhile
        return ()
    try:
        sha256 = index_named_by(raw)
    except BundleError as exc:
        which = f"version {version}" if version else "the present version"
        raise StorageError(
            f"{storage.location}/{key}", f"{which}: {exc}; nothing is deleted until it is removed"
        ) from exc
    endpoint = key.rpartition("/")[0]
    return (index_key(endpoint, sha256), shared_index_key(sha256)) if sha256 else ()
