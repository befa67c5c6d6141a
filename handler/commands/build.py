"""``stile build``: bundles of endpoint folders, in a folder on this machine."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from handler.commands.command_line import DONE, REFUSED, UsageRefused, current_answer
from handler.commands.console import ERR, OUT, complain, say, show_document, track
from handler.commands.folders.endpoints import add_folder_arguments, compile_or_complain
from handler.commands.publishing.bundle_parts import BundleChange, changed_parts
from handler.commands.publishing.checks import are_free_of_secrets, warn_of_upstreams
from handler.compiler.compile import Compiled
from handler.compiler.source.files import ENTRY
from handler.errors import StileError
from handler.errors.infrastructure import ObjectNotFound, StorageError
from handler.storage.local import FolderStorage
from handler.text.sentences import counted

EXAMPLES = ("stile build endpoints --out bundles",)
EXIT_CODES = {REFUSED: "an endpoint has problems, or a bundle was not written"}

DEFAULT_OUT = ".stile/bundles"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument(
        "--out", type=_folder, default=DEFAULT_OUT, metavar="DIR", help="where to write (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def _folder(text: str) -> str:
    if "://" in text:
        raise argparse.ArgumentTypeError(f"{text}: expected a folder; `stile publish` stores bundles in S3")
    return text


def run(options: argparse.Namespace) -> int:
    refuse_sources(options.folder, Path(options.out))
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled or not are_free_of_secrets(compiled):
        complain("Nothing was built.")
        return REFUSED
    warn_of_upstreams(compiled)
    changes: list[BundleChange] = []
    try:
        storage = FolderStorage(make_folder(options.out))
        for one in track(compiled, "Storing", ERR if current_answer() else OUT, name=lambda one: one.bundle.endpoint):
            changes.append(_store(one, storage))
            say(changes[-1].line())
    except StileError as exc:
        complain(str(exc))
    except KeyboardInterrupt:
        complain("Interrupted.")
    # Bundles that were stored before a failure stay.
    rest = [one.bundle.endpoint for one in compiled[len(changes) :]]
    if rest:
        complain(f"Stored: {', '.join(change.name for change in changes) or 'nothing'}.")
        complain(f"Not stored (unchanged): {', '.join(rest)}. Run the command again.")
    else:
        say(f"{counted(len(changes), 'endpoint')} in {options.out}", "green")
    document = {"location": options.out, "endpoints": [change.plain() for change in changes], "notStored": rest}
    return show_document(document, REFUSED if rest else DONE)


def _store(one: Compiled, storage: FolderStorage) -> BundleChange:
    """Store a bundle in one atomic write after its schema index, and return the change."""
    *indexes, (key, raw) = one.objects()
    stored = None
    with suppress(ObjectNotFound):
        stored = storage.read(key)
    for index, content in indexes:
        storage.write(index, content)
    storage.write(key, raw)
    before = stored.body if stored else None
    what = "new" if before is None else "unchanged" if before == raw else "changed"
    return BundleChange(name=one.bundle.endpoint, what=what, parts=changed_parts(one.bundle, before))


def refuse_sources(folder: Path, destination: Path) -> None:
    """Refuse to store bundles beside the sources of endpoints."""
    if destination.resolve() == folder.resolve() or (destination / ENTRY).is_file():
        raise UsageRefused(f"{destination} holds the sources of endpoints: bundles belong in another folder")


def make_folder(destination: str) -> Path:
    """Make the folder of a destination, if it does not exist.

    Raises:
        StorageError: it cannot be made.
    """
    try:
        Path(destination).mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        cause = f"cannot be made ({exc.strerror or exc}): name a folder that you can write to"
        raise StorageError(destination, cause) from exc
    return Path(destination)
