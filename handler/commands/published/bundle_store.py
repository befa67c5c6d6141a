"""The storing of bundles one by one, for ``publish`` and ``build``, with a report of the changes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key, index_key, read_bundle, write_bundle
from handler.commands.console import ERR, OUT, complain, say, show_json, track
from handler.commands.exit_codes import DONE, REFUSED
from handler.commands.json_answer import current_answer
from handler.compiler.compile import Compiled
from handler.errors import StileError
from handler.errors.infrastructure import BundleError, ObjectNotFound, StorageError
from handler.http.client import HttpClient
from handler.sentences import counted
from handler.storage.location import open_publish_storage
from handler.storage.storage import WritableStorage


def store_all(compiled: Sequence[Compiled], destination: str, *, force: bool, as_json: bool) -> int:
    """Store bundles one by one, each in one atomic write after its schema index, and print the changes.

    Stop at the first bundle that cannot be stored, with exit code 1. Bundles stored before stay.
    """
    stored: list[_Change] = []
    try:
        with closing(HttpClient()) as http:
            storage = _Store(_open(destination, http), force=force)
            for one in track(compiled, "Storing", ERR if as_json else OUT, name=lambda one: one.bundle.endpoint):
                change = storage.store(one)
                stored.append(change)
                say(change.line())
    except StileError as exc:
        complain(str(exc))
    except KeyboardInterrupt:
        complain("Interrupted.")
    left = [one.bundle.endpoint for one in compiled[len(stored) :]]
    if left:
        complain(f"Stored: {', '.join(change.endpoint for change in stored) or 'nothing'}.")
        complain(f"Not stored (unchanged): {', '.join(left)}. Run the command again.")
    else:
        say(f"{counted(len(stored), 'endpoint')} in {storage.location}", "green")
    code = REFUSED if left else DONE
    answer = current_answer()
    if answer and as_json:
        told = {"location": destination, "endpoints": [change.plain() for change in stored], "notStored": left}
        show_json({**told, "warnings": answer.warnings, **({"error": answer.error(code)} if left else {})})
    return code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """The changes of an endpoint that its clients see."""

    endpoint: str
    what: str  # new | changed | unchanged
    parts: tuple[str, ...]  # "+added", "-removed", "~changed"

    def line(self) -> str:
        return "  ".join([f"{self.endpoint}: {self.what}", *self.parts])

    def plain(self) -> dict[str, Any]:
        """Return the change as JSON."""
        signs = {"added": "+", "removed": "-", "changed": "~"}
        parts = {key: [each[1:] for each in self.parts if each[0] == sign] for key, sign in signs.items()}
        return {"endpoint": self.endpoint, "what": self.what, **parts}


def _open(destination: str, http: HttpClient) -> WritableStorage:
    if not destination.startswith("s3://"):
        try:
            Path(destination).mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StorageError(destination, f"cannot be made a folder: {exc.strerror or exc}") from exc
    return open_publish_storage(destination, http=http, environ=os.environ)


class _Store:
    """The storage for one run of a command. A schema index that endpoints share is sent once."""

    def __init__(self, storage: WritableStorage, *, force: bool) -> None:
        self._storage = storage
        self._force = force
        self._indexes: set[str] = set()  # keys of the schema indexes already stored
        self.location = storage.location

    def store(self, one: Compiled) -> _Change:
        key = bundle_key(one.bundle.endpoint)
        raw = write_bundle(one.bundle)
        before = self._stored(key)
        if before == raw and not self._force:
            return _Change(endpoint=one.bundle.endpoint, what="unchanged", parts=())
        self._store_index(one)
        self._storage.write(key, raw)
        what = "new" if before is None else "unchanged" if before == raw else "changed"
        return _Change(endpoint=one.bundle.endpoint, what=what, parts=_changed_parts(one.bundle, before))

    def _store_index(self, one: Compiled) -> None:
        """Store the schema index first: a bundle must never name a missing index.

        An index's key is its digest, so a stored index is equal. ``force`` replaces it, because it may be damaged.
        """
        key = index_key(one.bundle.index) if one.bundle.index else ""
        if key and key not in self._indexes:
            if self._force:
                self._storage.write(key, one.index)
            else:
                self._storage.add(key, one.index)
            self._indexes.add(key)

    def _stored(self, key: str) -> bytes | None:
        try:
            stored = self._storage.read(key)
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
    """Return the parts of an endpoint that clients see, by name; a name that is not a tool's begins with its kind."""
    tools = {tool.name: tool for tool in bundle.tools}
    prompts = {f"prompt {prompt.name}": prompt for prompt in bundle.prompts}
    uris = [str(each.entry.get("uri") or each.entry["uriTemplate"]) for each in bundle.resources]
    resources = {f"resource {uri}": each for uri, each in zip(uris, bundle.resources, strict=True)}
    instructions = {"instructions": bundle.instructions} if bundle.instructions else {}
    return {**tools, **prompts, **resources, **instructions}
