"""The endpoints at a destination as they are published: version, facts, and if a function could load them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key, format_of, older_bundle_keys, read_bundle, short_digest
from handler.commands.published.facts import PublishFacts, read_facts
from handler.commands.published.withdrawal import bundles_by_endpoint
from handler.errors.infrastructure import BundleError, ObjectNotFound
from handler.graph.index import load_index, read_index
from handler.storage.publishing import ObjectHead, PublishStorage
from handler.strict_json import JSONObject

AT_ONCE = 16
"""The endpoints that are read at a time."""


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
            "by": self.facts.by,
            "commit": self.facts.commit,
            "release": self.facts.release,
            "restores": self.facts.restores,
            "format": self.format,
            "digest": self.digest,
            "tools": list(self.tools),
            "bytes": self.head.size,
            "loads": not self.fault,
            "fault": self.fault,
        }


def describe_all(storage: PublishStorage, named: Sequence[str]) -> tuple[list[Described], list[str]]:
    """Describe the published endpoints, and return the names in ``named`` that are not published. Empty: all.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    wanted = [key for name in named for key in (bundle_key(name), *older_bundle_keys(name))]
    keys = bundles_by_endpoint(wanted if named else storage.keys())

    def described(item: tuple[str, Sequence[str]]) -> Described | None:
        return _described(storage, *item, index_fault=partial(_index_fault, storage, item[0]))

    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = dict(zip(keys, threads.map(described, keys.items()), strict=True))
    return [each for each in found.values() if each], [name for name, each in found.items() if each is None]


def describe(
    endpoint: str, head: ObjectHead, raw: bytes, *, index_fault: Callable[[str], str] = lambda _: ""
) -> Described:
    """Describe a version of an endpoint. ``index_fault`` returns the reason why a schema index cannot be loaded."""
    facts = read_facts(head.facts)
    try:
        number, digest = format_of(raw), short_digest(raw)
    except (BundleError, KeyError) as exc:
        return Described(endpoint=endpoint, head=head, facts=facts, fault=str(exc))
    try:
        bundle = read_bundle(raw, endpoint=endpoint)
    except BundleError as exc:
        return Described(endpoint=endpoint, head=head, facts=facts, format=number, digest=digest, fault=str(exc))
    return Described(
        endpoint=endpoint,
        head=head,
        facts=facts,
        format=number,
        digest=digest,
        tools=[tool.name for tool in bundle.tools],
        fault=index_fault(bundle.index) if bundle.index else "",
        bundle=bundle,
    )


def _described(
    storage: PublishStorage, endpoint: str, keys: Iterable[str], *, index_fault: Callable[[str], str]
) -> Described | None:
    """Describe the bundle that a function of this release reads, or else the newest of other formats."""
    for key in sorted(keys, key=lambda key: (key == bundle_key(endpoint), key), reverse=True):
        try:
            head, raw = storage.get(key)
        except ObjectNotFound:
            continue
        found = describe(endpoint, head, raw, index_fault=index_fault)
        if key != bundle_key(endpoint) and not found.fault:
            return replace(found, fault=f"it looks for {bundle_key(endpoint)}, and this is {key}: publish again")
        return found
    return None


def _index_fault(storage: PublishStorage, endpoint: str, sha256: str) -> str:
    try:
        read_index(load_index(storage, endpoint, sha256), sha256=sha256)
    except ObjectNotFound:
        return f"the schema index {sha256[:12]} is missing: publish again"
    except BundleError:
        return f"the schema index {sha256[:12]} is damaged: publish again"
    return ""
