"""Publishing to a folder: writes one at a time under a lock, and a history of each object beside the objects.

``.history/KEY/NUMBER`` is a version: a line of JSON, ``{"at", "sha256", "size", "facts"}``, and after it the body. A
removal has ``"sha256": ""`` and no body.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import dropwhile
from pathlib import Path

from handler.errors.infrastructure import ObjectChanged, ObjectNotFound, StorageError
from handler.storage.local import FolderStorage, replace_file
from handler.storage.publishing import ObjectHead

HISTORY = ".history"
MAX_VERSIONS = 20

TEMPORARY = ".tmp"


class FolderPublishStorage(FolderStorage):
    """See ``PublishStorage``. The etag of an object is the digest of its body, and a version is a number.

    A write keeps the new version in the history before it replaces the object. A process that is killed between the
    two leaves a version that was never served: the history is read up to the present object, and the next write
    replaces the rest. The lock is the kernel's, on the folder itself, so that a killed process leaves none.
    """

    lock_timeout_s = 30.0

    def write(self, key: str, body: bytes) -> None:
        """See ``PublishStorage``."""
        with self._locked(), self.writable(key) as file:
            _replace(file, body)

    def add(self, key: str, body: bytes) -> bool:
        """See ``PublishStorage``."""
        with self._locked(), self.writable(key) as file:
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
        history = ObjectHistory(self._folder, key)
        with self._reading(key):
            if version:
                return history.read(version)
            body = self._require_present(key)
            digest = _digest(body)
            if head := history.current(digest):
                return head, body
            modified = datetime.fromtimestamp((self._folder / key).stat().st_mtime, UTC)
            return ObjectHead(etag=digest, version="", sha256=digest, size=len(body), modified=modified), body

    def put(self, key: str, body: bytes, *, expected: str | None, facts: Mapping[str, str]) -> ObjectHead:
        """See ``PublishStorage``."""
        with self._changing(key, expected) as (history, file):
            head = history.keep(body, facts=facts)
            _replace(file, body)
        return head

    def remove(self, key: str, *, expected: str, facts: Mapping[str, str]) -> None:
        """See ``PublishStorage``. The history keeps the removal, too."""
        with self._changing(key, expected) as (history, file):
            history.keep(None, facts=facts)
            file.unlink()
            with suppress(OSError):  # other files may be in it
                file.parent.rmdir()

    def etags(self) -> Mapping[str, str]:
        """See ``PublishStorage``."""
        etags = dict.fromkeys(self._keys(), "")
        for key in etags:
            with suppress(StorageError):
                etags[key] = self._present_digest(key) or ""
        return etags

    def _keys(self) -> list[str]:
        """Return the keys of present objects. Files of the history, and those that a killed process left, are none."""
        keys = []
        for path, below, files in os.walk(self._folder):
            below[:] = [name for name in below if name != HISTORY]
            inner = Path(path).relative_to(self._folder)
            keys += [(inner / name).as_posix() for name in files if not (name[0] == "." and name.endswith(TEMPORARY))]
        return sorted(keys)

    def kept_keys(self) -> Sequence[str]:
        """See ``PublishStorage``."""
        history = self._folder / HISTORY
        keys = {Path(path).relative_to(history).as_posix() for path, _, files in os.walk(history) if files}
        return sorted(keys.union(self._keys()))

    def discard(self, key: str, *, before: datetime) -> bool:
        """See ``PublishStorage``. Objects without a history are meant: schema indexes never change."""
        with self._locked(), self.writable(key) as file:
            if not file.exists() or datetime.fromtimestamp(file.stat().st_mtime, UTC) >= before:
                return False
            file.unlink()
            return True

    def versions(self, key: str) -> Sequence[ObjectHead]:
        """See ``PublishStorage``."""
        digest = self._present_digest(key)
        with self._reading(key):
            heads = ObjectHistory(self._folder, key).heads(up_to=digest)
        return heads if digest is None else [replace(head, is_current=head is heads[0]) for head in heads]

    def keeps_versions(self) -> bool:
        """See ``PublishStorage``."""
        return True

    def read_tags(self) -> Mapping[str, str]:
        """See ``PublishStorage``. A folder has no stack."""
        return {}

    def _require_present(self, key: str) -> bytes:
        stored = self.read(key) if self._folder.exists() else None
        if stored is None:
            raise ObjectNotFound(f"{self.location}/{key}")
        return stored.body

    def _present_digest(self, key: str) -> str | None:
        with suppress(ObjectNotFound):
            return _digest(self._require_present(key))
        return None

    @contextmanager
    def _reading(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as exc:
            raise StorageError(f"{self.location}/{key}", exc.strerror or "cannot be read") from exc

    @contextmanager
    def _changing(self, key: str, expected: str | None) -> Iterator[tuple[ObjectHistory, Path]]:
        """Give the history and the file of a key, whose present object has the digest ``expected``."""
        with self._locked(), self.writable(key) as file:
            if self._present_digest(key) != expected:
                raise ObjectChanged(f"{self.location}/{key}")
            history = ObjectHistory(self._folder, key)
            history.begin(None if expected is None else file.read_bytes())
            yield history, file
            history.forget_oldest()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._folder, os.O_RDONLY)
        except OSError as exc:
            raise StorageError(self.location, exc.strerror or "cannot be opened") from exc
        try:
            self._lock(descriptor)
            yield
        finally:
            os.close(descriptor)  # the lock ends with it

    def _lock(self, descriptor: int) -> None:
        deadline = time.monotonic() + self.lock_timeout_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as exc:
                if time.monotonic() > deadline:
                    reason = f"another process has locked the folder for {self.lock_timeout_s:g} s"
                    raise StorageError(self.location, reason) from exc
            except OSError as exc:
                raise StorageError(self.location, f"the folder cannot be locked ({exc.strerror})") from exc
            else:
                return
            time.sleep(0.02)


def _replace(file: Path, body: bytes) -> None:
    """Replace a file under the lock. The temporary name is fixed: one that a killed process left is used again."""
    replace_file(file, body, temporary=file.with_name(f".{file.name}{TEMPORARY}"))


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


class ObjectHistory:
    """The versions of one key. A writer holds the folder's lock, and calls ``begin`` first."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder / HISTORY / key
        self._next = 1

    def begin(self, body: bytes | None) -> None:
        """Find the number of the next version. A present ``body`` that the history lacks becomes a version first."""
        self._next = next(iter(self._numbers()), 0) + 1
        if body is None:
            return
        if current := self.current(_digest(body)):
            self._next = int(current.version) + 1  # newer ones were never served
        else:
            self.keep(body, facts={})

    def keep(self, body: bytes | None, *, facts: Mapping[str, str]) -> ObjectHead:
        """Write the next version; ``None`` for a removal."""
        head = _version(
            self._next,
            datetime.now(UTC),
            sha256="" if body is None else _digest(body),
            size=len(body or b""),
            facts=dict(facts),
        )
        line = {"at": head.modified.isoformat(), "sha256": head.sha256, "size": head.size, "facts": head.facts}
        file = self._file(self._next)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(line).encode() + b"\n" + (body or b""), temporary=file.with_name(".new.tmp"))
        for number in self._numbers():
            if number > self._next:
                self._file(number).unlink(missing_ok=True)
        self._next += 1
        return head

    def forget_oldest(self) -> None:
        """Remove all versions but the last ``MAX_VERSIONS``."""
        for number in self._numbers()[MAX_VERSIONS:]:
            self._file(number).unlink(missing_ok=True)

    def current(self, sha256: str) -> ObjectHead | None:
        """Return the newest version with this digest; ``None`` if there is none."""
        return next((head for head in self._heads() if head.sha256 == sha256), None)

    def heads(self, *, up_to: str | None) -> list[ObjectHead]:
        """Return the versions, newest first, from the newest with the digest ``up_to`` on; ``None``: all."""
        return list(dropwhile(lambda head: up_to not in (None, head.sha256), self._heads()))

    def read(self, version: str) -> tuple[ObjectHead, bytes]:
        """Return a version and its body.

        Raises:
            ObjectNotFound: there is no such version, or it is a removal.
            StorageError: the file was changed.
        """
        head = next((each for each in self._heads() if each.version == version), None)
        if head is None or not head.sha256:
            raise ObjectNotFound(f"{self._folder}/{version}")
        file = self._folder / version
        body = file.read_bytes().partition(b"\n")[2]
        if _digest(body) != head.sha256:
            raise StorageError(str(file), "the content does not match its digest")
        return head, body

    def _heads(self) -> Iterator[ObjectHead]:
        """Yield the versions, newest first. A writer may forget old ones meanwhile."""
        for number in self._numbers():
            with suppress(FileNotFoundError):
                yield self._head(number)

    def _numbers(self) -> list[int]:
        """Return the numbers of the versions, newest first."""
        if not self._folder.is_dir():
            return []
        names = (file.name for file in self._folder.iterdir())
        return sorted((int(name) for name in names if name.isascii() and name.isdecimal()), reverse=True)

    def _head(self, number: int) -> ObjectHead:
        file = self._file(number)
        try:
            with file.open("rb") as stream:
                line = json.loads(stream.readline(65_536))
            return _version(
                number,
                datetime.fromisoformat(line["at"]),
                sha256=str(line["sha256"]),
                size=int(line["size"]),
                facts={str(name): str(value) for name, value in line["facts"].items()},
            )
        except (ValueError, TypeError, KeyError, AttributeError) as exc:
            raise StorageError(str(file), "this is not a version: remove the file") from exc

    def _file(self, number: int) -> Path:
        return self._folder / str(number)


def _version(number: int, at: datetime, *, sha256: str, size: int, facts: dict[str, str]) -> ObjectHead:
    """Return a version of the history; an empty ``sha256`` is a removal."""
    return ObjectHead(etag=sha256, version=str(number), sha256=sha256, size=size, modified=at, facts=facts)
