from __future__ import annotations

import argparse
import re
from pathlib import Path

from handler.commands.console import complain
from handler.commands.exit_codes import REFUSED, USAGE
from handler.commands.folders.endpoint_folders import add_folder_arguments
from handler.commands.folders.endpoints import compile_or_complain
from handler.commands.published.bundle_store import store_all
from handler.commands.published.deployed import tell_of_needs
from handler.commands.published.publish_checks import are_publishable, tell_of_secrets, warn_of_questions

EXAMPLES = ("stile publish endpoints s3://bucket/prefix --stage prod",)
EXIT_CODES = {REFUSED: "an endpoint has problems, or a bundle was not stored"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("destination", type=_destination, metavar="DESTINATION", help="s3://bucket/prefix, or a folder")
    parser.add_argument("--create", action="store_true", help="make the folder DESTINATION if it does not exist")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")
    parser.add_argument("--force", action="store_true", help="write unchanged bundles too")


def run(options: argparse.Namespace) -> int:
    if not options.create and not options.destination.startswith("s3://") and not Path(options.destination).exists():
        complain(f"{options.destination}: there is no such folder; {_meant(options.destination)}")
        return USAGE
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled or not are_publishable(compiled):
        complain("Nothing was published.")
        return 1
    tell_of_needs(compiled, options.destination)
    warn_of_questions(compiled)
    tell_of_secrets(compiled)
    return store_all(compiled, options.destination, force=options.force, as_json=options.json)


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
