from __future__ import annotations

import os

SHARE = 5
FULL = os.environ.get("STILE_EXAMPLES") == "full"


def examples(full: int) -> int:
    """The number of examples that a search tries: ``full`` with ``STILE_EXAMPLES=full``, as in CI, or a fifth of it.

    Made for searches that take seconds. A search that finds what it looks for in few examples needs no share.
    """
    return full if FULL else max(full // SHARE, 1)
