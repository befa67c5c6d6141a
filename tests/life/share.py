"""The share of the life of published endpoints that tests try: all of it in ``make life`` alone."""

from __future__ import annotations

import os

FULL = os.environ.get("STILE_LIFE") == "full"


def tried(full: int, *, share: int) -> int:
    """The number of cases that a test tries: ``full`` in ``make life``, and one of ``share`` in every other run."""
    return full if FULL else max(full // share, 1)
