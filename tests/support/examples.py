from __future__ import annotations

import os
from random import Random

from hypothesis import strategies as st

SHARE = 5
FULL = os.environ.get("STILE_EXAMPLES") == "full"


def examples(full: int, *, share: int = SHARE) -> int:
    """The number of examples that a search tries: ``full`` with ``STILE_EXAMPLES=full``, as in CI, or a part of it.

    The part is a fifth, or one of ``share``. Made for searches that take seconds. A search that finds what it looks
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
