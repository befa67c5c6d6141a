"""``stile remove``: a published endpoint, withdrawn."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress

from handler.bundle.stored import withdrawal_key
from handler.commands.command_line import DONE, REFUSED, CommandRefused
from handler.commands.console import say, show_json, warn
from handler.commands.publishing.destination import (
    EndpointPlace,
    add_endpoint_place,
    bundles_by_endpoint,
    change_published,
    describe_version,
    may_change,
    unmark,
    withdraw,
)
from handler.commands.publishing.facts import gather_facts
from handler.errors.infrastructure import ObjectChanged, ObjectNotFound, StorageDenied
from handler.storage.publishing import PublishStorage
from handler.text.sentences import counted

EXAMPLES = ("stile remove s3://bucket/prefix/shop/orders",)
EXIT_CODES = {REFUSED: "the endpoint is not published, was published meanwhile, or nobody agreed"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_endpoint_place(parser)


def run(options: argparse.Namespace) -> int:
    return change_published(options, _remove)


def _remove(storage: PublishStorage, place: EndpointPlace, options: argparse.Namespace) -> int:
    etags = bundles_by_endpoint(storage.etags()).get(place.endpoint, {})
    if not etags:
        raise CommandRefused(f"{place.endpoint} is not published at {storage.location}")
    try:
        present = describe_version(place.endpoint, *storage.get(place.key))
        by = f" by {present.facts.by}" if present.facts.by else ""
        say(f"{place.endpoint}: {counted(len(present.tools), 'tool')}, published {present.at}{by}")
    except ObjectNotFound:
        say(f"{place.endpoint} has bundles of other formats only")
    keeps = storage.keeps_versions()
    is_restorable = keeps and place.key in etags
    if not is_restorable:
        lacks = "has no version in the format of this release" if keeps else "keeps no versions"
        warn(f"{storage.location} {lacks}: only a publish brings the endpoint back.")
    if not may_change(f"Withdraw {place.endpoint}?", options):
        return REFUSED
    with suppress(StorageDenied):  # without the mark, functions that serve or preload the endpoint report it missing
        storage.add(withdrawal_key(place.endpoint), b"")
    try:
        withdraw(storage, etags, gather_facts(None, place.destination, os.environ))
    except ObjectChanged:
        unmark(storage, place.endpoint)
        raise
    if options.json:
        where = {"endpoint": place.endpoint, "location": storage.location}
        show_json({**where, "what": "removed", "restorable": is_restorable})
    else:
        say(f"{place.endpoint}: removed", "green")
        if is_restorable:
            say(f"`stile rollback {place.destination}/{place.endpoint}` brings it back.")
    return DONE
