"""The budget that the items of a batch share: bytes of the answer, time, and work.

Each answer is encoded at once, and only its bytes are kept: twenty answers of 3 MB each would be 2 GB of objects. A
budget once exceeded stays exceeded, so that later answers are not chosen by their size.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from handler.server.asgi.response_size import LAMBDA, Room
from handler.strict_json import to_json_bytes

MAX_WORK_S = 0.3
"""Processor time of the event loop's thread after which no further item starts. A batch and its last item together
stay below a second, even on a core half as fast.
"""

ROOM_FOR_ERRORS = 20_000
"""Bytes reserved for the errors of items that are not answered."""

EXCEEDED = "batch-exceeded"
"""The stable code of an item that is not answered."""

ALONE = "Send this request by itself."
TOO_LARGE = f"Not answered, because the answers before it fill the response. {ALONE}"
LEFT_OUT = (
    "This request was carried out, but its answer is left out, because the answers before it leave no room. "
    "Send it by itself only if it changes nothing."
)
TOO_LATE = f"Not answered, because the time of the batch is over. {ALONE}"
TOO_MUCH_WORK = f"Not answered, because the requests before it used up the work of the batch. {ALONE}"


class BatchBudget:
    """The budget of one batch. ``deadline`` is a time of ``monotonic``; ``work_s`` returns processor time so far."""

    def __init__(
        self,
        deadline: float,
        *,
        room: Room = LAMBDA,
        monotonic: Callable[[], float] = time.monotonic,
        work_s: Callable[[], float] = time.thread_time,
    ) -> None:
        self._deadline = deadline
        self._monotonic = monotonic
        self._work_s = work_s
        self._work_ends = work_s() + MAX_WORK_S
        self._bytes_left = room.max_bytes - ROOM_FOR_ERRORS

    def refusal(self) -> str:
        """Return the reason why no further item may start; empty string if one may."""
        if self._bytes_left < 0:
            return TOO_LARGE
        if self._monotonic() >= self._deadline:
            return TOO_LATE
        return TOO_MUCH_WORK if self._work_s() >= self._work_ends else ""

    def takes(self, answer: bytes) -> bool:
        """Return whether an answer fits beside those before it. After the first that does not fit, no item starts."""
        self._bytes_left -= len(to_json_bytes(answer.decode()))  # its size as a string in Lambda's answer
        return self._bytes_left >= 0
