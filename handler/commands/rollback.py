"""``stile rollback``: an older version of an endpoint, stored as the present one."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from dataclasses import replace

from handler.audience.ways import version_in
from handler.bundle.stored import index_key
from handler.commands.changes.endpoint_changes import EndpointChanges, compare
from handler.commands.command_line import DONE, REFUSED
from handler.commands.console import announce, say, show_json, warn
from handler.commands.publishing.destination import (
    Described,
    EndpointPlace,
    add_endpoint_place,
    change_published,
    describe_version,
    may_change,
    unmark,
)
from handler.commands.publishing.facts import gather_facts
from handler.errors.infrastructure import BundleError, ObjectNotFound, StorageError
from handler.graph.index import load_index, read_index
from handler.storage.publishing import ObjectHead, PublishStorage

EXAMPLES = ("stile rollback s3://bucket/prefix/shop/orders",)
EXIT_CODES = {REFUSED: "there is no such version, a function of this release would not load it, or nobody agreed"}

LEAST_CHARS = 4
"""The length from which the beginning of a version stands for it."""


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
    present: ObjectHead | None = None
    before: bytes | None = None
    with suppress(ObjectNotFound):
        present, before = storage.get(place.key)
    version = _version_to_restore(storage, place, present, name=options.to)
    described, raw, index = _loadable(storage, place, version)
    after = version_in(storage, raw, endpoint=place.endpoint)
    try:
        was = version_in(storage, before, endpoint=place.endpoint) if before is not None else None
        changes = compare(was, after)
    except (BundleError, ObjectNotFound) as exc:
        announce(f"The present version cannot be compared: {exc}")
        changes = compare(None, after)
    by = f" by {described.facts.by}" if described.facts.by else ""
    commit = f", commit {described.facts.commit[:12]}" if described.facts.commit else ""
    say(f"{described.endpoint}: version {described.head.version} of {described.at}{by}{commit}")
    for line in changes.lines() or ["no difference for callers"]:
        say(f"  {line}")
    if present and before == raw:
        return _done(options, described, stored=present, changes=changes, what="unchanged")
    if not may_change(f"Put this version of {place.endpoint} in place of the present one?", options):
        return REFUSED
    if described.bundle and index:
        storage.add(index_key(place.endpoint, described.bundle.index), index)  # `stile gc` spares a fresh one
    facts = gather_facts(None, place.destination, os.environ)
    facts = replace(facts, restores=described.head.version, commit=described.facts.commit)
    expected = present.etag if present else None
    stored = storage.put(place.key, raw, expected=expected, facts=facts.stored())
    if sentence := unmark(storage, place.endpoint):
        warn(sentence)
    return _done(options, described, stored=stored, changes=changes, what="rolled back")


def _version_to_restore(
    storage: PublishStorage, place: EndpointPlace, present: ObjectHead | None, *, name: str | None
) -> ObjectHead:
    """Return the version that has a name or begins with it; without a name, the last that differs from the present one.

    Raises:
        StorageError: there is no such version, or there are several.
    """
    history = storage.versions(place.key)
    if not history and not storage.keeps_versions():
        raise StorageError(storage.location, "the bucket keeps no versions: publish the older commit again")
    versions = [each for each in history if not each.is_removal]
    if name is not None:  # an empty one is of a variable that is not set
        exact = [each for each in versions if each.version == name]
        like = [each for each in versions if len(name) >= LEAST_CHARS and each.version.startswith(name)]
        for matches in (exact, like):
            if len(matches) == 1:
                return matches[0]
        fault = f"{name!r} names no single version: `stile published --versions` lists them"
        raise StorageError(storage.location, fault)
    for each in versions:
        if present is None or each.etag != present.etag:
            return each
    what = "no other version" if present else "no version"
    raise StorageError(f"{storage.location}/{place.key}", f"{what} is kept to go back to: publish the older commit")


def _loadable(storage: PublishStorage, place: EndpointPlace, version: ObjectHead) -> tuple[Described, bytes, bytes]:
    """Return a version, its bundle and its schema index.

    Raises:
        StorageError: a function of this release would not load it.
    """
    head, raw = storage.get(place.key, version=version.version)
    described = describe_version(place.endpoint, head, raw)
    where = f"{place.endpoint}, version {version.version}"
    if described.bundle is None:
        fault = f"a function of this release cannot read it: {described.fault}. --to names another version"
        raise StorageError(where, fault)
    sha256 = described.bundle.index
    if not sha256:
        return described, raw, b""
    try:
        body = load_index(storage, place.endpoint, sha256)
        read_index(body, sha256=sha256)
    except ObjectNotFound as exc:
        raise StorageError(where, f"its schema index {sha256[:12]} is missing: publish its commit") from exc
    except BundleError as exc:
        raise StorageError(where, f"its schema index cannot be read: {exc}") from exc
    return described, raw, body


def _done(
    options: argparse.Namespace, described: Described, *, stored: ObjectHead, changes: EndpointChanges, what: str
) -> int:
    name, version = described.endpoint, described.head.version
    if options.json:
        plain = {"endpoint": name, "what": what, "restored": version, "version": stored.version}
        show_json({**plain, "diff": changes.as_json()})
    elif what == "unchanged":
        say(f"{name}: unchanged, the present version has these bytes")
    else:
        say(f"{name}: {what} to {version}, as version {stored.version}", "green")
    return DONE
