"""A cache of schemas that were read before, by the content of their files.

Parsing and validating take most of the time of a large schema, and between two saves of an author it rarely changes. A
cache lives in memory, for `stile dev`, or in a folder too, for one `stile check` after another.
What is published is always compiled without it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import io
import json
import pickle
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import graphql
from graphql import DocumentNode, GraphQLSchema, Location, Source, SourceLocation, Token

import handler
from handler.compiler.schema.directives import ToolDirective
from handler.compiler.source.files import EndpointFiles
from handler.errors.authoring import Problem
from handler.errors.infrastructure import BundleError
from handler.graph.index import read_index
from handler.lru import Lru
from handler.strict_json import JSONObject, parse_json

T = TypeVar("T")

LEAST_BYTES = 100_000
"""The size of the files of a schema from which on it is kept: a smaller one is read in a tenth of a second."""

MOST_HELD = 4
MOST_FILES = 48
MAX_ENTRY_BYTES = 200_000_000

NEW = ".new-"
"""The beginning of the names of files that are being written."""

ENTRY_NAME = re.compile("[0-9a-f]{64}")

PLAIN = frozenset({Location, Source, SourceLocation, Token, frozenset})
"""The classes that a kept schema has instances of, beside dataclasses and enums of Stile and of graphql-core."""

Seal = Callable[[str, bytes], bytes]
"""Returns a digest of an entry's name and content. It raises ``OSError`` if there can be none."""

UNREADABLE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RecursionError,
    BundleError,
    pickle.UnpicklingError,
)
"""The errors of reading an entry that Stile has not written."""

DIGEST_BYTES = 32
"""The digest at the beginning of a file: a file that was not written whole, or by somebody else, is not used."""


def plain_seal(_: str, content: bytes) -> bytes:
    """Return the SHA-256 of an entry's content, which anybody can make."""
    return hashlib.sha256(content).digest()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReadSchema:
    """A schema without errors as it was read from its files, in the form that is kept."""

    document: DocumentNode
    tools: tuple[ToolDirective, ...]
    executables: tuple[Any, ...]
    hidden: Mapping[str, str]
    costs: Mapping[str, JSONObject]
    warnings: tuple[Problem, ...]


