"""``stile gc``: the stored schemas that no kept version of an endpoint needs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from handler.bundle.model import ENDPOINT_NAME
from handler.bundle.stored import index_key, index_named_by, shared_index_key
from handler.commands.command_line import DONE, REFUSED
from handler.commands.console import complain, say, show_json
from handler.commands.publishing.destination import at_destination, bundles_by_endpoint, for_each
from handler.errors.infrastructure import BundleError, ObjectNotFound, StorageError
from handler.storage.publishing import ObjectHead, PublishStorage
from handler.text.sentences import counted

EXAMPLES = ("stile gc s3://bucket/prefix", "stile gc s3://bucket/prefix --delete")
EXIT_CODES = {REFUSED: "a version could not be read, or the bucket keeps no versions; nothing was deleted"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("destination", metavar="DESTINATION", help="s3://bucket/prefix, or a folder")
    parser.add_argument("--delete", action="store_true", help="delete the schemas; without it they are only listed")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


MIN_AGE = timedelta(days=7)
"""The age from which an index may be deleted. A publish makes an index fresh before any bundle names it."""


def run(options: argparse.Namespace) -> int:
    return at_destination(options.destination, lambda storage, _: _collect(storage, options))


def _collect(storage: PublishStorage, options: argparse.Namespace) -> int:
    if not storage.keeps_versions():
        complain(f"{storage.location} keeps no versions, so a schema could be deleted that is published meanwhile.")
        return REFUSED
    unused = find_unused(storage)
    deleted = discard_indexes(storage, unused) if options.delete else []
    if options.json:
        plain = [
            {
                "key": key,
                "bytes": head.size,
                "modified": head.modified.isoformat(timespec="seconds"),
                "deleted": key in deleted,
            }
            for key, head in unused.items()
        ]
        show_json({"location": storage.location, "deletes": options.delete, "indexes": plain})
        return DONE
    for key, head in unused.items():
        say(f"{key}: {head.size:,} bytes, of {head.modified.date().isoformat()}")
    size = f"{sum(unused[key].size for key in (deleted if options.delete else unused)):,} bytes"
    if options.delete:
        say(f"{counted(len(deleted), 'schema')} deleted, {size}", "green")
    elif unused:
        say(f"{counted(len(unused), 'schema')}, {size}, that no kept version names. --delete deletes them.")
    else:
        say(f"No schema is older than {MIN_AGE.days} days and without a version that names it.")
    return DONE


def find_unused(storage: PublishStorage) -> dict[str, ObjectHead]:
    """Return the indexes older than ``MIN_AGE`` that neither a present bundle nor an older version of one names.

    Raises:
        StorageError: a version cannot be read, so its index is not known.
    """
    limit = datetime.now(UTC) - MIN_AGE
    stored = storage.etags()  # before the bundles: a new index is young
    bundles = [key for keys in bundles_by_endpoint(dict.fromkeys(storage.kept_keys(), "")).values() for key in keys]

    def ids_of(key: str) -> list[str]:
        ids = {each.etag: each.version for each in storage.versions(key) if not each.is_removal}
        return ["", *ids.values()]  # the present version may lack an id

    def head_of(key: str) -> ObjectHead | None:
        with suppress(ObjectNotFound):  # deleted meanwhile
            return storage.head(key)
        return None

    versions = [(key, version) for key, ids in for_each(bundles, ids_of).items() for version in ids]
    needed = {key for keys in for_each(versions, lambda each: _indexes_of(storage, *each)).values() for key in keys}
    heads = for_each(sorted(set(filter(_INDEX.fullmatch, stored)) - needed), head_of)
    return {key: head for key, head in heads.items() if head and head.modified < limit}


def discard_indexes(storage: PublishStorage, unused: Iterable[str]) -> list[str]:
    """Delete indexes with their versions, and return those deleted. One that was published meanwhile stays."""
    limit = datetime.now(UTC) - MIN_AGE
    return [key for key in unused if storage.discard(key, before=limit)]


_INDEX = re.compile(rf"({ENDPOINT_NAME.pattern}/)?{re.escape(shared_index_key(''))}[0-9a-f]{{64}}")


def _indexes_of(storage: PublishStorage, key: str, version: str) -> tuple[str, ...]:
    """Return the keys that a bundle's index may have. Older functions and commands read the shared one."""
    try:
        _, raw = storage.get(key, version=version)
    except ObjectNotFound:  # the endpoint is removed, or the version was forgotten meanwhile
        return ()
    try:
        sha256 = index_named_by(raw)
    except BundleError as exc:
        which = f"version {version}" if version else "the present version"
        raise StorageError(
            f"{storage.location}/{key}", f"{which}: {exc}; nothing is deleted until it is removed"
        ) from exc
    endpoint = key.rpartition("/")[0]
    return (index_key(endpoint, sha256), shared_index_key(sha256)) if sha256 else ()
