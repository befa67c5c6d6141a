from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import strategies as st

SHARE = 8
FULL = os.environ.get("STILE_EXAMPLES") == "full"

in_full = pytest.mark.skipif(not FULL, reason="it takes seconds: STILE_EXAMPLES=full runs it, as CI does")
"""The mark of tests that show that a search finds what it looks for, and of others that are worth a run in CI alone."""


def examples(full: int, *, share: int = SHARE) -> int:
    """The number of examples that a search tries: ``full`` with ``STILE_EXAMPLES=full``, as in CI, or a part of it.

    The part is an eighth, or one of ``share``. Made for searches that take seconds. A search that finds what it looks
    for in few examples needs no share.
    """
    return full if FULL else max(full // share, 1)


class Seeded(Random):
    """A source of random numbers that shows its seed when an example fails."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._first_seed = seed

    def __repr__(self) -> str:
        return f"Seeded({self._first_seed})"


def seeded() -> st.SearchStrategy[Random]:
    """Sources of random numbers for searches that draw thousands in one example.

    ``st.randoms`` records each number to make failing examples smaller. Recording takes most of such a search's time.
    """
    return st.integers(0, 2**32 - 1).map(Seeded)
