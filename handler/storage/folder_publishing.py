"""Publishing to a folder: writes one at a time under a lock, and a history of each object beside the objects."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from handler.errors.infrastructure import ObjectChanged, ObjectNotFound, StorageError
from handler.storage.folder_history import HISTORY, HistoryEntry, ObjectHistory
from handler.storage.local import FolderStorage, replace_file
from handler.storage.publishing import ObjectHead, ObjectVersion
from handler.storage.storage import READ_TIMEOUT_S, StoredObject

LOCK_TIMEOUT_S = 30.0
LOCK_POLL_S = 0.02


class FolderPublishStorage:
    """See ``PublishStorage``. The etag of an object is the digest of its body, and a version is a number.

    A write keeps the new version in the history before it replaces the object. A process that is killed between the
    two leaves a version that was never served: the history is read up to the present object, and the next write
    replaces the rest. The lock is the kernel's, on the folder itself, so that a killed process leaves none.
    """

    def __init__(self, folder: str | Path, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self.location = str(folder)
        self._lock_timeout_s = lock_timeout_s
        self._folder = Path(folder)
        self._objects = FolderStorage(folder)

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = READ_TIMEOUT_S) -> StoredObject | None:
        """See ``Storage``."""
        return self._objects.read(key, etag=etag, timeout_s=timeout_s)

    def warm(self) -> None:
        """Do nothing: there is no connection to open."""

    def write(self, key: str, body: bytes) -> None:
        """See ``WritableStorage``."""
        with self._locked(), self._objects.writable(key) as file:
            _replace(file, body)

    def add(self, key: str, body: bytes) -> bool:
        """See ``WritableStorage``."""
        with self._locked(), self._objects.writable(key) as file:
            if file.exists():
                os.utime(file)  # `discard` goes by the time of the file
                return False
            _replace(file, body)
            return True

    def head(self, key: str, *, version: str = "") -> ObjectHead:
        """See ``PublishStorage``."""
        return self.get(key, version=version)[0]

    def get(self, key: str, *, version: str = "") -> tuple[ObjectHead, bytes]:
        """See ``PublishStorage``."""
        history = self._history(key)
        with self._reading(key):
            if version:
                entry, body = history.read(version)
                return _head(entry), body
            body = self._require_present(key)
            found = history.current(_digest(body))
            if found:
                return _head(found), body
            modified = datetime.fromtimestamp((self._folder / key).stat().st_mtime, UTC)
            digest = _digest(body)
            return ObjectHead(etag=digest, version="", sha256=digest, size=len(body), modified=modified), body

    def put(self, key: str, body: bytes, *, expected: str | None, facts: Mapping[str, str]) -> ObjectHead:
        """See ``PublishStorage``."""
        with self._changing(key, expected) as (history, file):
            entry = history.keep(body, facts=facts)
            _replace(file, body)
            history.forget_oldest()
        return _head(entry)

    def remove(self, key: str, *, expected: str, facts: Mapping[str, str]) -> None:
        """See ``PublishStorage``. The history keeps the removal, too."""
        with self._changing(key, expected) as (history, file):
            history.keep(None, facts=facts)
            file.unlink()
            with suppress(OSError):  # other files may be in it
                file.parent.rmdir()
            history.forget_oldest()

    def keys(self) -> Sequence[str]:
        """See ``PublishStorage``. Files of the history, and those that a killed process left, are not objects."""
        found = []
        for path, below, files in os.walk(self._folder):
            below[:] = [name for name in below if name != HISTORY]
            inner = Path(path).relative_to(self._folder)
            found += [(inner / name).as_posix() for name in files if not _is_temporary(name)]
        return sorted(found)

    def kept_keys(self) -> Sequence[str]:
        """See ``PublishStorage``."""
        history = self._folder / HISTORY
        kept = {Path(path).relative_to(history).as_posix() for path, _, files in os.walk(history) if files}
        return sorted({*self.keys(), *kept})

    def discard(self, key: str, *, before: datetime) -> bool:
        """See ``PublishStorage``. Objects without a history are meant: schema indexes never change."""
        with self._locked(), self._objects.writable(key) as file:
            if not file.exists() or datetime.fromtimestamp(file.stat().st_mtime, UTC) >= before:
                return False
            file.unlink()
            return True

    def versions(self, key: str) -> Sequence[ObjectVersion]:
        """See ``PublishStorage``."""
        digest = self._present_digest(key)
        with self._reading(key):
            entries = self._history(key).entries(up_to=digest)
        return [
            ObjectVersion(
                version=str(entry.number),
                modified=entry.at,
                size=entry.size,
                etag=entry.sha256,
                is_current=digest is not None and index == 0,
                is_removal=entry.is_removal,
            )
            for index, entry in enumerate(entries)
        ]

    def keeps_versions(self) -> bool:
        """See ``PublishStorage``."""
        return True

    def _require_present(self, key: str) -> bytes:
        if not self._folder.exists():
            raise ObjectNotFound(f"{self.location}/{key}")
        found = self._objects.read(key)
        if found is None:
            raise ObjectNotFound(f"{self.location}/{key}")
        return found.body

    def _present_digest(self, key: str) -> str | None:
        try:
            return _digest(self._require_present(key))
        except ObjectNotFound:
            return None

    @contextmanager
    def _reading(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as exc:
            raise StorageError(f"{self.location}/{key}", exc.strerror or "cannot be read") from exc

    def _history(self, key: str) -> ObjectHistory:
        return ObjectHistory(self._folder, key)

    @contextmanager
    def _changing(self, key: str, expected: str | None) -> Iterator[tuple[ObjectHistory, Path]]:
        """Give the history and the file of a key, whose present object has the digest ``expected``."""
        with self._locked(), self._objects.writable(key) as file:
            if self._present_digest(key) != expected:
                raise ObjectChanged(f"{self.location}/{key}")
            history = self._history(key)
            history.begin(None if expected is None else file.read_bytes())
            yield history, file

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._folder, os.O_RDONLY)
        except OSError as exc:
            raise StorageError(self.location, exc.strerror or "cannot be opened") from exc
        try:
            self._take(descriptor)
            yield
        finally:
            os.close(descriptor)  # the lock ends with it

    def _take(self, descriptor: int) -> None:
        deadline = time.monotonic() + self._lock_timeout_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as exc:
                if time.monotonic() > deadline:
                    raise StorageError(
                        self.location, f"another process has locked the folder for {self._lock_timeout_s:g} s"
                    ) from exc
                time.sleep(LOCK_POLL_S)
            except OSError as exc:
                raise StorageError(self.location, f"the folder cannot be locked ({exc.strerror})") from exc
            else:
                return


def _replace(file: Path, body: bytes) -> None:
    """Replace a file under the lock. The temporary name is fixed: one that a killed process left is used again."""
    replace_file(file, body, temporary=file.with_name(f".{file.name}{TEMPORARY}"))


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(TEMPORARY)


def _head(entry: HistoryEntry) -> ObjectHead:
    return ObjectHead(
        etag=entry.sha256,
        version=str(entry.number),
        sha256=entry.sha256,
        size=entry.size,
        modified=entry.at,
        facts=entry.facts,
    )


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


TEMPORARY = ".tmp"
