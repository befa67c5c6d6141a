"""The two sides of a comparison: folders of endpoints, and destinations with published bundles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handler.audience.endpoint_version import Published, version_in, version_of
from handler.bundle.stored import bundle_key, older_bundle_keys
from handler.commands.folders.endpoint_folders import find_endpoints
from handler.commands.published.listed import endpoints_in_bucket
from handler.commands.terminal.console import ERR, complain_of, track
from handler.compiler.compile import compile_explained
from handler.errors.authoring import CompileError
from handler.errors.infrastructure import BundleError, ObjectNotFound, StorageError
from handler.http.client import HttpClient
from handler.storage.location import open_storage
from handler.storage.storage import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: the versions by the name of the endpoint. ``published``: read from a destination."""

    versions: Mapping[str, Published]
    published: bool


def is_destination(source: str) -> bool:
    """Tell if a source has published bundles, and is not a folder of endpoints."""
    return source.startswith("s3://") or not any(find_endpoints(Path(source)))


def compiled_side(folder: Path, *, stage: str | None, endpoint: str | None) -> Side | None:
    """Compile the endpoints at or below a folder; ``None`` after printing their problems."""
    found: dict[str, Published] = {}
    problems = 0
    folders = list(find_endpoints(folder))
    for each in track(folders, "Compiling", ERR, name=Path.as_posix):
        try:
            compiled, provenance = compile_explained(each, stage=stage, endpoint=endpoint, environ=os.environ)
        except CompileError as exc:
            problems += len(exc.problems)
            for problem in exc.problems:
                complain_of(problem, each)
            continue
        name = compiled.bundle.endpoint
        if name in found:
            raise BundleError(f'the endpoint "{name}" is made by two folders, the second is {each.as_posix()}')
        found[name] = version_of(compiled, provenance=provenance, folder=each)
    return None if problems else Side(versions=found, published=False)


@contextmanager
def opened(source: str) -> Iterator[Storage]:
    """Open a destination until the block ends.

    Raises:
        StorageError: the location is not valid.
        SettingsError: an AWS variable is missing or malformed.
    """
    http = HttpClient()
    try:
        yield open_storage(source, http=http, environ=os.environ)
    finally:
        http.close()


def published_side(storage: Storage, source: str, *, names: Sequence[str] | None) -> Side:
    """Read the bundles of endpoints from a destination; ``None`` for all that it has.

    Raises:
        StorageError: the destination does not answer, or may not be listed.
        BundleError: an object is not a bundle that this release reads.
    """
    found: dict[str, Published] = {}
    for name in names_in(source) if names is None else names:
        for key in (bundle_key(name), *older_bundle_keys(name)):
            try:
                stored = storage.read(key)
            except ObjectNotFound:
                continue
            if stored is not None:
                found[name] = _version(storage, stored.body, name=name, where=f"{source}/{key}")
                break
    return Side(versions=found, published=True)


def _version(storage: Storage, raw: bytes, *, name: str, where: str) -> Published:
    try:
        return version_in(storage, raw, endpoint=name)
    except BundleError as exc:
        raise BundleError(f"{where}: {exc}") from exc


def names_in(source: str) -> list[str]:
    """Return the names of the endpoints at a destination.

    Raises:
        StorageError: the destination does not answer, or may not be listed.
    """
    if source.startswith("s3://"):
        names = endpoints_in_bucket(source, patterns=_BUNDLES)
        if names is None:
            raise StorageError(source, "the credentials may not list the bucket, which s3:ListBucket allows")
        return names
    folder = Path(source)
    if not folder.is_dir():
        raise StorageError(source, "it is a file: expected a folder" if folder.exists() else "there is no such folder")
    found = [each for pattern in _BUNDLES for each in folder.glob(pattern)]
    return sorted({each.parent.relative_to(folder).as_posix() for each in found})


_BUNDLES = (bundle_key("*/*"), *older_bundle_keys("*/*"))
