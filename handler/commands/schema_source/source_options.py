"""The options of commands that read a schema: its source, and the time that an API has to give it."""

from __future__ import annotations

import argparse
import math

from handler.commands.schema_source.origin import SchemaSource, parse_source

DEFAULT_S = 30.0
MAX_S = 600.0


def add_source_argument(parser: argparse.ArgumentParser, *, meaning: str) -> None:
    """Add the argument ``--from``."""
    parser.add_argument("--from", dest="source", type=named_source, metavar="SOURCE", help=meaning)


def add_timeout_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--timeout``."""
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_S,
        metavar="SECONDS",
        help="the time for the API to give its schema (default: %(default)g)",
    )


def named_source(text: str) -> SchemaSource:
    """Parse a URL or a file's name for argparse, whose own message would quote the URL."""
    try:
        return parse_source(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.1 <= seconds <= MAX_S:
        raise argparse.ArgumentTypeError(f"{text!r}: expected seconds from 0.1 to {MAX_S:g}")
    return seconds
