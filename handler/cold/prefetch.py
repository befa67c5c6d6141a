"""Read objects of a storage in advance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from handler.storage.storage import READ_TIMEOUT_S, Storage, StoredObject


class ReadAhead:
    """A storage that begins to read some objects in advance, so that other work goes on meanwhile.

    Without any it opens a connection, if reads need one. Each object read in advance is returned once.
    """

    def __init__(self, storage: Storage, keys: Iterable[str]) -> None:
        self.location = storage.location
        self._storage = storage
        self._threads = threads = ThreadPoolExecutor(max_workers=8)
        self._ahead: dict[str, Future[StoredObject | None]] = {key: threads.submit(storage.read, key) for key in keys}
        if not self._ahead:
            threads.submit(storage.warm)
        threads.shutdown(wait=False)

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = READ_TIMEOUT_S) -> StoredObject | None:
        """See ``Storage``."""
        ahead = self._ahead.pop(key, None)
        if ahead is not None:
            return ahead.result()
        return self._storage.read(key, etag=etag, timeout_s=timeout_s)

    def list_keys(self, endpoint: str = "", *, timeout_s: float = READ_TIMEOUT_S) -> Iterator[str]:
        """See ``Storage``."""
        return self._storage.list_keys(endpoint, timeout_s=timeout_s)

    def settle(self) -> None:
        """Wait for the reads that were begun in advance."""
        self._threads.shutdown(wait=True)

    def warm(self) -> None:
        """See ``Storage``."""
        self._storage.warm()
