from __future__ import annotations

import hashlib
import json
import os.path
import posixpath
import stat
from collections.abc import Iterator
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

    def all_below(self, below: str) -> list[str]:
        """The files below a folder, however deep, by name; without hidden ones and those in hidden folders.

        A link to a folder is one of them, as nothing is looked for behind it.
        """
        found = (path.relative_to(self.folder) for path in (self.folder / below).rglob("*") if not _is_folder(path))
        inside = len(Path(below).parts)
        return sorted(path.as_posix() for path in found if not any(_is_hidden(each) for each in path.parts[inside:]))

    def read(self, name: str, *, named_at: Place | None = None, max_bytes: int = MAX_FILE_BYTES) -> str | None:
        """The text of a file, or ``None`` after reporting why there is none.

        ``name`` is relative to the endpoint folder; ``named_at`` is where an author named it.
        """
        if name not in self._texts:
            raw = self._read(name, named_at or Place(name), max_bytes)
            self._texts[name] = None if raw is None else self._text(raw, name, named_at or Place(name))
        return self._texts[name]

    def read_bytes(self, name: str, *, max_bytes: int) -> bytes | None:
        """The bytes of a file, or ``None`` after reporting why there are none."""
        return self._read(name, Place(name), max_bytes)

    def source(self, name: str, *, named_at: Place | None = None) -> Source | None:
        """The same as something that graphql-core parses, which keeps the file's name for positions."""
        text = self.read(name, named_at=named_at)
        return None if text is None else Source(text, name)

    def places_of(self, piece: str) -> Iterator[Place]:
        """The places of a piece of one line, one in each text that was read, but for those with secrets."""
        for name, text in sorted(self._texts.items()):
            at = -1 if text is None or posixpath.basename(name) == ENV_FILE else text.find(piece)
            if text is not None and at >= 0:
                yield Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))

    def texts(self, *suffixes: str) -> dict[str, str]:
        """The texts that were read of files with one of these suffixes, by name."""
        return {name: text for name, text in sorted(self._texts.items()) if text and name.endswith(suffixes)}

    def sha256(self, name: str) -> str:
        """SHA-256 over the bytes of a file that was read, in hexadecimal."""
        return self._digests[name]

    def digest(self) -> str:
        """SHA-256 over the names and texts of all that was read, and the digests of what is no text."""
        digest = hashlib.sha256()
        contents = {**self._digests, **self._texts}
        for name, content in sorted(contents.items()):
            digest.update(json.dumps([name, content]).encode())
        return digest.hexdigest()

    def _read(self, name: str, at: Place, max_bytes: int) -> bytes | None:
        try:
            raw = _read_bytes(self.folder, name, max_bytes)
        except _Unreadable as exc:
            self._report(exc, name, at)
            return None
        self._digests[name] = hashlib.sha256(raw).hexdigest()
        return raw

    def _text(self, raw: bytes, name: str, at: Place) -> str | None:
        try:
            return _text(raw)
        except _Unreadable as exc:
            self._report(exc, name, at)
            return None

    def _report(self, reason: _Unreadable, name: str, at: Place) -> None:
        subject = "it" if at.file == name else f'"{name}"'
        self._problems.add(at, f"{subject} {reason}")


class _Unreadable(Exception):
    """Why a file has no text, as the end of a sentence."""


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_hidden(part: str) -> bool:
    return part.startswith(".")


def _read_bytes(folder: Path, name: str, max_bytes: int) -> bytes:
    path = folder / name
    try:
        # Path.resolve() refuses links in a circle with an error of its own; stat() below says it better.
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            raise _Unreadable("lies outside the endpoint folder")
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise _Unreadable("is no file")
        if facts.st_size > max_bytes:
            raise _Unreadable(f"has {facts.st_size} bytes; a file may have {max_bytes}")
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
