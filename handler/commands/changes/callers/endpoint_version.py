"""One version of an endpoint that is compared with another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from handler.bundle.model import Bundle
from handler.bundle.stored import read_bundle
from handler.compiler.compile import Compiled
from handler.compiler.config.ignores import ChangeIgnore
from handler.compiler.provenance import Provenance
from handler.graph.index import SchemaIndex, load_index, read_index
from handler.storage.storage import Storage


def no_index() -> bytes:
    """Return the index of an endpoint without a schema."""
    return b""


@dataclass(frozen=True, kw_only=True)
class Published:
    """A bundle and the way to its schema index, which is read only if the comparison needs it.

    ``provenance`` has the rules behind the guards, and ``folder`` their files, for a folder that was compiled for it.
    """

    bundle: Bundle
    load_index: Callable[[], bytes] = no_index
    provenance: Provenance | None = None
    folder: Path = field(default_factory=Path)
    ignores: tuple[ChangeIgnore, ...] = ()

    @cached_property
    def index(self) -> SchemaIndex | None:
        """The schema; ``None`` if the endpoint has none.

        Raises:
            StorageError, BundleError: the index cannot be loaded.
        """
        return read_index(self.load_index(), sha256=self.bundle.index) if self.bundle.index else None


def version_of(compiled: Compiled, *, provenance: Provenance | None = None, folder: Path | None = None) -> Published:
    """Return a compiled endpoint as a version."""
    return Published(
        bundle=compiled.bundle,
        load_index=lambda: compiled.index,
        provenance=provenance,
        folder=folder or Path(),
        ignores=compiled.ignored_changes,
    )


def version_in(storage: Storage, raw: bytes, *, endpoint: str) -> Published:
    """Return a stored bundle as a version. Its schema index is read from the storage.

    Raises:
        BundleError: the bytes are not a bundle that this release reads.
    """
    bundle = read_bundle(raw, endpoint=endpoint)
    return Published(bundle=bundle, load_index=lambda: load_index(storage, endpoint, bundle.index))
