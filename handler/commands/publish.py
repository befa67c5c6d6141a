"""``stile publish``: endpoint folders, compiled, compared with the stored versions and stored."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from handler.commands.folders.endpoint_folders import add_folder_arguments, find_endpoints
from handler.commands.folders.endpoints import compile_or_complain
from handler.commands.published.deployed import tell_of_needs
from handler.commands.published.facts import PublishFacts, gather_facts
from handler.commands.published.publication import Publication
from handler.commands.published.publish_checks import are_publishable, tell_of_secrets, warn_of_questions
from handler.commands.published.publish_consent import may_publish
from handler.commands.published.publish_plan import Leftover, find_leftovers, plan_publish
from handler.commands.published.publish_report import PublishReport
from handler.commands.terminal.console import complain, warn
from handler.commands.terminal.exit_codes import REFUSED, USAGE
from handler.compiler.compile import Compiled
from handler.errors import StileError
from handler.errors.infrastructure import StorageDenied, StorageError
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import PublishStorage

EXAMPLES = (
    "stile publish endpoints s3://bucket/prefix --stage prod",
    "stile publish endpoints s3://bucket/prefix --dry-run",
)
EXIT_CODES = {REFUSED: "an endpoint has problems, a change is not allowed, or a bundle was not stored"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("destination", type=_destination, metavar="DESTINATION", help="s3://bucket/prefix, or a folder")
    parser.add_argument("--create", action="store_true", help="make the folder DESTINATION if it does not exist")
    parser.add_argument("--dry-run", action="store_true", help="compare, and store nothing")
    parser.add_argument("--allow-breaking", action="store_true", help="publish breaking changes without a question")
    parser.add_argument(
        "--allow-open", action="store_true", help="publish what opens something to everybody, or a new root type"
    )
    parser.add_argument("--prune", action="store_true", help="withdraw published endpoints that FOLDER does not have")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")
    parser.add_argument("--force", action="store_true", help="write unchanged bundles too")


def run(options: argparse.Namespace) -> int:
    fault = _fault_in(options)
    if fault:
        complain(fault)
        return USAGE
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled or not are_publishable(compiled):
        complain("Nothing was published.")
        return REFUSED
    tell_of_needs(compiled, options.destination)
    warn_of_questions(compiled)
    tell_of_secrets(compiled)
    try:
        with closing(HttpClient()) as http:
            return _publish(compiled, _open(options, http), options)
    except StileError as exc:
        complain(str(exc))
        complain("Nothing was published.")
        return REFUSED


def _publish(compiled: Sequence[Compiled], storage: PublishStorage, options: argparse.Namespace) -> int:
    """Compare, ask, store and report.

    Raises:
        StorageError: the comparison failed, and nothing was stored.
    """
    try:
        planned = plan_publish(compiled, storage)
        leftovers = _leftovers([each.name for each in planned], storage, options)
        report = PublishReport(planned, leftovers, location=storage.location, options=options)
        report.tell_plan()
        if options.prune and leftovers:
            _warn_of_no_way_back(storage)
        if options.dry_run or not may_publish(planned, leftovers if options.prune else (), options):
            return report.end_unpublished()
        chosen = [each for each in planned if options.force or each.what != "unchanged"]
        is_needed = chosen or (options.prune and leftovers)
        facts = gather_facts(options.folder, options.destination, os.environ) if is_needed else PublishFacts()
    except KeyboardInterrupt:
        complain("Nothing was published.")
        raise
    publication = Publication(storage, force=options.force)
    if is_needed:
        publication.publish(chosen, facts)
        if options.prune and publication.is_whole:
            publication.withdraw(leftovers, facts)
    return report.end(publication)


def _leftovers(names: Sequence[str], storage: PublishStorage, options: argparse.Namespace) -> Sequence[Leftover]:
    """Return the stored endpoints that the folder does not have; none if the folder is that of one endpoint."""
    if _is_one_endpoint(options):
        return ()
    try:
        return find_leftovers(names, storage, with_etags=options.prune)
    except StorageDenied:
        if options.prune:
            raise
        return ()


def _warn_of_no_way_back(storage: PublishStorage) -> None:
    try:
        keeps = storage.keeps_versions()
    except StorageError:  # a publisher needs no right to ask, and some substitutes of S3 have no answer
        return
    if not keeps:
        warn(f"{storage.location} keeps no versions: only a publish brings a withdrawn endpoint back.")


def _open(options: argparse.Namespace, http: HttpClient) -> PublishStorage:
    if options.create and not options.destination.startswith("s3://") and not options.dry_run:
        try:
            Path(options.destination).mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StorageError(options.destination, f"cannot be made a folder: {exc.strerror or exc}") from exc
    return open_publish_storage(options.destination, http=http, environ=os.environ)


def _fault_in(options: argparse.Namespace) -> str:
    """Return the reason why the arguments do not fit together; empty string if they do."""
    if options.prune and _is_one_endpoint(options):
        return "--prune compares all endpoints: FOLDER has to be above them, and --endpoint names one"
    folder = None if options.destination.startswith("s3://") else Path(options.destination)
    if folder and folder.exists() and not folder.is_dir():
        return f"{options.destination} is a file; expected s3://bucket/prefix, or a folder"
    if folder and not options.create and not folder.exists():
        return f"{options.destination}: there is no such folder; {_meant(options.destination)}"
    return ""


def _is_one_endpoint(options: argparse.Namespace) -> bool:
    return options.endpoint is not None or options.folder in find_endpoints(options.folder)


def _meant(destination: str) -> str:
    """Return the remedies for a destination that does not exist: ``s3://`` before it, or ``--create``."""
    bucket = _BUCKET.match(destination)
    question = f"did you mean s3://{destination}? " if bucket else ""
    return f"{question}--create makes the folder"


def _destination(text: str) -> str:
    """Refuse a slip such as ``s3:/bucket``: as a folder's name, it would let a publish succeed in the wrong place."""
    if not text or (_OTHER_SCHEME.match(text) and not text.startswith("s3://")):
        raise argparse.ArgumentTypeError(f'"{text}": expected s3://bucket/prefix, or a folder')
    return text


_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/|$)")
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
