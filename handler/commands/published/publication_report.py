"""The report of `stile published`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from handler.bundle.model import ENDPOINT_NAME
from handler.bundle.stored import bundle_key
from handler.commands.published.cards import SERVED, UNKNOWN, served
from handler.commands.published.described import AT_ONCE, Described, describe_all
from handler.commands.published.endpoint_place import open_published
from handler.commands.published.facts import read_facts
from handler.commands.schema_source.source_options import RequestHeaders, UsageRefused, request_headers
from handler.commands.terminal.console import announce, complain, say, show_json, show_table
from handler.commands.terminal.exit_codes import DONE, REFUSED, USAGE
from handler.errors import StileError
from handler.errors.infrastructure import ObjectNotFound
from handler.http.client import HttpClient
from handler.storage.publishing import ObjectVersion, PublishStorage
from handler.strict_json import JSONObject
from handler.text.sentences import counted

R = TypeVar("R")

POLL_S = 1.0
SHORT_CHARS = 12
"""The characters of a version or a commit in a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """An endpoint of the report. ``versions`` have the same bundle; ``told`` is the running function's answer."""

    described: Described
    history: Sequence[ObjectVersion]
    told: str


def report(options: argparse.Namespace) -> int:
    """Print the endpoints at a destination, and return the exit code."""
    unfit = [name for name in options.endpoints if not ENDPOINT_NAME.fullmatch(name)]
    if unfit or (options.wait and not options.url):
        complain(f'"{unfit[0]}": expected FOLDER/NAME' if unfit else "--wait is for --url, which names the function")
        return USAGE
    try:
        headers = request_headers(options.headers)
        with closing(HttpClient()) as http:
            storage = open_published(options.destination, http)
            return _report(storage, http, options, headers)
    except UsageRefused as exc:
        complain(str(exc))
        return USAGE
    except StileError as exc:
        complain(str(exc))
        return REFUSED


def _report(storage: PublishStorage, http: HttpClient, options: argparse.Namespace, headers: RequestHeaders) -> int:
    described, missing = describe_all(storage, options.endpoints)
    needs_history = options.versions or options.url
    names = [each.endpoint for each in described]
    history = _for_each(names, lambda name: storage.versions(bundle_key(name)) if needs_history else ())
    told = _wait_until_served(http, described, history, options=options, headers=headers) if options.url else {}
    rows = [
        _Row(described=each, history=history[each.endpoint], told=told.get(each.endpoint, "")) for each in described
    ]
    if options.json:
        show_json({"location": storage.location, "endpoints": [_plain(storage, each, options) for each in rows]})
    else:
        _show(storage, rows, options)
    for name in missing:
        if options.versions and not options.json:
            _show_versions(storage, name, storage.versions(bundle_key(name)))
        complain(f"{name}: not published at {storage.location}")
    bad = missing or any(each.fault for each in described) or any(each != SERVED for each in told.values())
    return REFUSED if bad else DONE


def _for_each(names: Sequence[str], work: Callable[[str], R]) -> dict[str, R]:
    """Return the result of the work on each endpoint, several at a time: one that does not answer delays few others."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return dict(zip(names, threads.map(work, names), strict=True))


def _same(described: Described, history: Sequence[ObjectVersion]) -> list[str]:
    """Return the ids of the versions with the present bundle: a function asks for the bundle only if it differs."""
    return [each.version for each in history if each.etag and each.etag == described.head.etag]


def _wait_until_served(
    http: HttpClient,
    described: Sequence[Described],
    history: Mapping[str, Sequence[ObjectVersion]],
    *,
    options: argparse.Namespace,
    headers: RequestHeaders,
) -> dict[str, str]:
    """Return the running function's answer for each endpoint. Asking makes the function look for a new bundle."""
    ids = {each.endpoint: _same(each, history[each.endpoint]) for each in described}
    if not options.destination.startswith("s3://"):
        ids = {name: [] for name in ids}  # a folder numbers its versions, so anybody could guess

    def ask(name: str) -> str:
        return headers.hidden_in(served(http, f"{options.url}/{name}", ids[name], headers=headers.fields()))

    return _until(ask, list(ids), is_final=lambda name, told: told == SERVED or not ids[name], seconds=options.wait)


