"""Ages on a machine that is frozen between requests and whose clock may be set."""

from __future__ import annotations

import time
from math import inf
from typing import NamedTuple


class Instant(NamedTuple):
    """A moment by both clocks, in seconds."""

    monotonic: float  # may stand still while Lambda has the process frozen
    wall: float  # UNIX time, which can be set

    def age_s(self, then: Instant | None) -> float:
        """Return the age of ``then`` at this moment, by the clock that gives more; infinite for ``None``."""
        return inf if then is None else max(self.monotonic - then.monotonic, self.wall - then.wall)


def now() -> Instant:
    """Return the current moment."""
    return Instant(time.monotonic(), time.time())
