"""``stile published``: the endpoints at a destination, and if the running function serves them."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from handler.bundle.model import ENDPOINT_NAME
from handler.bundle.stored import bundle_key
from handler.commands.command_line import DONE, REFUSED, USAGE, server_url, whole_number
from handler.commands.console import announce, complain, say, show_json, show_table
from handler.commands.publishing.destination import Described, at_destination, describe_all, for_each, warn_of_format
from handler.commands.publishing.facts import read_facts
from handler.commands.schema_source.source_options import (
    RequestHeaders,
    add_header_argument,
    joined_headers,
)
from handler.errors.infrastructure import HttpError, ObjectNotFound
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.settings import MAX_CATALOG
from handler.storage.publishing import ObjectHead, PublishStorage
from handler.strict_json import JSONObject, parse_json
from handler.text.sentences import counted

EXAMPLES = (
    "stile published s3://bucket/prefix",
    "stile published s3://bucket/prefix --url https://mcp.example.com -H 'X-API-Key: $STILE_KEY' --wait 120",
)
EXIT_CODES = {
    REFUSED: "a function of this release would not load an endpoint, or the running function does not serve it"
}

MAX_WAIT_S = 3_600
POLL_S = 1.0

SHORT_CHARS = 12
"""The characters of a version or a commit in a table."""

MAX_HEADER_CHARS = 6_000
"""The length of the header with versions. API Gateway takes 10 KB of headers."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("destination", metavar="DESTINATION", help="s3://bucket/prefix, or a folder")
    parser.add_argument("endpoints", metavar="FOLDER/NAME", nargs="*", help="an endpoint; by default all of them")
    parser.add_argument("--versions", action="store_true", help="list the versions of each endpoint, newest first")
    parser.add_argument("--url", metavar="URL", type=server_url, help="ask the function at URL if it serves them")
    add_header_argument(parser, to="the function")
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=whole_number(1, MAX_WAIT_S, expected=f"seconds, up to {MAX_WAIT_S}"),
        default=0,
        help="with --url, ask again until all are served, so long at most",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    unfit = [name for name in options.endpoints if not ENDPOINT_NAME.fullmatch(name)]
    if unfit or (options.wait and not options.url):
        complain(f'"{unfit[0]}": expected FOLDER/NAME' if unfit else "--wait is for --url, which names the function")
        return USAGE
    headers = joined_headers(options.headers)
    return at_destination(options.destination, lambda storage, http: _report(storage, http, options, headers))


def _report(storage: PublishStorage, http: HttpClient, options: argparse.Namespace, headers: RequestHeaders) -> int:
    described, missing = describe_all(storage, options.endpoints)
    needs_history = options.versions or options.url
    names = [each.endpoint for each in described]
    history = for_each(names, lambda name: storage.versions(bundle_key(name)) if needs_history else ())
    answers = _wait_until_served(http, described, history, options=options, headers=headers) if options.url else {}
    unlisted = _names_without_card(http, options.url, headers=headers.fields) if options.url else []
    rows = [each.plain() for each in described]
    for row in rows:
        name = row["endpoint"]
        if options.url:
            row |= {"served": answers[name] == SERVED, "function": answers[name]}
        if options.versions:
            row["versions"] = [_plain_version(storage, name, each) for each in history[name]]
    reads = warn_of_format(storage)
    if options.json:
        listing = {"unlisted": unlisted} if options.url else {}
        show_json({"location": storage.location, "functionFormat": reads, "endpoints": rows, **listing})
    else:
        _show(storage.location, rows, options)
    for name in missing:
        if options.versions and not options.json:
            removed = storage.versions(bundle_key(name))
            _show_versions(name, [_plain_version(storage, name, each) for each in removed])
        complain(f"{name}: not published at {storage.location}")
    for name in unlisted:
        complain(f"{name}: STILE_CATALOG names it, and it has no Server Card: set server.listed, and publish it")
    bad = missing or any(each.fault for each in described) or any(each != SERVED for each in answers.values())
    return REFUSED if bad else DONE


def _wait_until_served(
    http: HttpClient,
    described: Sequence[Described],
    history: Mapping[str, Sequence[ObjectHead]],
    *,
    options: argparse.Namespace,
    headers: RequestHeaders,
) -> dict[str, str]:
    """Return the running function's answers, asked again until they are final or the time is over.

    Asking makes the function look for a new bundle, which it loads only if the bundle differs: so every version with
    the present bundle will do. A folder numbers its versions, and anybody could guess them.
    """
    ids = {
        each.endpoint: [
            version.version
            for version in history[each.endpoint]
            if version.etag and version.etag == each.head.etag and options.destination.startswith("s3://")
        ]
        for each in described
    }

    def ask(name: str) -> str:
        return headers.hidden_in(_ask_function(http, f"{options.url}/{name}", ids[name], headers=headers.fields))

    deadline = time.monotonic() + options.wait
    answers = for_each(list(ids), ask)
    while True:
        open_ = [name for name, answer in answers.items() if answer != SERVED and ids[name]]
        if all(answers[name] == UNKNOWN for name in open_) or time.monotonic() >= deadline:
            return answers
        time.sleep(min(POLL_S, max(deadline - time.monotonic(), 0)))
        answers |= for_each(open_, ask)


