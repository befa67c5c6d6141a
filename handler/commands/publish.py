"""``stile publish``: endpoint folders, compiled, compared with the stored versions and stored."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from handler.bundle.stored import bundle_key
from handler.code_tools.modules import is_among
from handler.commands.build import make_folder, refuse_sources
from handler.commands.command_line import DONE, REFUSED, UsageRefused, add_http_option
from handler.commands.console import complain, say, show_document, warn
from handler.commands.folders.endpoint_records import EndpointRecords
from handler.commands.folders.endpoints import Record, add_folder_arguments, compile_all, complain_about, find_endpoints
from handler.commands.publishing.checks import (
    are_publishable,
    http_sentences,
    publish_rules,
    secret_places,
    state_key_warnings,
)
from handler.commands.publishing.destination import warn_of_format
from handler.commands.publishing.facts import PublishFacts, gather_facts
from handler.commands.publishing.publication import (
    Leftovers,
    PlannedEndpoint,
    Publication,
    find_leftovers,
    plan_publish,
)
from handler.commands.questions import can_ask, choose
from handler.compiler.compile import Compiled
from handler.errors import StileError
from handler.errors.infrastructure import StorageDenied, StorageError
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import PublishStorage, possible_etags
from handler.text.sentences import counted, some

EXAMPLES = (
    "stile publish endpoints s3://bucket/prefix --stage prod",
    "stile publish endpoints s3://bucket/prefix --dry-run",
)
EXIT_CODES = {REFUSED: "an endpoint has problems, a change is not allowed, or a bundle was not stored"}

EXTRAS_TAG = "stile:extras"
MODULES_TAG = "stile:code-modules"
"""The bucket's tags in infra/storage.yaml: names separated by spaces, because tag values take no commas."""

MAX_NAMED = 20
MAX_UNCHANGED = 20
"""The number of unchanged endpoints up to which each has a line."""


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
    add_http_option(parser)
    parser.add_argument("--force", action="store_true", help="write unchanged bundles too")


def run(options: argparse.Namespace) -> int:
    _require_fitting(options)
    records = EndpointRecords("publish", options, os.environ)

    @cache
    def stored_etags() -> Mapping[str, str]:
        if not (options.force or _is_one_endpoint(options)):
            with suppress(StileError), closing(HttpClient()) as http:  # the comparison reports it
                return open_publish_storage(options.destination, http=http, environ=os.environ).etags()
        return {}

    def find_stored(folder: Path) -> Record | None:
        record = records.find(folder)
        objects = record["objects"].items() if record else ()
        return record if all(stored_etags().get(key) in expected for key, expected in objects) else None

    outcomes = compile_all(
        options.folder,
        stage=options.stage,
        endpoint=options.endpoint,
        tested=True,
        schemas=records.cache,
        find_record=find_stored,
    )
    complain_about(outcomes)
    compiled = [outcome.compiled for outcome in outcomes if outcome.compiled]
    is_folder = not options.destination.startswith("s3://")
    rules = replace(publish_rules(), http_hosts=tuple(options.allow_http)) if is_folder else None
    if any(outcome.problems for outcome in outcomes) or not are_publishable(compiled, rules=rules):
        complain("Nothing was published.")
        return REFUSED
    made = map(_record, compiled)
    endpoints = [outcome.record or next(made) for outcome in outcomes]
    records.keep(zip(outcomes, endpoints, strict=True))
    for sentence in (each for record in endpoints for each in record["http"]):
        warn(sentence)
    _warn_of_needs(endpoints, options.destination)
    for sentence in (each for kind in ("questions", "secrets") for record in endpoints for each in record[kind]):
        warn(sentence)
    try:
        with closing(HttpClient()) as http:
            if options.create and not options.destination.startswith("s3://") and not options.dry_run:
                make_folder(options.destination)
            storage = open_publish_storage(options.destination, http=http, environ=os.environ)
            return _publish(compiled, endpoints, storage, options)
    except StileError as exc:
        complain(str(exc))
        complain("Nothing was published.")
        return REFUSED


def _record(compiled: Compiled) -> Record:
    """Return all of an endpoint that a publish prints, and the etags of its objects if they are stored."""
    bundle = compiled.bundle
    return {
        "endpoint": bundle.endpoint,
        "modules": list(dict.fromkeys(kit.use.partition(":")[0] for kit in bundle.code)),
        "tokens": bool(bundle.identity.issuers),
        "http": list(http_sentences(bundle)),
        "questions": state_key_warnings(compiled),
        "secrets": secret_places(compiled),
        "objects": {key: possible_etags(body) for key, body in compiled.objects()},
    }


