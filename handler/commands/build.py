"""``stile build``: bundles of endpoint folders, in a folder on this machine."""

from __future__ import annotations

import argparse

from handler.commands.folders.endpoint_folders import add_folder_arguments
from handler.commands.folders.endpoints import compile_or_complain
from handler.commands.published.bundle_store import store_all
from handler.commands.published.publish_checks import have_no_credentials, have_no_secrets, warn_of_upstreams
from handler.commands.terminal.console import complain
from handler.commands.terminal.exit_codes import REFUSED

EXAMPLES = ("stile build endpoints --out bundles",)
EXIT_CODES = {REFUSED: "an endpoint has problems, or a bundle was not written"}

DEFAULT_OUT = ".stile/bundles"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument(
        "--out", type=_folder, default=DEFAULT_OUT, metavar="DIR", help="where to write (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled or not all([have_no_secrets(compiled), have_no_credentials(compiled)]):
        complain("Nothing was built.")
        return 1
    warn_of_upstreams(compiled)
    return store_all(compiled, options.out, as_json=options.json)


def _folder(text: str) -> str:
    if "://" in text:
        raise argparse.ArgumentTypeError(f"{text}: expected a folder; `stile publish` stores bundles in S3")
    return text
