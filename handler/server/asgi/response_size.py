"""Size limits of responses and of pages of lists. Lambda takes JSON in which the body is a JSON string once more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handler.cold.records import record
from handler.strict_json import Entry, to_json_bytes, to_well_formed_json

MAX_PAYLOAD_BYTES = 6_200_000
"""Lambda takes a response of 6 MiB, headers included."""

MAX_PAGE_BYTES = 800_000
"""Size limit of a list page: about 200,000 tokens, more than a model reads of tools."""

TOO_LARGE = "The result is larger than an answer may be. Ask for fewer rows or fields."
ANSWER_TOO_LARGE = "answer-too-large"
"""The stable code of a JSON-RPC error in place of an answer that does not fit."""

TOO_DEEP = "The API's answer is nested too deeply. Ask for less."


@record(frozen=True, slots=True, kw_only=True)
class Room:
    """The size limits of a front door: ``max_bytes`` of Lambda's JSON, ``page_bytes`` of a list in the body."""

    max_bytes: int
    page_bytes: int

    @property
    def surely_small_bytes(self) -> int:
        """A response up to this size always fits. The body has it twice: an escaped quote grows from 2 bytes to 12."""
        return self.max_bytes // 13

    def fits(self, body: bytes) -> bool:
        """Return whether a JSON body fits into a response."""
        return len(body) <= self.surely_small_bytes or len(to_json_bytes(body.decode())) <= self.max_bytes


def encoded(value: Any, *, refuse: Callable[[str], Exception], room: Room | None = None) -> bytes:
    """Encode a value as a JSON body. With ``room``, refuse a body that does not fit.

    Raises the exception that ``refuse`` makes of ``TOO_DEEP`` or ``TOO_LARGE``.
    """
    try:
        body = to_well_formed_json(value)
    except RecursionError as exc:
        raise refuse(TOO_DEEP) from exc
    if room and not room.fits(body):
        raise refuse(TOO_LARGE)
    return body


LAMBDA = Room(max_bytes=MAX_PAYLOAD_BYTES, page_bytes=MAX_PAGE_BYTES)

LOAD_BALANCER = Room(max_bytes=1_000_000, page_bytes=490_000)
"""A load balancer takes 1 MiB from Lambda, headers included. JSON at most doubles the size of a page.

Source: the guide of Application Load Balancers, "Use Lambda functions as targets".
"""


def room_at(event: Mapping[str, Any]) -> Room:
    """Return the size limits of an event's front door; Lambda's own limits if the event is empty."""
    return LOAD_BALANCER if "elb" in (event.get("requestContext") or {}) else LAMBDA


def page_end(entries: Sequence[Entry], start: int, room: Room) -> int:
    """Return the position after a page, which has at least one entry."""
    free_bytes = room.page_bytes
    for place in range(start, len(entries)):
        free_bytes -= entries[place].size + 1
        if free_bytes < 0 and place > start:
            return place
    return len(entries)


def page_count(entries: Sequence[Entry], room: Room) -> int:
    """Return the number of pages of a list that begins without a cursor."""
    count = end = 0
    while end < len(entries):
        count, end = count + 1, page_end(entries, end, room)
    return max(count, 1)
