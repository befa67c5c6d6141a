"""The history of an object in a folder: its last versions, each a numbered file with facts and body.

``.history/KEY/NUMBER`` begins with a line of JSON, ``{"at", "sha256", "size", "facts"}``. The body follows. A removal
has ``"sha256": ""`` and no body.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from handler.errors.infrastructure import ObjectNotFound, StorageError
from handler.storage.local import replace_file

HISTORY = ".history"
MAX_VERSIONS = 20
MAX_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A version in the history of an object."""

    number: int
    at: datetime  # UTC
    sha256: str  # hex digest of the body; empty string for a removal
    size: int  # bytes of the body
    facts: Mapping[str, str]

    @property
    def is_removal(self) -> bool:
        """Tell if this is the removal of the object."""
        return not self.sha256


class ObjectHistory:
    """The versions of one key. A writer holds the folder's lock, and calls ``begin`` first."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder / HISTORY / key
        self._next = 1

    def begin(self, body: bytes | None) -> None:
        """Find the number of the next version. A present ``body`` that the history lacks becomes a version first."""
        newest = self._numbers()[:1]
        self._next = newest[0] + 1 if newest else 1
        if body is None:
            return
        digest = hashlib.sha256(body).hexdigest()
        current = self.current(digest)
        if current:
            self._next = current.number + 1  # newer ones were never served
        else:
            self.keep(body, facts={})

    def keep(self, body: bytes | None, *, facts: Mapping[str, str]) -> HistoryEntry:
        """Write the next version; ``None`` for a removal."""
        entry = HistoryEntry(
            number=self._next,
            at=datetime.now(UTC),
            sha256="" if body is None else hashlib.sha256(body).hexdigest(),
            size=len(body or b""),
            facts=dict(facts),
        )
        line = {"at": entry.at.isoformat(), "sha256": entry.sha256, "size": entry.size, "facts": entry.facts}
        file = self._file(entry.number)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(line).encode() + b"\n" + (body or b""), temporary=file.with_name(".new.tmp"))
        for number in self._numbers():
            if number > entry.number:
                self._file(number).unlink(missing_ok=True)
        self._next += 1
        return entry

    def forget_oldest(self) -> None:
        """Remove all versions but the last ``MAX_VERSIONS``."""
        for number in self._numbers()[MAX_VERSIONS:]:
            self._file(number).unlink(missing_ok=True)

    def current(self, sha256: str) -> HistoryEntry | None:
        """Return the newest version with this digest; ``None`` if there is none."""
        return next((entry for entry in self._entries() if entry.sha256 == sha256), None)

    def entries(self, *, up_to: str | None) -> list[HistoryEntry]:
        """Return the versions, newest first, from the newest with the digest ``up_to`` on; ``None``: all."""
        found = list(self._entries())
        if up_to is None:
            return found
        start = next((index for index, entry in enumerate(found) if entry.sha256 == up_to), len(found))
        return found[start:]

    def read(self, version: str) -> tuple[HistoryEntry, bytes]:
        """Return a version and its body.

        Raises:
            ObjectNotFound: there is no such version, or it is a removal.
            StorageError: the file was changed.
        """
        entry = next((each for each in self._entries() if str(each.number) == version), None)
        if entry is None or entry.is_removal:
            raise ObjectNotFound(f"{self._folder}/{version}")
        body = self._file(entry.number).read_bytes().partition(b"\n")[2]
        if hashlib.sha256(body).hexdigest() != entry.sha256:
            raise StorageError(str(self._file(entry.number)), "the content does not match its digest")
        return entry, body

    def _entries(self) -> Iterator[HistoryEntry]:
        """Yield the versions, newest first. A writer may forget old ones meanwhile."""
        for number in self._numbers():
            with suppress(FileNotFoundError):
                yield self._entry(number)

    def _numbers(self) -> list[int]:
        """Return the numbers of the versions, newest first."""
        if not self._folder.is_dir():
            return []
        names = (file.name for file in self._folder.iterdir())
        return sorted((int(name) for name in names if name.isascii() and name.isdecimal()), reverse=True)

    def _entry(self, number: int) -> HistoryEntry:
        file = self._file(number)
        try:
            with file.open("rb") as stream:
                line = json.loads(stream.readline(MAX_LINE_BYTES))
            return HistoryEntry(
                number=number,
                at=datetime.fromisoformat(line["at"]),
                sha256=str(line["sha256"]),
                size=int(line["size"]),
                facts={str(name): str(value) for name, value in line["facts"].items()},
            )
        except (ValueError, TypeError, KeyError, AttributeError) as exc:
            raise StorageError(str(file), "this is not a version: remove the file") from exc

    def _file(self, number: int) -> Path:
        return self._folder / str(number)
