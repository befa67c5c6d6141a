"""``stile diff``: the differences between two versions of endpoints, by caller."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from handler.audience.ways import Published, version_in, version_of
from handler.bundle.stored import bundle_key, older_bundle_keys
from handler.commands.changes.endpoint_changes import EndpointChanges, compare, markdown, text_lines
from handler.commands.command_line import BREAKING, DIFFERENT, DONE, NOT_COMPARED, OPENING
from handler.commands.console import complain, say, show_json, show_verbatim
from handler.commands.folders.endpoints import add_compile_options, explain_all, find_endpoints
from handler.commands.publishing.destination import endpoints_in_bucket
from handler.compiler.compile import uncollected
from handler.errors.infrastructure import BundleError, ObjectNotFound, StorageError
from handler.http.client import HttpClient
from handler.storage.location import open_storage
from handler.storage.storage import Storage

EXAMPLES = (
    "stile diff s3://bucket/prefix endpoints --stage prod",
    "stile diff ../main/endpoints endpoints --markdown",
)
EXIT_CODES = {
    DONE: "there are no differences",
    DIFFERENT: "there are differences, none of them breaking",
    BREAKING: "there are breaking differences",
    NOT_COMPARED: "the versions could not be compared: see standard error",
    OPENING: "there are openings, which publish stores with --allow-open, and no breaking differences",
    OPENING | BREAKING: "there are openings and breaking differences",
}

Side = Mapping[str, Published]
"""The versions of one side by the name of the endpoint."""

SOURCE = "a folder of endpoints, or s3://bucket/prefix or a folder with published bundles"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=_source, metavar="A", help=f"the version before: {SOURCE}")
    parser.add_argument("after", type=_source, metavar="B", help=f"the version now: {SOURCE}")
    add_compile_options(parser)
    parser.add_argument(
        "--before-stage", metavar="STAGE", help="the stage of A, if it is a folder of endpoints; without it, --stage"
    )
    parser.add_argument(
        "--prune", action="store_true", help="count endpoints that only the published side has as removed or added"
    )
    parser.add_argument("--full", action="store_true", help="print every coordinate")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for another program")
    form.add_argument("--markdown", action="store_true", help="print Markdown for a pull request")


@uncollected()
def run(options: argparse.Namespace) -> int:
    try:
        return _run(options)
    except (StorageError, BundleError) as exc:
        complain(str(exc))
        return NOT_COMPARED


def _run(options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        # A source has published bundles if it is not a folder of endpoints.
        sources = (options.before, options.after)
        published = [each.startswith("s3://") or not any(find_endpoints(Path(each))) for each in sources]
        sides = _sides(options, published, stack)
        if sides is None:
            return NOT_COMPARED
        before, after = sides
        notes = []
        pairs = [(before.get(name), after.get(name)) for name in {**before, **after}]
        if len(before) == len(after) == 1 and before.keys() != after.keys() and not any(published):
            (was,), (now,) = before, after
            notes = [f"{was} is compared with {now}: each side has one endpoint"]
            pairs = [(before[was], after[now])]
        if not pairs:
            raise StorageError(options.after, "no side has an endpoint to compare")
        differences = [compare(*pair) for pair in pairs]
    _show(options, differences, notes)
    code = BREAKING * any(each.breaking for each in differences) | OPENING * any(each.opening for each in differences)
    return code or (DIFFERENT if any(not each.is_empty for each in differences) else DONE)


def _sides(options: argparse.Namespace, published: Sequence[bool], stack: ExitStack) -> list[Side] | None:
    """Read both sides, folders first: they may name the endpoints to read; ``None`` after printing problems.

    Raises:
        StorageError: a destination does not answer, or may not be listed.
        BundleError: an object is not a bundle that this release reads, or two folders make one endpoint.
        SettingsError: an AWS variable is missing or malformed.
    """
    sources, stages = (options.before, options.after), (options.before_stage or options.stage, options.stage)
    sides: list[Side] = [{}, {}]
    for place in sorted((0, 1), key=published.__getitem__):
        source = sources[place]
        if not published[place]:
            side = _compiled_side(Path(source), stage=stages[place], endpoint=options.endpoint)
            if side is None:
                return None
            sides[place] = side
            continue
        names: Sequence[str] | None = [options.endpoint] if options.endpoint else None
        if not published[1 - place] and not options.prune:
            names = list(sides[1 - place])
        http = HttpClient()
        stack.callback(http.close)
        storage = open_storage(source, http=http, environ=os.environ)
        sides[place] = _published_side(storage, source, names=_names_in(source) if names is None else names)
    return sides


def _compiled_side(folder: Path, *, stage: str | None, endpoint: str | None) -> Side | None:
    """Compile the endpoints at or below a folder; ``None`` after printing their problems."""
    endpoints = explain_all(folder, stage=stage, endpoint=endpoint)
    versions: dict[str, Published] = {}
    for each, compiled, provenance in endpoints or ():
        name = compiled.bundle.endpoint
        if name in versions:
            raise BundleError(f'the endpoint "{name}" is made by two folders, the second is {each.as_posix()}')
        versions[name] = version_of(compiled, provenance=provenance, folder=each)
    return None if endpoints is None else versions


def _published_side(storage: Storage, source: str, *, names: Sequence[str]) -> Side:
    """Read the bundles of endpoints from a destination."""
    versions: dict[str, Published] = {}
    for name in names:
        for key in (bundle_key(name), *older_bundle_keys(name)):
            try:
                stored = storage.read(key)
            except ObjectNotFound:
                continue
            if stored is None:
                continue
            try:
                versions[name] = version_in(storage, stored.body, endpoint=name)
            except BundleError as exc:
                raise BundleError(f"{source}/{key}: {exc}") from exc
            break
    return versions


def _names_in(source: str) -> list[str]:
    """Return the names of the endpoints at a destination."""
    patterns = (bundle_key("*/*"), *older_bundle_keys("*/*"))
    if source.startswith("s3://"):
        names = endpoints_in_bucket(source, patterns=patterns)
        if names is None:
            raise StorageError(source, "the credentials may not list the bucket, which s3:ListBucket allows")
        return names
    folder = Path(source)
    if not folder.is_dir():
        raise StorageError(source, "it is a file: expected a folder" if folder.exists() else "there is no such folder")
    return sorted({each.parent.relative_to(folder).as_posix() for pattern in patterns for each in folder.glob(pattern)})


def _show(options: argparse.Namespace, differences: Sequence[EndpointChanges], notes: Sequence[str]) -> None:
    differing = [each for each in differences if not each.is_empty]
    if options.json:
        answer: Mapping[str, object] = {
            "breaking": any(each.breaking for each in differences),
            "opening": any(each.opening for each in differences),
            "endpoints": [each.as_json() for each in differing],
            "compared": len(differences),
            "notes": list(notes),
        }
        show_json(answer)
    elif options.markdown:
        show_verbatim(markdown(differing, notes=notes).rstrip("\n"))
    else:
        for each in differing:
            for line in text_lines(each, full=options.full):
                say(line)
        if not differing:
            say("There are no differences.")
        for note in notes:
            say(f"note: {note}")


def _source(text: str) -> str:
    if not text or (not text.startswith("s3://") and not Path(text).is_dir()):
        fault = "it is a file" if text and Path(text).exists() else "there is no such folder"
        branch = f" (for a branch: git worktree add ../{text} {text})" if re.fullmatch(r"[\w.-]+", text) else ""
        raise argparse.ArgumentTypeError(f'"{text}": {fault}; expected {SOURCE}{branch}')
    return text
