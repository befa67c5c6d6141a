"""Storages on this machine: memory and a folder."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from handler.errors.infrastructure import ObjectNotFound, StorageError
from handler.storage.storage import StoredObject, require_key


class MemoryStorage:
    """Objects in a dict, lost at the end of the process."""

    location = "memory"

    def __init__(self) -> None:
        self._bodies: dict[str, bytes] = {}

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:  # noqa: ARG002 (no network)
        """See ``Storage``."""
        require_key(key, self.location)
        if key not in self._bodies:
            raise ObjectNotFound(f"{self.location}/{key}")
        return _unless_unchanged(self._bodies[key], etag)

    def write(self, key: str, body: bytes) -> None:
        """See ``WritableStorage``."""
        require_key(key, self.location)
        self._bodies[key] = body

    def list_keys(self, endpoint: str = "", *, timeout_s: float = 0) -> Iterator[str]:  # noqa: ARG002 (no network)
        """See ``Storage``."""
        yield from (key for key in self._bodies if key.startswith(endpoint and f"{endpoint}/"))

    def warm(self) -> None:
        """Do nothing: there is no connection to open."""

    def remove(self, key: str) -> None:
        """Remove an object if it exists."""
        self._bodies.pop(key, None)


class FolderStorage:
    """Objects as files. For development and tests, or a disk that the machine shares."""

    def __init__(self, folder: str | Path) -> None:
        self.location = str(folder)
        self._folder = Path(folder)

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:  # noqa: ARG002 (no network)
        """See ``Storage``. The etag is the content's digest: a clock can stand still between two writes."""
        require_key(key, self.location)
        try:
            file = self._inside(self._folder / key)
            if not file.is_file():
                raise ObjectNotFound(f"{self.location}/{key}")
            body = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as exc:
            if not self._folder.is_dir():
                raise StorageError(self.location, "no such folder") from exc
            raise ObjectNotFound(f"{self.location}/{key}") from exc
        except OSError as exc:
            if exc.errno == errno.ENAMETOOLONG:  # a caller may ask for any name: not a fault of the disk
                raise ObjectNotFound(f"{self.location}/{key}") from exc
            raise StorageError(f"{self.location}/{key}", exc.strerror or "cannot be read") from exc
        return _unless_unchanged(body, etag)

    def write(self, key: str, body: bytes) -> None:
        """See ``WritableStorage``."""
        with self.writable(key) as file:
            # Not a private temporary file, so that the umask decides about read access.
            replace_file(file, body, temporary=file.parent / f".{secrets.token_hex(8)}.tmp")

    @contextlib.contextmanager
    def writable(self, key: str) -> Iterator[Path]:
        """Yield the file of a key, with its folder created. An ``OSError`` becomes a ``StorageError``."""
        require_key(key, self.location)
        file = self._folder / key
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._inside(file.parent)
            yield file
        except OSError as exc:
            raise StorageError(f"{self.location}/{key}", exc.strerror or "cannot be written") from exc

    def list_keys(self, endpoint: str = "", *, timeout_s: float = 0) -> Iterator[str]:  # noqa: ARG002 (no network)
        """See ``Storage``."""
        try:
            for file in self._folder.glob(f"{endpoint or '[A-Za-z]*/*'}/[A-Za-z]*"):
                yield file.relative_to(self._folder).as_posix()
        except OSError as exc:
            raise StorageError(self.location, exc.strerror or "cannot be listed") from exc

    def warm(self) -> None:
        """Do nothing: there is no connection to open."""

    def _inside(self, path: Path) -> Path:
        """Resolve the symbolic links in ``path``; refuse any that lead out of the folder."""
        try:
            real = path.resolve(strict=True)
        except RuntimeError as exc:  # from Python 3.11 and 3.12, for links in a circle
            raise StorageError(str(path), "symbolic links in a circle") from exc
        if not real.is_relative_to(self._folder.resolve()):
            raise StorageError(str(path), "a symbolic link leads out of the folder")
        return real


def _unless_unchanged(body: bytes, etag: str | None) -> StoredObject | None:
    digest = hashlib.sha256(body).hexdigest()
    return None if digest == etag else StoredObject(body, digest)


def replace_file(file: Path, body: bytes, *, temporary: Path) -> None:
    """Replace a file in one step, by way of a file beside it.

    Raises:
        OSError: the file cannot be written. The old one stays.
    """
    try:
        with temporary.open("wb") as stream:
            stream.write(body)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