class SchemaCache:
    """Schemas and their indexes by content, in memory and below ``folder`` if there is one.

    Entries may be deleted at any time. A folder that cannot be read or written holds nothing, without an error. With
    ``plain_seal``, the entries of other users are read, too.
    """

    def __init__(self, folder: Path | None = None, *, seal: Seal = plain_seal) -> None:
        self._folder = folder
        self._seal = seal
        self._names: Lru[str, list[str]] = Lru(most=MOST_HELD)
        self._schemas: Lru[str, tuple[ReadSchema, GraphQLSchema]] = Lru(most=MOST_HELD)
        self._indexes: Lru[str, bytes] = Lru(most=MOST_HELD)

    def find_schema(
        self, files: EndpointFiles, entry: str, *, stepzen: bool, build: Callable[[DocumentNode], GraphQLSchema]
    ) -> tuple[str, ReadSchema, GraphQLSchema] | None:
        """Return the key of the schema that begins in the file ``entry``, and the schema; ``None`` if it is not kept.

        The files of a schema that is found count as read.
        """
        names = self._find(self._names, self._key_of_names(files, entry), read=_names)
        digests = [files.digest_of(name) for name in names or ()]
        if not names or None in digests:
            return None
        key = _key("schema", stepzen, *zip(names, digests, strict=True))
        schema = self._schemas.use(key)
        if schema is None:
            read = self._load(key, _unpickled)
            if read is None:
                return None
            schema = (read, build(read.document))
            self._schemas.put(key, schema)
        for name in names:
            files.read(name)
        return key, *schema

    def keep_schema(
        self, files: EndpointFiles, names: Sequence[str], *, stepzen: bool, read: ReadSchema, schema: GraphQLSchema
    ) -> str:
        """Keep a schema that was read from the named files, its entry first, and return its key.

        The key is empty if the schema is too small to be kept.
        """
        if sum(len(files.read(name) or "") for name in names) < LEAST_BYTES:
            return ""
        key = _key("schema", stepzen, *((name, files.sha256(name)) for name in names))
        self._schemas.put(key, (read, schema))
        self._keep(self._names, self._key_of_names(files, names[0]), list(names), write=_json_bytes)
        self._store(key, lambda: pickle.dumps(read, pickle.HIGHEST_PROTOCOL))
        return key

    def index(self, schema_key: str, settings: Any, make: Callable[[], bytes]) -> bytes:
        """Return the index of a schema with these settings, kept or made. ``settings`` is a JSON value."""
        if not schema_key:
            return make()
        key = _key("index", schema_key, settings)
        entry = self._find(self._indexes, key, read=_index)
        if entry is None:
            entry = make()
            self._keep(self._indexes, key, entry, write=bytes)
        return entry

    def _key_of_names(self, files: EndpointFiles, entry: str) -> str:
        return _key("names", entry, files.digest_of(entry))

    def _find(self, held: Lru[str, T], key: str, *, read: Callable[[bytes], T]) -> T | None:
        entry = held.use(key)
        if entry is None:
            entry = self._load(key, read)
            if entry is not None:
                held.put(key, entry)
        return entry

    def _keep(self, held: Lru[str, T], key: str, entry: T, *, write: Callable[[T], bytes]) -> None:
        held.put(key, entry)
        self._store(key, lambda: write(entry))

    def _load(self, key: str, read: Callable[[bytes], T]) -> T | None:
        if self._folder is None:
            return None
        try:
            content = _content(self._folder / key)
            digest, body = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
            is_whole = hmac.compare_digest(digest, self._seal(key, body))
        except OSError:
            return None
        if not is_whole:
            return None
        try:
            return read(body)
        except UNREADABLE:
            return None

    def _store(self, key: str, write: Callable[[], bytes]) -> None:
        if self._folder is None:
            return
        with suppress(OSError, RecursionError, pickle.PicklingError):
            body = write()
            digest = self._seal(key, body)
            self._folder.mkdir(parents=True, exist_ok=True)
            if any(each.is_symlink() for each in (self._folder, self._folder.parent)):
                return  # of a stranger, to a folder in which nothing may be written or deleted
            with suppress(FileExistsError), (self._folder / ".gitignore").open("x", encoding="utf-8") as file:
                file.write("*\n")
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix=NEW, delete=False) as new:
                new.write(digest + body)
            Path(new.name).replace(self._folder / key)
            self._evict(self._folder)

    def _evict(self, folder: Path) -> None:
        """Delete the oldest entries, and what an interrupted write has left, beyond ``MOST_FILES``."""
        entries = [path for path in folder.iterdir() if ENTRY_NAME.fullmatch(path.name) or path.name.startswith(NEW)]
        for path in sorted(entries, key=lambda each: each.lstat().st_mtime)[:-MOST_FILES]:
            path.unlink(missing_ok=True)


def _content(path: Path) -> bytes:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_ENTRY_BYTES:
        raise OSError(path)
    return path.read_bytes()


class _Unpickler(pickle.Unpickler):
    """A reader of kept schemas that makes values of the classes of ``PLAIN``, dataclasses and enums alone.

    An entry is as trustworthy as its seal. One that a stranger could make would still set attributes of these classes.
    """

    def find_class(self, module: str, name: str) -> Any:
        if not module.startswith(("graphql.language.", "handler.", "builtins")) or module not in sys.modules:
            raise pickle.UnpicklingError(module)
        class_ = getattr(sys.modules[module], name, None)
        if not isinstance(class_, type):
            raise pickle.UnpicklingError(name)
        if not (class_ in PLAIN or dataclasses.is_dataclass(class_) or issubclass(class_, Enum)):
            raise pickle.UnpicklingError(name)
        return class_


def _unpickled(body: bytes) -> ReadSchema:
    value = _Unpickler(io.BytesIO(body)).load()
    if not isinstance(value, ReadSchema):
        raise pickle.UnpicklingError(type(value).__name__)
    return value


def _names(body: bytes) -> list[str]:
    names = parse_json(body)
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise TypeError(body)
    return names


def _index(body: bytes) -> bytes:
    read_index(body, sha256=hashlib.sha256(body).hexdigest())
    return body


def _json_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def _key(kind: str, *parts: Any) -> str:
    return hashlib.sha256(_json_bytes([kind, _made_by(), parts])).hexdigest()


@cache
def _made_by() -> list[Any]:
    """Name the code that makes the entries: versions, and the compiler's files, which a working copy changes."""
    package = Path(handler.__file__).parent
    files = [*sorted((package / "compiler").rglob("*.py")), *sorted((package / "graph").glob("*.py"))]
    facts = [(each.relative_to(package).as_posix(), *_stat(each)) for each in files]
    digest = hashlib.sha256(_json_bytes(facts)).hexdigest()
    return [handler.__version__, graphql.version, sys.version, digest]


def _stat(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
