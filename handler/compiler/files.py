from __future__ import annotations

import hashlib
import json
import os.path
import posixpath
import stat
from pathlib import Path

from graphql import Source

from handler.compiler.problems import NOWHERE, Place, Problems

ENTRY = NOWHERE.file
CONFIG = "config.yaml"
ENV_FILE = ".env"

MAX_FILE_BYTES = 8_000_000
"""Large enough for GitHub's schema (1.2 MB of SDL), small enough to refuse what is no schema."""


class EndpointFiles:
    """The author's files of one endpoint, each read once, and none from outside its folder."""

    def __init__(self, folder: Path, problems: Problems) -> None:
        self.folder = folder
        self._problems = problems
        self._texts: dict[str, str | None] = {}
        self._digests: dict[str, str] = {}

    def exists(self, name: str) -> bool:
        """Whether the folder has something of this name; it may turn out to be unreadable."""
        return os.path.lexists(self.folder / name)

    def names(self, below: str, pattern: str) -> list[str]:
        """The files that match in a folder below this one, by name."""
        return sorted(path.relative_to(self.folder).as_posix() for path in (self.folder / below).glob(pattern))

    def read(self, name: str, *, named_at: Place | None = None) -> str | None:
        """The text of a file, or ``None`` after reporting why there is none.

        ``name`` is relative to the endpoint folder; ``named_at`` is where an author named it.
        """
        if name not in self._texts:
            self._texts[name] = self._read(name, named_at or Place(name))
        return self._texts[name]

    def source(self, name: str, *, named_at: Place | None = None) -> Source | None:
        """The same as something that graphql-core parses, which keeps the file's name for positions."""
        text = self.read(name, named_at=named_at)
        return None if text is None else Source(text, name)

    def sha256(self, name: str) -> str:
        """SHA-256 over the bytes of a file that was read, in hexadecimal."""
        return self._digests[name]

    def digest(self) -> str:
        """SHA-256 over the names and texts of all that was read."""
        digest = hashlib.sha256()
        for name, text in sorted(self._texts.items()):
            digest.update(json.dumps([name, text]).encode())
        return digest.hexdigest()

    def _read(self, name: str, at: Place) -> str | None:
        try:
            raw = _read_bytes(self.folder, name)
            self._digests[name] = hashlib.sha256(raw).hexdigest()
            return _text(raw)
        except _Unreadable as exc:
            subject = "it" if at.file == name else f'"{name}"'
            self._problems.add(at, f"{subject} {exc}")
            return None


class _Unreadable(Exception):
    """Why a file has no text, as the end of a sentence."""


def _read_bytes(folder: Path, name: str) -> bytes:
    path = folder / name
    try:
        # Path.resolve() refuses links in a circle with an error of its own; stat() below says it better.
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            raise _Unreadable("lies outside the endpoint folder")
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise _Unreadable("is no file")
        if facts.st_size > MAX_FILE_BYTES:
            raise _Unreadable(f"has {facts.st_size} bytes; a file may have {MAX_FILE_BYTES}")
        return path.read_bytes()
    except FileNotFoundError as exc:
        raise _Unreadable("does not exist") from exc
    except OSError as exc:
        raise _Unreadable(f"cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise _Unreadable("has a character that no file's name can have") from exc


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = exc.object.count(b"\n", 0, exc.start) + 1
        raise _Unreadable(f"is not UTF-8: line {line} has a byte that cannot be read") from exc


def join(including: str, name: str) -> str:
    """The path of a file that is named in another one, relative to the endpoint folder: one for each file."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(including), name))