def _until(
    ask: Callable[[str], str], names: Sequence[str], *, is_final: Callable[[str, str], bool], seconds: float
) -> dict[str, str]:
    """Return the answers for all names, asked again until they are final or the time is over."""
    deadline = time.monotonic() + seconds
    told = _for_each(names, ask)
    while not all(is_final(name, each) or each == UNKNOWN for name, each in told.items()):
        if time.monotonic() >= deadline:
            break
        time.sleep(min(POLL_S, max(deadline - time.monotonic(), 0)))
        told |= _for_each([name for name, each in told.items() if not is_final(name, each)], ask)
    return told


def _plain(storage: PublishStorage, row: _Row, options: argparse.Namespace) -> JSONObject:
    found = row.described.plain()
    if options.url:
        found |= {"served": row.told == SERVED, "function": row.told}
    if options.versions:
        found["versions"] = [_plain_version(storage, row.described.endpoint, each) for each in row.history]
    return found


def _plain_version(storage: PublishStorage, endpoint: str, version: ObjectVersion) -> JSONObject:
    facts = read_facts({} if version.is_removal else _facts(storage, endpoint, version.version))
    return {
        "version": version.version,
        "at": version.modified.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "by": facts.by,
        "commit": facts.commit,
        "release": facts.release,
        "restores": facts.restores,
        "bytes": version.size,
        "current": version.is_current,
        "removal": version.is_removal,
    }


def _facts(storage: PublishStorage, endpoint: str, version: str) -> dict[str, str]:
    try:
        return dict(storage.head(bundle_key(endpoint), version=version).facts)
    except ObjectNotFound:  # it was forgotten meanwhile
        return {}


def _show(storage: PublishStorage, rows: Sequence[_Row], options: argparse.Namespace) -> None:
    headings = ["endpoint", "version", "published", "by", "commit", "tools", "bytes", "format", "loads"]
    headings += ["served"] if options.url else []
    if rows:
        show_table(
            f"{counted(len(rows), 'endpoint')} at {storage.location}", headings, [_cells(r, options) for r in rows]
        )
    else:
        say(f"Nothing is published at {storage.location}.")
    for row in rows if options.versions else ():
        _show_versions(storage, row.described.endpoint, row.history)
    for row in rows:
        if row.described.fault:
            complain(f"{row.described.endpoint}: a function of this release does not load it: {row.described.fault}")
        if options.url and row.told != SERVED:
            complain(f"{row.described.endpoint}: {options.url} does not show that it serves this version: {row.told}")
    if options.url and rows and all(row.told == SERVED for row in rows):
        announce("An instance of the function serves these versions. Others follow within the time of RefreshSeconds.")


def _show_versions(storage: PublishStorage, endpoint: str, history: Sequence[ObjectVersion]) -> None:
    versions = [_plain_version(storage, endpoint, each) for each in history]
    if versions:
        title = f"{endpoint}: {counted(len(versions), 'version')}, the newest first"
        show_table(title, ["version", "published", "by", "commit", "what"], [_version_cells(each) for each in versions])


def _cells(row: _Row, options: argparse.Namespace) -> list[str | int]:
    each = row.described
    cells: list[str | int] = [
        each.endpoint,
        _short(each.head.version),
        each.at,
        each.facts.by,
        _short(each.facts.commit),
    ]
    cells += [len(each.tools), each.head.size, str(each.format or ""), "no" if each.fault else "yes"]
    return [*cells, "yes" if row.told == SERVED else "no"] if options.url else cells


def _version_cells(version: JSONObject) -> list[str | int]:
    what = "removal" if version["removal"] else "current" if version["current"] else ""
    restores = f"restores {_short(version['restores'])}" if version["restores"] else ""
    said = ", ".join(each for each in (what, restores) if each)
    return [version["version"], version["at"], version["by"], _short(version["commit"]), said]


def _short(text: str) -> str:
    return text[:SHORT_CHARS]