SERVED = "yes"
UNKNOWN = "unknown: the function's storage keeps no versions"
NOT_A_CARD = "the answer is not a card: expected the URL of a function of this release"

REMEDIES: Mapping[int, str] = {
    **dict.fromkeys((301, 302, 303, 307, 308), ": it leads elsewhere, where no credential is sent: give that URL"),
    401: ": give a credential with -H",
    403: ": the credential lacks a right",
    404: ": the endpoint is unknown there, or the function is of an older release",
}


def _ask_function(http: HttpClient, url: str, versions: Sequence[str], *, headers: Mapping[str, str]) -> str:
    """Return ``SERVED`` if the card of the endpoint at ``url`` is of one of the versions; otherwise a reason."""
    if not versions:
        return "unknown: the storage keeps no versions with ids"
    ids = ""
    for version in versions:
        ids = f"{ids} {version}".strip() if len(ids) + len(version) < MAX_HEADER_CHARS else ids
    try:
        response = _get(http, url, {"accept": "application/json", "stile-versions": ids, **headers})
    except HttpError as exc:
        return f"no answer: {exc}"
    if response.status != 200:
        return f"HTTP status {response.status}{REMEDIES.get(response.status, '')}"
    card: Any = None
    with suppress(ValueError):
        card = parse_json(response.body)
    match card:
        case {"serves": True}:
            return SERVED
        case {"serves": False}:
            return "not yet"
        case {"serves": None}:
            return UNKNOWN
        case {"digest": _} if "serves" not in card:
            return "the header Stile-Versions did not arrive: a proxy on the way has to pass it on"
        case _:
            return NOT_A_CARD


def _get(http: HttpClient, url: str, headers: Mapping[str, str]) -> HttpResponse:
    return http.send(
        HttpRequest(
            method="GET", url=url, headers=headers, timeout_s=30, max_bytes=2_000_000, repeatable=True, guarded=False
        )
    )


def _names_without_card(http: HttpClient, url: str, *, headers: Mapping[str, str]) -> list[str]:
    """Return the endpoints that the function's catalog names, and of which it shows no Server Card."""
    catalog: Any = None
    with suppress(HttpError, ValueError):
        catalog = parse_json(_get(http, f"{url}/.well-known/ai-catalog.json", headers).body)
    entries = catalog.get("entries") if isinstance(catalog, dict) else None
    urls = [str(each.get("url")) for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    names = [name[1] for each in urls if (name := re.search(rf"/({ENDPOINT_NAME.pattern})/mcp/server-card\Z", each))]

    def has_card(name: str) -> bool:
        with suppress(HttpError):
            return _get(http, f"{url}/{name}/mcp/server-card", headers).status == HTTPStatus.OK
        return True  # the other answers show that the function is out of reach

    cards = for_each(names[:MAX_CATALOG], has_card)
    return [name for name, has in cards.items() if not has]


def _plain_version(storage: PublishStorage, endpoint: str, version: ObjectHead) -> JSONObject:
    facts: Mapping[str, str] = {}
    if not version.is_removal:
        with suppress(ObjectNotFound):  # it was forgotten meanwhile
            facts = storage.head(bundle_key(endpoint), version=version.version).facts
    return {
        "version": version.version,
        "at": version.modified.isoformat(timespec="seconds").replace("+00:00", "Z"),
        **read_facts(facts).plain(),
        "bytes": version.size,
        "current": version.is_current,
        "removal": version.is_removal,
    }


def _show(location: str, rows: Sequence[JSONObject], options: argparse.Namespace) -> None:
    headings = ["endpoint", "version", "published", "by", "commit", "tools", "bytes", "format", "loads"]
    headings += ["served"] if options.url else []
    if rows:
        show_table(f"{counted(len(rows), 'endpoint')} at {location}", headings, [_cells(row) for row in rows])
    else:
        say(f"Nothing is published at {location}.")
    for row in rows if options.versions else ():
        _show_versions(row["endpoint"], row["versions"])
    for row in rows:
        if row["fault"]:
            complain(f"{row['endpoint']}: a function of this release does not load it: {row['fault']}")
        if options.url and not row["served"]:
            complain(f"{row['endpoint']}: {options.url} does not show that it serves this version: {row['function']}")
    if options.url and rows and all(row["served"] for row in rows):
        announce("An instance of the function serves these versions. Others follow within the time of RefreshSeconds.")


def _cells(row: JSONObject) -> list[str | int]:
    origin = [row["endpoint"], _short(row["version"]), row["at"], row["by"], _short(row["commit"])]
    answers = ["yes" if row[key] else "no" for key in ("loads", "served") if key in row]
    return [*origin, len(row["tools"]), row["bytes"], str(row["format"] or ""), *answers]


def _show_versions(endpoint: str, versions: Sequence[JSONObject]) -> None:
    rows: list[list[str]] = []
    for version in versions:
        what = "removal" if version["removal"] else "current" if version["current"] else ""
        restores = f"restores {_short(version['restores'])}" if version["restores"] else ""
        remark = ", ".join(filter(None, (what, restores)))
        rows.append([version["version"], version["at"], version["by"], _short(version["commit"]), remark])
    if rows:
        title = f"{endpoint}: {counted(len(rows), 'version')}, the newest first"
        show_table(title, ["version", "published", "by", "commit", "what"], rows)


def _short(text: str) -> str:
    return text[:SHORT_CHARS]
