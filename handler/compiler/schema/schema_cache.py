"""A cache of values that were made of files before, by the content of these files.

Parsing and validating take most of the time of a large schema, and between two saves of an author it rarely changes. A
cache lives in memory, for `stile dev`, or in a folder too, for one `stile check` after another. Memory holds read
schemas. The folder holds bytes: schema indexes, and the warnings of validations without errors, as JSON. Both hold the
results of compiling operations: see ``operations/kept_operations.py``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import graphql

import handler
from handler.compiler.source.files import EndpointFiles
from handler.errors.authoring import Problem
from handler.lru import Lru

LEAST_BYTES = 100_000
"""The size of the files of a schema from which on it is kept: a smaller one is read in a tenth of a second."""

MOST_HELD = 4
MOST_FILES = 48
MAX_ENTRY_BYTES = 200_000_000

NEW = ".new-"
"""The beginning of the names of files that are being written."""

OWN_NAME = re.compile(rf"[0-9a-f]{{64}}$|{re.escape(NEW)}")
"""The names of files that may be deleted."""

Seal = Callable[[str, bytes], bytes]
"""Returns a secret digest of an entry's name and content, of 32 bytes. It raises ``OSError`` if there can be none."""

DIGEST_BYTES = 32
"""The digest at the beginning of a file: a file that was not written whole, or by somebody else, is not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSchema:
    """A schema without errors, as it was read from its files."""

    author: Any  # an ``AuthorSchema``
    warnings: tuple[Problem, ...]
    digests: Mapping[str, str]  # name of a file -> SHA-256


class SchemaCache:
    """Read schemas in memory; values by key in memory, and below ``folder`` if there is one with a seal.

    Entries may be deleted at any time. A folder that cannot be read or written holds nothing, without an error.
    """

    def __init__(self, folder: Path | None = None, *, seal: Seal | None = None) -> None:
        self._folder = folder
        self._seal = seal
        self._schemas: Lru[str, HeldSchema] = Lru(most=MOST_HELD)
        self._values: Lru[str, bytes] = Lru(most=2 * MOST_HELD)
        self.results: Lru[str, dict[str, tuple[bytes, Any]]] = Lru(most=MOST_HELD)  # of ``KeptOperations``

    def find_schema(self, files: EndpointFiles, entry: str, *, stepzen: bool) -> HeldSchema | None:
        """Return the schema that begins in the file ``entry``; ``None`` if memory does not hold it.

        The files of a schema that is found count as read.
        """
        schema = self._schemas.use(key_of("schema", entry, files.digest_of(entry), stepzen))
        if schema is None or any(files.digest_of(name) != digest for name, digest in schema.digests.items()):
            return None
        # A file may have been saved since.
        same = [
            files.read(name) is not None and files.sha256(name) == digest for name, digest in schema.digests.items()
        ]
        return schema if all(same) else None

    def keep_schema(self, entry: str, schema: HeldSchema, *, stepzen: bool) -> None:
        """Hold a schema that begins in the file ``entry``."""
        self._schemas.put(key_of("schema", entry, schema.digests[entry], stepzen), schema)

    def find(self, key: str) -> bytes | None:
        """Return a value by its key; ``None`` if it is not kept, or not by this user."""
        value = self._values.use(key)
        if value is None and self._folder and self._seal:
            with suppress(OSError):
                path = self._folder / key
                status = path.lstat()
                if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_ENTRY_BYTES:
                    content = path.read_bytes()
                    digest, body = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
                    if hmac.compare_digest(digest, self._seal(key, body)):
                        value = body
                        self._values.put(key, value)
        return value

    def keep(self, key: str, value: bytes) -> None:
        """Keep a value by its key, which is one of ``key_of``."""
        self._values.put(key, value)
        if self._folder is None or self._seal is None:
            return
        with suppress(OSError):
            digest = self._seal(key, value)
            if any(each.is_symlink() for each in (self._folder, self._folder.parent)):
                return  # of a stranger, to a folder in which nothing may be written or deleted
            self._folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError), (self._folder / ".gitignore").open("x", encoding="utf-8") as file:
                file.write("*\n")
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix=NEW, delete=False) as new:
                new.write(digest + value)
            Path(new.name).replace(self._folder / key)
            # Delete the oldest entries, and parts of interrupted writes.
            own = (each for each in self._folder.iterdir() if OWN_NAME.match(each.name))
            for path in sorted(own, key=lambda each: each.lstat().st_mtime)[:-MOST_FILES]:
                path.unlink(missing_ok=True)


def key_of(kind: str, *parts: Any) -> str:
    """Return the key of a value that is made of ``parts``, which are JSON values."""
    return hashlib.sha256(json.dumps([kind, _made_by(), parts]).encode()).hexdigest()


@cache
def _made_by() -> list[Any]:
    """Name the code that makes the entries: versions, files, which a working copy changes, and other packages."""
    package = Path(handler.__file__).parent
    files = sorted(each for each in package.rglob("*.*") if each.suffix != ".pyc")
    statuses = ((each.relative_to(package).as_posix(), each.stat()) for each in files)
    facts = [(name, status.st_size, status.st_mtime_ns) for name, status in statuses]
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    others = Path(graphql.__file__).parents[1].stat().st_mtime_ns  # an upgrade of any package renames files there
    return [handler.__version__, graphql.version, sys.version, digest, others]
