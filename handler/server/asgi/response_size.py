"""How large an answer may be. What Lambda takes is JSON in which the body is a JSON text once more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from handler.records import record
from handler.strict_json import to_json_bytes, to_well_formed_json

MAX_PAYLOAD_BYTES = 6_200_000
"""What Lambda takes as an answer is 6 MiB, headers included."""

MAX_PAGE_BYTES = 800_000
"""Of a list: about 200,000 tokens, more than a model reads of tools."""

TOO_LARGE = "The result is larger than an answer may be. Ask for fewer rows or fields."
TOO_DEEP = "The API's answer is nested too deeply. Ask for less."


@record(frozen=True, slots=True, kw_only=True)
class Room:
    """The room of a front door for an answer: ``max_bytes`` of Lambda's JSON, ``page_bytes`` of a list before that."""

    max_bytes: int
    page_bytes: int

    @property
    def surely_small_bytes(self) -> int:
        """A response below this always fits: it is in the body twice, where a quote of it grows from 2 bytes to 12."""
        return self.max_bytes // 13

    def fits(self, body: bytes) -> bool:
        """Whether a JSON body may be answered with."""
        return len(body) <= self.surely_small_bytes or len(to_json_bytes(body.decode())) <= self.max_bytes


def encoded(value: Any, *, refuse: Callable[[str], Exception], room: Room | None = None) -> bytes:
    """Encode an answer as JSON. With ``room``, the JSON may be answered with at that front door.

    Raises what ``refuse`` makes of ``TOO_DEEP`` or ``TOO_LARGE`` if the answer cannot be written or is too large.
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
"""A load balancer takes 1 MiB of Lambda's answer, headers included. In JSON, a page takes twice its size at most.

Source: the guide of Application Load Balancers, "Use Lambda functions as targets".
"""


def room_at(event: Mapping[str, Any]) -> Room:
    """The room at the front door that an event came through; Lambda's own where there is no event."""
    return LOAD_BALANCER if "elb" in (event.get("requestContext") or {}) else LAMBDA
