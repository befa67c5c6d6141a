"""The plan of a publish: each endpoint compared with the version that is stored, and endpoints left over there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from handler.audience.ways import Published, version_in, version_of
from handler.bundle.stored import older_bundle_keys
from handler.commands.changes.endpoint_changes import EndpointChanges, compare
from handler.commands.published.bundle_parts import changed_parts, parts_as_json
from handler.commands.published.parallel import Parallel
from handler.commands.published.withdrawal import bundles_by_endpoint, etags_of
from handler.commands.terminal.console import ERR, OUT, track
from handler.commands.terminal.json_answer import current_answer
from handler.commands.terminal.progress import told_if_slow
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import BundleError, ObjectNotFound
from handler.storage.publishing import ObjectHead, PublishStorage, holds
from handler.text.sentences import counted

MANY = 50
"""The number of endpoints from which on slow work is told of where no progress bar is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEndpoint:
    """An endpoint, and its difference from the stored version."""

    name: str
    raw: bytes  # the bundle
    index: tuple[str, bytes] | None  # key and bytes of the schema index
    what: str  # new | changed | unchanged | repaired: unchanged, and its stored schema index is not whole
    present: ObjectHead | None  # the stored version; ``None`` if there is none of this release's format
    parts: tuple[str, ...] = ()
    changes: EndpointChanges | None = None
    fault: str = ""  # why the comparison is not complete
    unread: str = ""  # why this release cannot read the stored version, which no function of it has served
    older: str = ""  # the key of the stored version, if its format is an older one

    @property
    def is_breaking(self) -> bool:
        """Tell if callers may lose something."""
        return bool(self.fault or (self.changes and self.changes.breaking))

    @property
    def is_opening(self) -> bool:
        """Return whether ``--allow-open`` is needed, also if the comparison is not complete."""
        return bool(self.fault or (self.changes and self.changes.opening))

    def lines(self) -> Iterator[str]:
        """Yield the change in one line, and each difference below."""
        yield "  ".join([f"{self.name}: {self.what}", *self.parts])
        if self.what == "repaired" and self.index:
            yield f"  {self.index[0]} is missing or damaged, and is stored again"
        if self.older:
            yield f"  compared with {self.older}, which functions of the older release go on to serve"
        if self.unread:
            yield f"  compared with nothing, because the stored version cannot be read: {self.unread}"
        if self.what == "changed" and self.changes:
            yield from (f"  {line}" for line in self.changes.lines())
        if self.fault:
            yield f"  open: breaking: the stored version cannot be compared: {self.fault}"

    def plain(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        changes = self.changes.as_json()["changes"] if self.changes and self.what == "changed" else []
        told = {"endpoint": self.name, "what": self.what, **parts_as_json(self.parts)}
        return {**told, "breaking": self.is_breaking, "opening": self.is_opening, "changes": changes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A stored endpoint that the published folder does not have."""

    name: str
    etags: Mapping[str, str]  # of its bundles, by their keys; empty if it is not to be withdrawn


def plan_publish(compiled: Sequence[Compiled], storage: PublishStorage) -> list[PlannedEndpoint]:
    """Compare each endpoint with its stored version, with two HEADs for an unchanged one, several at a time.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    objects = {one.bundle.endpoint: list(one.objects()) for one in compiled}
    stored = _read_stored(objects, storage)
    return [_plan(one, objects[one.bundle.endpoint], stored[one.bundle.endpoint], storage) for one in compiled]


def find_leftovers(names: Sequence[str], storage: PublishStorage, *, with_etags: bool) -> list[Leftover]:
    """Return the stored endpoints that are not among ``names``. ``with_etags``: they are to be withdrawn as they are.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    stored = bundles_by_endpoint(storage.keys())
    return [
        Leftover(name=name, etags=etags_of(storage, keys) if with_etags else {})
        for name, keys in stored.items()
        if name not in names
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """The stored version of an endpoint."""

    head: ObjectHead | None = None  # ``None`` if there is none of this release's format
    other: bytes | None = None  # the bundle, if it is another than the compiled one
    older: str = ""  # the key of ``other``, if its format is an older one
    has_index: bool = True  # False if ``head`` has the compiled bytes, and the schema index is missing or damaged


Objects = Sequence[tuple[str, bytes]]
"""The stored form of an endpoint, by key: the schema index, if there is one, and the bundle."""


def _read_stored(objects: Mapping[str, Objects], storage: PublishStorage) -> dict[str, _Stored]:
    def read(name: str) -> _Stored:
        return _read_one(name, objects[name], storage)

    told = f"Comparing {counted(len(objects), 'endpoint')} with {storage.location}"
    work = Parallel(read, list(objects))
    found: dict[str, _Stored] = {}
    try:
        with told_if_slow(told, when=len(objects) > MANY):
            shown = track(list(objects), "Comparing", ERR if current_answer() else OUT, name=str)
            for _, (name, outcome) in zip(shown, work, strict=False):
                if isinstance(outcome, Exception):
                    raise outcome
                found[name] = outcome
    finally:
        work.stop()
    return found


def _read_one(name: str, objects: Objects, storage: PublishStorage) -> _Stored:
    *indexes, (key, raw) = objects
    try:
        head = storage.head(key)
        if head.sha256 != hashlib.sha256(raw).hexdigest():
            head, body = storage.get(key)
            if body != raw:
                return _Stored(head=head, other=body)
    except ObjectNotFound:
        return _read_older(name, storage)
    return _Stored(head=head, has_index=all(holds(storage, *index) for index in indexes))


def _read_older(name: str, storage: PublishStorage) -> _Stored:
    """Return the version of an older format, which callers have until a function of this release is deployed."""
    for key in older_bundle_keys(name):
        with suppress(ObjectNotFound):
            return _Stored(other=storage.get(key)[1], older=key)
    return _Stored()


def _plan(one: Compiled, objects: Objects, stored: _Stored, storage: PublishStorage) -> PlannedEndpoint:
    *indexes, (_, raw) = objects
    changes, fault, unread = _compared(one, stored.other, storage) if stored.other is not None else (None, "", "")
    same = "unchanged" if stored.has_index else "repaired"
    what = "changed" if stored.other is not None else same if stored.head else "new"
    return PlannedEndpoint(
        name=one.bundle.endpoint,
        raw=raw,
        index=indexes[0] if indexes else None,
        what=what,
        present=stored.head,
        parts=() if what == same else changed_parts(one.bundle, stored.other),
        changes=changes,
        fault=fault,
        unread=unread,
        older=stored.older,
    )


def _compared(one: Compiled, before: bytes, storage: PublishStorage) -> tuple[EndpointChanges | None, str, str]:
    """Return the differences from the stored bundle, why they are not complete, and why it cannot be read.

    A stored bundle that this release cannot read has no version to compare with: the endpoint is told as changed.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    now = version_of(one)
    was: Published | None = None
    try:
        was = version_in(storage, before, endpoint=one.bundle.endpoint)
        return compare(was, now), "", ""
    except (BundleError, ObjectNotFound) as exc:
        return (None, str(exc), "") if was else (None, "", str(exc))
