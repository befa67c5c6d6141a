"""Storing bundles one by one, for ``publish`` and ``build``, and saying what changed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from handler.bundle import Bundle
from handler.bundle_json import bundle_key, read_bundle, write_bundle
from handler.commands.console import OUT, complain, say, track
from handler.compiler.compile import Compiled
from handler.errors import BundleError, ObjectNotFound, StileError, StorageError
from handler.http import HttpClient
from handler.storage import Storage, open_storage


def store_all(compiled: Sequence[Compiled], destination: str, *, force: bool) -> int:
    """Store bundles one by one, each in one atomic write after its schema index; say what changed.

    Stops at the first that cannot be stored, with exit code 1. What is stored by then stays.
    """
    stored: list[str] = []
    try:
        with closing(HttpClient()) as http:
            storage = _open(destination, http)
            for one in track(compiled, "Storing", OUT, name=lambda one: one.bundle.endpoint):
                change = _store(one, storage, force=force)
                stored.append(one.bundle.endpoint)
                say(change.line())
    except StileError as exc:
        complain(str(exc))
    except KeyboardInterrupt:
        complain("Interrupted.")
    left = [one.bundle.endpoint for one in compiled[len(stored) :]]
    if left:
        complain(f"Stored: {', '.join(stored) or 'nothing'}.")
        complain(f"Not stored, so as they were before: {', '.join(left)}. Run it again.")
        return 1
    say(f"{len(stored)} endpoint{'' if len(stored) == 1 else 's'} in {storage.location}", "green")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What storing an endpoint changed for those who use it."""

    endpoint: str
    what: str  # new | changed | unchanged
    parts: tuple[str, ...]  # "+added", "-removed", "~changed"

    def line(self) -> str:
        return "  ".join([f"{self.endpoint}: {self.what}", *self.parts])


def _open(destination: str, http: HttpClient) -> Storage:
    if not destination.startswith("s3://"):
        try:
            Path(destination).mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StorageError(destination, f"cannot be made a folder: {exc.strerror or exc}") from exc
    return open_storage(destination, http=http, environ=os.environ)


def _store(one: Compiled, storage: Storage, *, force: bool) -> _Change:
    key = bundle_key(one.bundle.endpoint)
    raw = write_bundle(one.bundle)
    before = _stored(storage, key)
    if before == raw and not force:
        return _Change(endpoint=one.bundle.endpoint, what="unchanged", parts=())
    for name, content in one.objects():
        storage.write(name, content)
    what = "new" if before is None else "unchanged" if before == raw else "changed"
    return _Change(endpoint=one.bundle.endpoint, what=what, parts=_changed_parts(one.bundle, before))


def _stored(storage: Storage, key: str) -> bytes | None:
    try:
        stored = storage.read(key)
    except ObjectNotFound:
        return None
    return stored.body if stored else None


def _changed_parts(bundle: Bundle, before: bytes | None) -> tuple[str, ...]:
    was, now = _parts_in(before, bundle.endpoint), _parts_of(bundle)
    added = [f"+{name}" for name in now if name not in was]
    removed = [f"-{name}" for name in was if name not in now]
    changed = [f"~{name}" for name in now if name in was and was[name] != now[name]]
    return (*added, *removed, *changed)


def _parts_in(raw: bytes | None, endpoint: str) -> Mapping[str, object]:
    try:
        return _parts_of(read_bundle(raw, endpoint=endpoint)) if raw else {}
    except BundleError:
        return {}


def _parts_of(bundle: Bundle) -> Mapping[str, object]:
    """What clients see of an endpoint, by name: tools by their own, anything else with what it is."""
    tools = {tool.name: tool for tool in bundle.tools}
    prompts = {f"prompt {prompt.name}": prompt for prompt in bundle.prompts}
    uris = [str(each.entry.get("uri") or each.entry["uriTemplate"]) for each in bundle.resources]
    resources = {f"resource {uri}": each for uri, each in zip(uris, bundle.resources, strict=True)}
    instructions = {"instructions": bundle.instructions} if bundle.instructions else {}
    return {**tools, **prompts, **resources, **instructions}
