"""How long ago something was, on a machine that is frozen between requests and whose clock may be set."""

from __future__ import annotations

import time
from math import inf
from typing import NamedTuple


class Instant(NamedTuple):
    """A moment by both clocks, in seconds."""

    monotonic: float  # may stand still while Lambda has the process frozen
    wall: float  # UNIX time, which can be set

    def age_s(self, then: Instant | None) -> float:
        """How long before this ``then`` was, by the clock that says more. ``None`` is longer ago than anything."""
        return inf if then is None else max(self.monotonic - then.monotonic, self.wall - then.wall)


def now() -> Instant:
    """This moment."""
    return Instant(time.monotonic(), time.time())
