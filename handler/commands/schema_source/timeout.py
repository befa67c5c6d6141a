"""The option for the time that an API has to give its schema."""

from __future__ import annotations

import argparse
import math

DEFAULT_S = 30.0
MAX_S = 600.0


def add_timeout_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--timeout``."""
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_S,
        metavar="SECONDS",
        help="the time for the API to give its schema (default: %(default)g)",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.1 <= seconds <= MAX_S:
        raise argparse.ArgumentTypeError(f"{text!r}: expected seconds from 0.1 to {MAX_S:g}")
    return seconds
