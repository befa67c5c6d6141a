"""``stile gc``: the stored schemas that no kept version of an endpoint needs."""

from __future__ import annotations

import argparse
from contextlib import closing

from handler.commands.published.endpoint_place import open_published
from handler.commands.published.unused_indexes import MIN_AGE, UnusedIndex, discard_indexes, find_unused
from handler.commands.terminal.console import complain, say, show_json
from handler.commands.terminal.exit_codes import DONE, REFUSED
from handler.errors import StileError
from handler.http.client import HttpClient
from handler.storage.publishing import PublishStorage
from handler.text.sentences import counted

EXAMPLES = ("stile gc s3://bucket/prefix", "stile gc s3://bucket/prefix --delete")
EXIT_CODES = {REFUSED: "a version could not be read, or the bucket keeps no versions; nothing was deleted"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("destination", metavar="DESTINATION", help="s3://bucket/prefix, or a folder")
    parser.add_argument("--delete", action="store_true", help="delete the schemas; without it they are only listed")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    try:
        with closing(HttpClient()) as http:
            storage = open_published(options.destination, http)
            return _collect(storage, options)
    except StileError as exc:
        complain(str(exc))
    return REFUSED


def _collect(storage: PublishStorage, options: argparse.Namespace) -> int:
    if not storage.keeps_versions():
        complain(f"{storage.location} keeps no versions, so a schema could be deleted that is published meanwhile.")
        return REFUSED
    unused = find_unused(storage)
    deleted = discard_indexes(storage, unused) if options.delete else []
    if options.json:
        plain = [{**each.plain(), "deleted": each in deleted} for each in unused]
        show_json({"location": storage.location, "deletes": options.delete, "indexes": plain})
        return DONE
    for each in unused:
        say(each.line())
    _sum_up(unused, deleted, options)
    return DONE


def _sum_up(unused: list[UnusedIndex], deleted: list[UnusedIndex], options: argparse.Namespace) -> None:
    chosen = deleted if options.delete else unused
    size = f"{sum(each.size for each in chosen):,} bytes"
    if options.delete:
        say(f"{counted(len(deleted), 'schema')} deleted, {size}", "green")
    elif unused:
        say(f"{counted(len(unused), 'schema')}, {size}, that no kept version names. --delete deletes them.")
    else:
        say(f"No schema is older than {MIN_AGE.days} days and without a version that names it.")
