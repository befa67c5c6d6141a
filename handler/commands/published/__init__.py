from __future__ import annotations

import argparse

from handler.commands.schema_source.source_options import add_header_argument
from handler.commands.terminal.exit_codes import REFUSED

EXAMPLES = (
    "stile published s3://bucket/prefix",
    "stile published s3://bucket/prefix --url https://mcp.example.com -H 'X-API-Key: $STILE_KEY' --wait 120",
)
EXIT_CODES = {
    REFUSED: "a function of this release would not load an endpoint, or the running function does not serve it"
}

MAX_WAIT_S = 3_600

OWN_MACHINE = ("127.0.0.1", "::1", "localhost")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("destination", metavar="DESTINATION", help="s3://bucket/prefix, or a folder")
    parser.add_argument("endpoints", metavar="FOLDER/NAME", nargs="*", help="an endpoint; by default all of them")
    parser.add_argument("--versions", action="store_true", help="list the versions of each endpoint, newest first")
    parser.add_argument("--url", metavar="URL", type=_url, help="ask the function at URL if it serves them")
    add_header_argument(parser, to="the function")
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_wait,
        default=0,
        help="with --url, ask again until all are served, so long at most",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    from handler.commands.published.publication_report import (
        report,
    )  # only this command needs it, and this package has many others

    return report(options)


def _url(text: str) -> str:
    """Return the base URL of a function without a final slash. Credentials travel over TLS, or stay on this machine."""
    from urllib.parse import urlsplit

    if "@" in text or not text.isascii() or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("expected a URL without credentials and with escapes: -H takes credentials")
    try:
        parts = urlsplit(text)
        is_valid = bool(parts.hostname) and parts.port != 0 and not (parts.query or parts.fragment)
    except ValueError:
        is_valid = False
    if not is_valid or not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in OWN_MACHINE)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected https://host, or http://localhost:port")
    return text.rstrip("/")


def _wait(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) <= MAX_WAIT_S:
        raise argparse.ArgumentTypeError(f"{text!r}: expected seconds, up to {MAX_WAIT_S}")
    return int(text)