def _warn_of_needs(records: Sequence[Record], destination: str) -> None:
    """Print the endpoints' needs that the function lacks; all needs if nothing is known of the function.

    A need never stops a publish: another person may build and deploy, before or after. The function serves a published
    bundle as soon as it can. Of a folder, which no function reads, only new endpoints are noted.
    """
    if not destination.startswith("s3://"):
        records = [each for each in records if not (Path(destination) / bundle_key(each["endpoint"])).exists()]
    if not list(_unmet_needs(records, {})):
        return
    tags: Mapping[str, str] = {}
    fault = ""
    if destination.startswith("s3://"):
        try:
            with closing(HttpClient()) as http:
                storage = open_publish_storage(destination, http=http, environ=os.environ)
                tags = storage.read_tags()
            if not {EXTRAS_TAG, MODULES_TAG} <= set(tags):
                tags, fault = {}, f"{storage.location}: the bucket has no tags {EXTRAS_TAG} and {MODULES_TAG}"
        except StorageError as exc:
            fault = str(exc)
        except StileError:
            fault = ""  # storing reports it too
    for sentence in _unmet_needs(records, tags):
        warn(sentence)
    if fault:
        warn(f"The parts of the deployed function could not be compared. {fault}")


def _unmet_needs(records: Sequence[Record], tags: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence on each extra and module that the function's build lacks; all that are needed without tags."""
    needs: dict[tuple[str, str, str], list[str]] = {}  # the function's task, a part of its build, its parameter
    extras, modules = tags.get(EXTRAS_TAG, "").split(), tags.get(MODULES_TAG, "").split()
    if "code" not in extras:
        with_code = [each["endpoint"] for each in records if each["modules"]]
        needs["runs tools in Python", "the extra code", "Extras"] = with_code
    if "jwt" not in extras:
        with_tokens = [each["endpoint"] for each in records if each["tokens"]]
        needs["reads tokens", "the extra jwt", "Extras"] = with_tokens
    for record in records:
        for module in record["modules"]:
            if not is_among(module, modules):
                need = ("runs these tools in Python", f"the module {module}", "CodeModules")
                needs.setdefault(need, []).append(record["endpoint"])
    lacks = ", which the deployed function lacks" if tags else ""
    for (task, part, parameter), names in needs.items():
        if names:
            add_it = f"add it to {parameter} in samconfig.toml, then `sam build` and `sam deploy`"
            yield f"{', '.join(names)}: a function that {task} needs {part}{lacks}: {add_it}"


def _publish(
    compiled: Sequence[Compiled], endpoints: Sequence[Record], storage: PublishStorage, options: argparse.Namespace
) -> int:
    """Compare, ask, store and report.

    Raises:
        StorageError: the comparison failed, and nothing was stored.
    """
    publication = Publication(storage, force=options.force)
    try:
        compared = {each.name: each for each in plan_publish(compiled, storage)}
        names = [each["endpoint"] for each in endpoints]
        planned = [compared.get(name) or PlannedEndpoint(name=name, what="unchanged") for name in names]
        leftovers: Leftovers = {}
        if not _is_one_endpoint(options):
            try:
                leftovers = find_leftovers({*names}, storage.etags())
            except StorageDenied:
                if options.prune:
                    raise
        warn_of_format(storage)
        report = _Report(planned=planned, leftovers=leftovers, location=storage.location, options=options)
        report.show_plan()
        if options.prune and leftovers:
            with suppress(StorageError):  # a publisher needs no right to ask, and some substitutes of S3 have no answer
                if not storage.keeps_versions():
                    warn(f"{storage.location} keeps no versions: only a publish brings a withdrawn endpoint back.")
        withdrawn = leftovers if options.prune else {}
        if options.dry_run or not _may_publish(planned, withdrawn, options):
            return report.end_unpublished(publication)
        is_needed = report.to_store or withdrawn
        facts = gather_facts(options.folder, options.destination, os.environ) if is_needed else PublishFacts()
    except KeyboardInterrupt:
        complain("Nothing was published.")
        raise
    if is_needed:
        publication.publish(report.to_store, facts)
        if publication.is_whole:
            publication.withdraw(withdrawn, facts)
    return report.end(publication)


def _may_publish(planned: Sequence[PlannedEndpoint], gone: Leftovers, options: argparse.Namespace) -> bool:
    """Return whether the changes may be published; complain if one needs a consent that nobody gives."""
    needs = {option: need for option, need in _needed_consents(planned, gone) if not getattr(options, option)}
    if not needs:
        return True
    sentences = " ".join(needs.values())
    if not options.json and can_ask():
        return choose(f"{sentences} Publish?", ("yes", "no"), default="no") == "yes"
    flags = " ".join(f"--{option.replace('_', '-')}" for option in needs)
    complain(f"{sentences} {flags} publishes it.")
    return False


def _needed_consents(planned: Sequence[PlannedEndpoint], gone: Leftovers) -> Iterator[tuple[str, str]]:
    """Yield each option that the changes need, with a sentence on the endpoints."""
    breaking = [*(each.name for each in planned if each.is_breaking), *gone]
    if breaking:
        yield "allow_breaking", f"Breaking for callers: {some(breaking, most=MAX_NAMED)}."
    opening = [each.name for each in planned if each.is_opening]
    if opening:
        yield "allow_open", f"Open to everybody, or a new root type: {some(opening, most=MAX_NAMED)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """The report of a publish, as lines or as one JSON document: its plan, and its outcome after the writes."""

    planned: Sequence[PlannedEndpoint]
    leftovers: Leftovers
    location: str
    options: argparse.Namespace

    @property
    def to_store(self) -> list[PlannedEndpoint]:
        """The endpoints that are written."""
        return [each for each in self.planned if self.options.force or each.what != "unchanged"]

    def show_plan(self) -> None:
        """Print each endpoint with its differences, and the endpoints that the folder does not have."""
        unchanged = [each for each in self.planned if each.what == "unchanged"]
        for each in self.planned:
            if each.what != "unchanged" or len(unchanged) <= MAX_UNCHANGED:
                for line in each.lines():
                    say(line)
        if len(unchanged) > MAX_UNCHANGED:
            say(f"{len(unchanged)} endpoints: unchanged")
        if self.leftovers:
            names = some(list(self.leftovers), most=MAX_NAMED)
            end = "to be withdrawn" if self.options.prune else "--prune withdraws what the folder does not have"
            say(f"Published, and not in {self.options.folder.as_posix()}: {names}; {end}")

    def end_unpublished(self, publication: Publication) -> int:
        """Report the end of a dry run, or of a publish that nobody allowed."""
        if self.options.dry_run:
            needs = _needed_consents(self.planned, self.leftovers if self.options.prune else {})
            say(" ".join(["Nothing was published, because of --dry-run.", *(need for _, need in needs)]))
            return show_document(self._document(publication), DONE)
        complain("Nothing was published.")
        return show_document(self._document(publication), REFUSED)

    def end(self, publication: Publication) -> int:
        """Report the outcome of the writes, and return the exit code."""
        document = self._document(publication)
        if publication.is_whole:
            say(f"{counted(len(self.planned), 'endpoint')} in {self.location}", "green")
            if publication.withdrawn:
                say(f"Withdrawn: {some(publication.withdrawn, most=MAX_NAMED)}")
        else:
            remaining = [name for name in self.leftovers if name not in publication.withdrawn]
            lines = {
                "Stored or not, without an answer: {}.": publication.unconfirmed,
                "Not stored (unchanged): {}. Run the command again.": document["notStored"],
                "Withdrawn: {}.": publication.withdrawn,
                "Not known to be withdrawn: {}. Run the command again.": remaining if self.options.prune else (),
            }
            complain(f"Stored: {some(document['stored'], most=MAX_NAMED) or 'nothing'}.")
            for line, names in lines.items():
                if names:
                    complain(line.format(some(list(names), most=MAX_NAMED)))
        if any(not head.version for head in publication.stored.values()):
            warn(f"{self.location}: the bucket keeps no versions, and `stile rollback` needs them: turn on versioning")
        return show_document(document, DONE if publication.is_whole else REFUSED)

    def _document(self, publication: Publication) -> dict[str, Any]:
        begun = {*publication.stored, *publication.unconfirmed}
        return {
            "location": self.options.destination,
            "dryRun": self.options.dry_run,
            "endpoints": [each.plain() for each in self.planned],
            "stored": [each.name for each in self.planned if each.name in publication.stored],
            "notStored": [each.name for each in self.to_store if each.name not in begun],
            "unconfirmed": publication.unconfirmed,
            "notInFolder": list(self.leftovers),
            "withdrawn": publication.withdrawn,
        }


def _require_fitting(options: argparse.Namespace) -> None:
    """Refuse arguments that do not fit together.

    Raises:
        UsageRefused: as above.
    """
    if options.prune and _is_one_endpoint(options):
        raise UsageRefused("--prune compares all endpoints: FOLDER has to be above them, and --endpoint names one")
    if options.allow_http and options.destination.startswith("s3://"):
        reason = "the function that reads the bucket asks no API without TLS"
        raise UsageRefused(f"--allow-http is for a folder that `stile serve` serves: {reason}.")
    folder = None if options.destination.startswith("s3://") else Path(options.destination)
    if folder:
        refuse_sources(options.folder, folder)
    if folder and folder.exists() and not folder.is_dir():
        raise UsageRefused(f"{options.destination} is a file; expected s3://bucket/prefix, or a folder")
    if folder and not options.create and not folder.exists():
        question = f"did you mean s3://{options.destination}? " if _BUCKET.match(options.destination) else ""
        raise UsageRefused(f"{options.destination}: there is no such folder; {question}--create makes the folder")


def _is_one_endpoint(options: argparse.Namespace) -> bool:
    return options.endpoint is not None or options.folder in find_endpoints(options.folder)


def _destination(text: str) -> str:
    """Refuse a slip such as ``s3:/bucket``: as a folder's name, it would let a publish succeed in the wrong place."""
    if not text or (_OTHER_SCHEME.match(text) and not text.startswith("s3://")):
        raise argparse.ArgumentTypeError(f'"{text}": expected s3://bucket/prefix, or a folder')
    return text


_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/|$)")
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
