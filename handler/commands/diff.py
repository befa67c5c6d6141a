"""``stile diff``: the differences between two versions of endpoints, by caller."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from handler.audience.ways import Published, version_in, version_of
from handler.bundle.stored import bundle_key, older_bundle_keys
from handler.commands.changes.endpoint_changes import EndpointChanges, compare, markdown, text_lines
from handler.commands.command_line import BREAKING, DIFFERENT, DONE, NOT_COMPARED, OPENING
from handler.commands.console import ERR, complain, complain_of, say, show_json, show_verbatim, track
from handler.commands.folders.endpoint_folders import add_compile_options, find_endpoints
from handler.commands.publishing.destination import endpoints_in_bucket
from handler.compiler.compile import compile_explained
from handler.errors.authoring import CompileError
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


def run(options: argparse.Namespace) -> int:
    gc.disable()  # the syntax trees of schemas stay until the end, and scanning them takes long
    try:
        return _run(options)
    except (StorageError, BundleError) as exc:
        complain(str(exc))
        return NOT_COMPARED
    finally:
        gc.enable()


def _run(options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        sides = _sides(options, stack)
        if sides is None:
            return NOT_COMPARED
        pairs, notes = _pairs(*sides)
        if not pairs:
            raise StorageError(options.after, "no side has an endpoint to compare")
        found = [compare(before, after) for before, after in pairs]
    _show(options, found, notes)
    code = BREAKING * any(each.breaking for each in found) | OPENING * any(each.opening for each in found)
    return code or (DIFFERENT if any(not each.is_empty for each in found) else DONE)


def _sides(options: argparse.Namespace, stack: ExitStack) -> tuple[Side, Side] | None:
    """Read both sides, folders first: they may name the endpoints to read; ``None`` after printing problems."""
    sources, stages = (options.before, options.after), (options.before_stage or options.stage, options.stage)
    sides: list[Side | None] = [None, None]
    destinations = [is_destination(source) for source in sources]
    for place, source in enumerate(sources):
        if not destinations[place]:
            sides[place] = compiled_side(Path(source), stage=stages[place], endpoint=options.endpoint)
            if sides[place] is None:
                return None
    names: Sequence[str] | None = [options.endpoint] if options.endpoint else None
    for place, source in enumerate(sources):
        if destinations[place]:
            other = sides[1 - place]
            wanted = list(other.versions) if other and not other.published and not options.prune else names
            sides[place] = published_side(stack.enter_context(opened(source)), source, names=wanted)
    before, after = sides
    return (before, after) if before and after else None


def _pairs(before: Side, after: Side) -> tuple[list[tuple[Published | None, Published | None]], list[str]]:
    """Return the versions of each endpoint, and notes on what is not compared."""
    old, new = dict(before.versions), dict(after.versions)
    if len(old) == len(new) == 1 and old.keys() != new.keys() and not before.published and not after.published:
        (was,), (now,) = old, new
        return [(old[was], new[now])], [f"{was} is compared with {now}: each side has one endpoint"]
    return [(old.get(name), new.get(name)) for name in {**old, **new}], []


def _show(options: argparse.Namespace, found: Sequence[EndpointChanges], notes: Sequence[str]) -> None:
    differing = [each for each in found if not each.is_empty]
    if options.json:
        answer: Mapping[str, object] = {
            "breaking": any(each.breaking for each in found),
            "opening": any(each.opening for each in found),
            "endpoints": [each.as_json() for each in differing],
            "compared": len(found),
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
        raise argparse.ArgumentTypeError(f'"{text}": {fault}; expected {SOURCE}')
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: the versions by the name of the endpoint. ``published``: read from a destination."""

    versions: Mapping[str, Published]
    published: bool


def is_destination(source: str) -> bool:
    """Return whether a source has published bundles, and is not a folder of endpoints."""
    return source.startswith("s3://") or not any(find_endpoints(Path(source)))


def compiled_side(folder: Path, *, stage: str | None, endpoint: str | None) -> Side | None:
    """Compile the endpoints at or below a folder; ``None`` after printing their problems."""
    found: dict[str, Published] = {}
    problems = 0
    folders = list(find_endpoints(folder))
    for each in track(folders, "Compiling", ERR, name=Path.as_posix):
        try:
            compiled, provenance = compile_explained(each, stage=stage, endpoint=endpoint, environ=os.environ)
        except CompileError as exc:
            problems += len(exc.problems)
            for problem in exc.problems:
                complain_of(problem, each)
            continue
        name = compiled.bundle.endpoint
        if name in found:
            raise BundleError(f'the endpoint "{name}" is made by two folders, the second is {each.as_posix()}')
        found[name] = version_of(compiled, provenance=provenance, folder=each)
    return None if problems else Side(versions=found, published=False)


@contextmanager
def opened(source: str) -> Iterator[Storage]:
    """Open a destination until the block ends.

    Raises:
        StorageError: the location is not valid.
        SettingsError: an AWS variable is missing or malformed.
    """
    http = HttpClient()
    try:
        yield open_storage(source, http=http, environ=os.environ)
    finally:
        http.close()


def published_side(storage: Storage, source: str, *, names: Sequence[str] | None) -> Side:
    """Read the bundles of endpoints from a destination; ``None`` for all that it has.

    Raises:
        StorageError: the destination does not answer, or may not be listed.
        BundleError: an object is not a bundle that this release reads.
    """
    found: dict[str, Published] = {}
    for name in names_in(source) if names is None else names:
        for key in (bundle_key(name), *older_bundle_keys(name)):
            try:
                stored = storage.read(key)
            except ObjectNotFound:
                continue
            if stored is None:
                continue
            try:
                found[name] = version_in(storage, stored.body, endpoint=name)
            except BundleError as exc:
                raise BundleError(f"{source}/{key}: {exc}") from exc
            break
    return Side(versions=found, published=True)


def names_in(source: str) -> list[str]:
    """Return the names of the endpoints at a destination.

    Raises:
        StorageError: the destination does not answer, or may not be listed.
    """
    if source.startswith("s3://"):
        names = endpoints_in_bucket(source, patterns=_BUNDLES)
        if names is None:
            raise StorageError(source, "the credentials may not list the bucket, which s3:ListBucket allows")
        return names
    folder = Path(source)
    if not folder.is_dir():
        raise StorageError(source, "it is a file: expected a folder" if folder.exists() else "there is no such folder")
    found = [each for pattern in _BUNDLES for each in folder.glob(pattern)]
    return sorted({each.parent.relative_to(folder).as_posix() for each in found})


_BUNDLES = (bundle_key("*/*"), *older_bundle_keys("*/*"))
