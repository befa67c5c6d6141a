"""A destination and the endpoints published there: their places on the command line, descriptions and withdrawal."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from handler.bundle.model import ENDPOINT_NAME, Bundle
from handler.bundle.stored import (
    FORMAT_VERSION,
    bundle_key,
    format_of,
    older_bundle_keys,
    read_bundle,
    short_digest,
    withdrawal_key,
)
from handler.commands.command_line import REFUSED
from handler.commands.console import complain, warn
from handler.commands.publishing.facts import PublishFacts, read_facts
from handler.commands.questions import agreed, can_ask
from handler.errors import StileError
from handler.errors.infrastructure import BundleError, ObjectChanged, ObjectNotFound, StorageDenied, StorageError
from handler.graph.index import load_index, read_index
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import ObjectHead, PublishStorage
from handler.strict_json import JSONObject

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 16
"""The endpoints that are read or stored at a time."""

SERVED = (bundle_key("*/*"),)
"""The pattern of the bundles that a function of this release looks for."""


FORMAT_TAG = "stile:bundle-format"
"""The bucket's tag of infra/storage.yaml with the format that the stack's function reads. No publisher writes tags."""


def at_destination(destination: str, work: Callable[[PublishStorage, HttpClient], int]) -> int:
    """Do a command's work at a destination that exists. Return its exit code, or 1 after a complaint of an error."""
    try:
        with closing(HttpClient()) as http:
            storage = open_publish_storage(destination, http=http, environ=os.environ)
            if not destination.startswith("s3://") and not Path(destination).is_dir():
                fault = "it is a file" if Path(destination).exists() else "there is no such folder"
                raise StorageError(destination, f"{fault}: expected s3://bucket/prefix, or a folder")
            return work(storage, http)
    except StileError as exc:
        complain(str(exc))
        return REFUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointPlace:
    """One endpoint at a destination."""

    destination: str
    endpoint: str

    @property
    def key(self) -> str:
        """The key of the bundle that a function of this release reads."""
        return bundle_key(self.endpoint)


def add_endpoint_place(parser: argparse.ArgumentParser) -> None:
    """Add the argument with the place of an endpoint, and the options of commands that change it."""
    parser.add_argument(
        "place",
        metavar="DESTINATION/FOLDER/NAME",
        type=endpoint_place,
        help="the endpoint, below s3://bucket/prefix or a folder",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask; needed without a terminal")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def endpoint_place(text: str) -> EndpointPlace:
    """Read a place from the command line."""
    parts = text.rstrip("/").rsplit("/", 2)
    endpoint = "/".join(parts[1:])
    destination = parts[0] if len(parts) > 2 else "."
    if not ENDPOINT_NAME.fullmatch(endpoint) or destination in ("", "s3:", "s3:/"):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected DESTINATION/FOLDER/NAME, as s3://bucket/prefix/shop/orders"
        )
    return EndpointPlace(destination=destination, endpoint=endpoint)


def change_published(
    options: argparse.Namespace, change: Callable[[PublishStorage, EndpointPlace, argparse.Namespace], int]
) -> int:
    """Change the endpoint that the command line names, and return the exit code. Complain of errors."""

    def changed(storage: PublishStorage, _: HttpClient) -> int:
        try:
            return change(storage, options.place, options)
        except ObjectChanged:
            complain(f"{options.place.endpoint} was published or removed meanwhile, and nothing was done. Look again.")
            return REFUSED

    return at_destination(options.place.destination, changed)


def warn_of_format(storage: PublishStorage) -> str:
    """Return the format that the stack's function reads, with a warning of another one; empty string if unknown."""
    reads = ""
    with suppress(StorageError):  # the right to read tags may be missing
        reads = storage.read_tags().get(FORMAT_TAG, "")
    if reads not in ("", str(FORMAT_VERSION)):
        warn(
            f"The deployed function reads bundles of format {reads}. It does not see those of this release, of format "
            f"{FORMAT_VERSION}: deploy this release after the publish, or publish with the release of the function."
        )
    return reads


def may_change(question: str, options: argparse.Namespace) -> bool:
    """Return whether a person agrees to a change, at the terminal or by ``--yes``. Complain if nobody does."""
    if agreed(question, yes=options.yes):
        return True
    complain("Nothing was changed." if can_ask() else "Nothing was changed: without a terminal, --yes agrees.")
    return False


def for_each(items: Sequence[T], work: Callable[[T], R]) -> dict[T, R]:
    """Return the result of the work on each item, several at a time: one without an answer delays few others."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return dict(zip(items, threads.map(work, items), strict=True))


def bundles_by_endpoint(etags: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the bundles among some objects, of every format, by their endpoint. All are etags by their keys."""
    bundles: dict[str, dict[str, str]] = {}
    for key, etag in sorted(etags.items()):
        match = _BUNDLE.fullmatch(key)
        if match and ENDPOINT_NAME.fullmatch(match[1]):
            bundles.setdefault(match[1], {})[key] = etag
    return bundles


