"""``stile rollback``: an older version of an endpoint, stored as the present one."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from handler.audience.ways import Published, version_in
from handler.bundle.stored import index_key
from handler.commands.changes.endpoint_changes import EndpointChanges, compare
from handler.commands.published.described import Described, describe
from handler.commands.published.endpoint_place import EndpointPlace, add_endpoint_place, change_published
from handler.commands.published.facts import gather_facts
from handler.commands.questions import agreed, can_ask
from handler.commands.terminal.console import announce, complain, say, show_json
from handler.commands.terminal.exit_codes import DONE, REFUSED
from handler.errors.infrastructure import BundleError, ObjectNotFound, StorageError
from handler.graph.index import load_index, read_index
from handler.storage.publishing import ObjectHead, ObjectVersion, PublishStorage

EXAMPLES = ("stile rollback s3://bucket/prefix/shop/orders",)
EXIT_CODES = {REFUSED: "there is no such version, a function of this release would not load it, or nobody agreed"}

LEAST_CHARS = 4
"""The length from which the beginning of a version stands for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """The version to store again."""

    described: Described
    raw: bytes
    index: bytes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_endpoint_place(parser)
    parser.add_argument(
        "--to",
        metavar="VERSION",
        help="a version that `stile published --versions` lists; by default the last that differs from the present one",
    )


def run(options: argparse.Namespace) -> int:
    return change_published(options, _roll_back)


def _roll_back(storage: PublishStorage, place: EndpointPlace, options: argparse.Namespace) -> int:
    present = _present(storage, place)
    version = _chosen(storage, place, present[0] if present else None, wanted=options.to)
    target = _loadable(storage, place, version)
    changes = _changes(storage, place, present[1] if present else None, target)
    _show_changes(changes, target)
    if present and present[1] == target.raw:
        return _done(options, target, stored=present[0], changes=changes, what="unchanged")
    if not agreed(f"Put this version of {place.endpoint} in place of the present one?", yes=options.yes):
        complain("Nothing was changed." if can_ask() else "Nothing was changed: without a terminal, --yes agrees.")
        return REFUSED
    if target.index and target.described.bundle:
        # `stile gc` spares a fresh one
        storage.add(index_key(place.endpoint, target.described.bundle.index), target.index)
    facts = replace(gather_facts(None, place.destination, os.environ), restores=target.described.head.version)
    facts = replace(facts, commit=target.described.facts.commit)
    expected = present[0].etag if present else None
    stored = storage.put(place.key, target.raw, expected=expected, facts=facts.stored())
    return _done(options, target, stored=stored, changes=changes, what="rolled back")


def _present(storage: PublishStorage, place: EndpointPlace) -> tuple[ObjectHead, bytes] | None:
    try:
        return storage.get(place.key)
    except ObjectNotFound:
        return None


def _chosen(
    storage: PublishStorage, place: EndpointPlace, present: ObjectHead | None, *, wanted: str | None
) -> ObjectVersion:
    """Return the version that ``wanted`` names, or the last one that differs from the present one.

    Raises:
        StorageError: there is no such version.
    """
    history = storage.versions(place.key)
    if not history and not storage.keeps_versions():
        raise StorageError(storage.location, "the bucket keeps no versions: publish the older commit again")
    kept = [each for each in history if not each.is_removal]
    if wanted is not None:  # an empty one is of a variable that is not set
        return _named(kept, wanted, storage.location)
    found = next((each for each in kept if present is None or each.etag != present.etag), None)
    if found is None:
        what = "no other version" if present else "no version"
        raise StorageError(f"{storage.location}/{place.key}", f"{what} is kept to go back to: publish the older commit")
    return found


def _named(kept: Sequence[ObjectVersion], wanted: str, location: str) -> ObjectVersion:
    matches: Sequence[Callable[[str], bool]] = (
        lambda version: version == wanted,
        lambda version: len(wanted) >= LEAST_CHARS and version.startswith(wanted),
    )
    for is_match in matches:
        found = [each for each in kept if is_match(each.version)]
        if len(found) == 1:
            return found[0]
    raise StorageError(location, f"{wanted!r} names no single version: `stile published --versions` lists them")


def _loadable(storage: PublishStorage, place: EndpointPlace, version: ObjectVersion) -> _Target:
    """Read a version with its schema index.

    Raises:
        StorageError: a function of this release would not load it.
    """
    head, raw = storage.get(place.key, version=version.version)
    found = describe(place.endpoint, head, raw)
    where = f"{place.endpoint}, version {version.version}"
    if found.bundle is None:
        raise StorageError(
            where, f"a function of this release cannot read it: {found.fault}. --to names another version"
        )
    if not found.bundle.index:
        return _Target(described=found, raw=raw, index=b"")
    try:
        body = load_index(storage, place.endpoint, found.bundle.index)
        read_index(body, sha256=found.bundle.index)
    except ObjectNotFound as exc:
        raise StorageError(where, f"its schema index {found.bundle.index[:12]} is missing: publish its commit") from exc
    except BundleError as exc:
        raise StorageError(where, f"its schema index cannot be read: {exc}") from exc
    return _Target(described=found, raw=raw, index=body)


def _changes(storage: PublishStorage, place: EndpointPlace, before: bytes | None, target: _Target) -> EndpointChanges:
    """Compare the present bundle with the version. One that this release cannot read counts as none."""
    after = version_in(storage, target.raw, endpoint=place.endpoint)
    was: Published | None = None
    try:
        was = version_in(storage, before, endpoint=place.endpoint) if before is not None else None
        return compare(was, after)
    except (BundleError, ObjectNotFound) as exc:
        announce(f"The present version cannot be compared: {exc}")
        return compare(None, after)


def _show_changes(changes: EndpointChanges, target: _Target) -> None:
    found = target.described
    by = f" by {found.facts.by}" if found.facts.by else ""
    commit = f", commit {found.facts.commit[:12]}" if found.facts.commit else ""
    say(f"{found.endpoint}: version {found.head.version} of {found.at}{by}{commit}")
    for line in changes.lines() or ["no difference for callers"]:
        say(f"  {line}")


def _done(
    options: argparse.Namespace, target: _Target, *, stored: ObjectHead, changes: EndpointChanges, what: str
) -> int:
    name, version = target.described.endpoint, target.described.head.version
    if options.json:
        plain = {"endpoint": name, "what": what, "restored": version, "version": stored.version}
        show_json({**plain, "diff": changes.as_json()})
    elif what == "unchanged":
        say(f"{name}: unchanged, the present version has these bytes")
    else:
        say(f"{name}: {what} to {version}, as version {stored.version}", "green")
    return DONE
