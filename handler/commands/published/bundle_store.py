"""The writing of bundles to a folder, for ``build``, with a report of the changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.commands.published.bundle_parts import changed_parts, parts_as_json
from handler.commands.terminal.console import ERR, OUT, complain, say, show_json, track
from handler.commands.terminal.exit_codes import DONE, REFUSED
from handler.commands.terminal.json_answer import current_answer
from handler.compiler.compile import Compiled
from handler.errors import StileError
from handler.errors.infrastructure import ObjectNotFound, StorageError
from handler.storage.local import FolderStorage
from handler.text.sentences import counted


def store_all(compiled: Sequence[Compiled], destination: str, *, as_json: bool) -> int:
    """Store bundles one by one, each in one atomic write after its schema index, and print the changes.

    Stop at the first bundle that cannot be stored, with exit code 1. Bundles stored before stay.
    """
    stored: list[_Change] = []
    try:
        storage = FolderStorage(_made(destination))
        for one in track(compiled, "Storing", ERR if as_json else OUT, name=lambda one: one.bundle.endpoint):
            change = _store(one, storage)
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
        say(f"{counted(len(stored), 'endpoint')} in {destination}", "green")
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
    parts: tuple[str, ...]

    def line(self) -> str:
        return "  ".join([f"{self.endpoint}: {self.what}", *self.parts])

    def plain(self) -> dict[str, Any]:
        """Return the change as JSON."""
        return {"endpoint": self.endpoint, "what": self.what, **parts_as_json(self.parts)}


def _made(destination: str) -> Path:
    folder = Path(destination)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StorageError(destination, f"cannot be made a folder: {exc.strerror or exc}") from exc
    return folder


def _store(one: Compiled, storage: FolderStorage) -> _Change:
    *indexes, (key, raw) = one.objects()
    before = _stored(key, storage)
    for index, content in indexes:
        storage.write(index, content)
    storage.write(key, raw)
    what = "new" if before is None else "unchanged" if before == raw else "changed"
    return _Change(endpoint=one.bundle.endpoint, what=what, parts=changed_parts(one.bundle, before))


def _stored(key: str, storage: FolderStorage) -> bytes | None:
    try:
        stored = storage.read(key)
    except ObjectNotFound:
        return None
    return stored.body if stored else None
