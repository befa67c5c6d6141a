from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.progress import Progress

from handler.bundle import Bundle, bundle_key, index_key, read_bundle, to_json_bytes, write_bundle
from handler.commands.compiling import add_folder_arguments, compile_or_complain
from handler.commands.console import ERR, complain, say
from handler.compiler.compile import Compiled
from handler.errors import BundleError, ObjectNotFound, StileError
from handler.http import HttpClient
from handler.server.tools import list_entries
from handler.storage import Storage, open_storage

HELP = "Compile endpoint folders and store their bundles where the function reads them."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("destination", metavar="DESTINATION", help="s3://bucket/prefix, or a folder")
    parser.add_argument("--force", action="store_true", help="write even what has not changed")


def run(options: argparse.Namespace) -> int:
    compiled = compile_or_complain(options.folder, stage=options.stage)
    if not compiled or not _have_upstreams(compiled):
        complain("Nothing was published.")
        return 1
    return store_all(compiled, options.destination, force=options.force)


def store_all(compiled: Sequence[Compiled], destination: str, *, force: bool) -> int:
    """Store bundles one by one, each in one atomic write after its schema index; say what changed."""
    done = 0
    try:
        if "://" not in destination:
            Path(destination).mkdir(parents=True, exist_ok=True)
        storage = open_storage(destination, http=HttpClient(), environ=os.environ)
        with Progress(console=ERR, disable=not ERR.is_terminal, transient=True) as progress:
            for one in progress.track(compiled, description="Publishing"):
                say(_store(one, storage, force=force).line())
                done += 1
    except (StileError, OSError) as exc:
        complain(f"{exc}")
        complain(f"{done} of {len(compiled)} endpoints are stored; those after them are as they were. Run it again.")
        return 1
    say(f"{done} endpoint{'s' if done != 1 else ''} in {storage.location}")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What storing an endpoint changed for those who use it."""

    endpoint: str
    what: str  # new | changed | unchanged
    tools: tuple[str, ...]  # "+added", "-removed", "~changed"

    def line(self) -> str:
        return "  ".join([f"{self.endpoint}: {self.what}", *self.tools])


def _have_upstreams(compiled: Sequence[Compiled]) -> bool:
    lacking = [one.bundle.endpoint for one in compiled if not one.bundle.upstream.url]
    for name in lacking:
        complain(f"{name}: config.yaml names no upstream.url, so its tools have no API to ask")
    return not lacking


def _store(one: Compiled, storage: Storage, *, force: bool) -> _Change:
    key = bundle_key(one.bundle.endpoint)
    raw = write_bundle(one.bundle)
    before = _published(storage, key)
    if before == raw and not force:
        return _Change(endpoint=one.bundle.endpoint, what="unchanged", tools=())
    # The index comes first: a bundle must never name one that is not there yet.
    storage.write(index_key(one.bundle.index), one.index)
    storage.write(key, raw)
    what = "new" if before is None else "unchanged" if before == raw else "changed"
    return _Change(endpoint=one.bundle.endpoint, what=what, tools=_changed_tools(one.bundle, before))


def _published(storage: Storage, key: str) -> bytes | None:
    try:
        stored = storage.read(key)
    except ObjectNotFound:
        return None
    return stored.body if stored else None


def _changed_tools(bundle: Bundle, before: bytes | None) -> tuple[str, ...]:
    was, now = _tools_in(before, bundle.endpoint), _tools(bundle)
    added = [f"+{name}" for name in now if name not in was]
    removed = [f"-{name}" for name in was if name not in now]
    changed = [f"~{name}" for name in now if name in was and was[name] != now[name]]
    return (*added, *removed, *changed)


def _tools_in(raw: bytes | None, endpoint: str) -> dict[str, bytes]:
    if raw is None:
        return {}
    try:
        return _tools(read_bundle(raw, endpoint=endpoint))
    except BundleError:
        return {}


def _tools(bundle: Bundle) -> dict[str, bytes]:
    everything = frozenset(range(1, len(bundle.conditions)))
    return {entry["name"]: to_json_bytes(entry) for entry in list_entries(bundle, everything)}
