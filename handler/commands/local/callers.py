"""The caller of a command: ``--as claims.json`` or ``--as anonymous``; by default a caller who skips policies."""

from __future__ import annotations

import argparse
from pathlib import Path

from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal
from handler.strict_json import parse_json

NOBODY = "anonymous"

EXPECTED = 'expected a JSON object of claims, such as {"sub": "ada"}'


def add_caller_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--as``."""
    parser.add_argument(
        "--as",
        dest="caller",
        metavar="CLAIMS",
        type=_principal,
        default=DEVELOPMENT,
        help="a JSON file with the claims of a token, or anonymous; without it, a caller who skips policies",
    )


def _principal(text: str) -> Principal:
    if text == NOBODY:
        return ANONYMOUS
    try:
        claims = parse_json(Path(text).read_bytes())
    except OSError as exc:
        raise argparse.ArgumentTypeError(
            f"{text}: cannot be read ({exc.strerror}); expected a file or {NOBODY}"
        ) from exc
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text}: invalid JSON: {exc}; {EXPECTED}") from exc
    if not isinstance(claims, dict):
        raise argparse.ArgumentTypeError(f"{text}: {EXPECTED}")
    return Principal(kind="token", name=text, claims=claims)