_BUNDLE = re.compile(r"(.+)/bundle\.v[0-9]+\.json")


def withdraw(storage: PublishStorage, etags: Mapping[str, str], facts: PublishFacts) -> None:
    """Remove the bundles of one endpoint, each on the condition of its etag. Older versions stay for a rollback.

    Raises:
        ObjectChanged: the endpoint was published since. Bundles before that one are removed.
        StorageError: the storage does not answer as it should.
    """
    for key, etag in etags.items():
        storage.remove(key, expected=etag, facts=facts.stored())


def unmark(storage: PublishStorage, endpoint: str) -> str:
    """Remove the mark of a withdrawn endpoint, if it is there. Return a warning of one that stays, or empty string."""
    key = withdrawal_key(endpoint)
    with suppress(StorageError):
        mark = storage.head(key)
        try:
            storage.remove(key, expected=mark.etag, facts={})
        except StorageDenied as exc:
            return f"{key} stays. While it does, no function reports {endpoint} as missing: remove it. {exc}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A published endpoint. ``fault``: the reason why a function of this release would not load it, or empty."""

    endpoint: str
    head: ObjectHead
    facts: PublishFacts
    format: Any = None
    digest: str = ""  # the beginning of the bundle's, which log lines have
    tools: Sequence[str] = ()
    fault: str = ""
    bundle: Bundle | None = field(default=None, repr=False)

    @property
    def at(self) -> str:
        """The time of the publication: UTC, ISO 8601."""
        return self.facts.at or self.head.modified.isoformat(timespec="seconds").replace("+00:00", "Z")

    def plain(self) -> JSONObject:
        """Return the endpoint as JSON."""
        return {
            "endpoint": self.endpoint,
            "version": self.head.version,
            "at": self.at,
            **self.facts.plain(),
            "format": self.format,
            "digest": self.digest,
            "tools": list(self.tools),
            "bytes": self.head.size,
            "loads": not self.fault,
            "fault": self.fault,
        }


def describe_all(storage: PublishStorage, names: Sequence[str]) -> tuple[list[Described], list[str]]:
    """Describe the endpoints with these names, without names all; and return the names that are not published.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    candidates = [key for name in names for key in (bundle_key(name), *older_bundle_keys(name))]
    keys = bundles_by_endpoint(dict.fromkeys(candidates, "") if names else storage.etags())

    def described(endpoint: str) -> Described | None:
        # The bundle that a function of this release reads, or else the newest of other formats.
        for key in sorted(keys[endpoint], key=lambda key: (key == bundle_key(endpoint), key), reverse=True):
            try:
                head, raw = storage.get(key)
            except ObjectNotFound:
                continue
            bundle = describe_version(endpoint, head, raw, indexes=storage)
            if key != bundle_key(endpoint) and not bundle.fault:
                return replace(bundle, fault=f"it looks for {bundle_key(endpoint)}, and this is {key}: publish again")
            return bundle
        return None

    endpoints = for_each(list(keys), described)
    return [each for each in endpoints.values() if each], [name for name, each in endpoints.items() if each is None]


def describe_version(
    endpoint: str, head: ObjectHead, raw: bytes, *, indexes: PublishStorage | None = None
) -> Described:
    """Describe a version of an endpoint. ``indexes``: the storage that must have its schema index."""
    described = Described(endpoint=endpoint, head=head, facts=read_facts(head.facts))
    try:
        described = replace(described, format=format_of(raw), digest=short_digest(raw))
        bundle = read_bundle(raw, endpoint=endpoint)
    except (BundleError, KeyError) as exc:
        return replace(described, fault=str(exc))
    fault = ""
    if indexes and bundle.index:
        try:
            read_index(load_index(indexes, endpoint, bundle.index), sha256=bundle.index)
        except ObjectNotFound:
            fault = f"the schema index {bundle.index[:12]} is missing: publish again"
        except BundleError:
            fault = f"the schema index {bundle.index[:12]} is damaged: publish again"
    return replace(described, tools=[tool.name for tool in bundle.tools], fault=fault, bundle=bundle)


def endpoints_in_bucket(location: str, *, patterns: Sequence[str] = SERVED) -> list[str] | None:
    """Return the names of the endpoints at ``s3://bucket/prefix``; ``None`` if the credentials may not list them.

    ``patterns``: those of the keys of their bundles.

    Raises:
        StorageError: S3 does not answer, or refuses for another reason.
        SettingsError: an AWS variable is missing or malformed.
    """
    try:
        with closing(HttpClient()) as http:
            keys = map(PurePosixPath, open_publish_storage(location, http=http, environ=os.environ).etags())
    except StorageDenied:
        return None
    return sorted({key.parent.as_posix() for key in keys if any(map(key.match, patterns))})
