"""How large an answer may be. What Lambda takes is JSON in which the body is a JSON text once more."""

from __future__ import annotations

from handler.errors import UpstreamFailure
from handler.json_shape import to_json_bytes

MAX_PAYLOAD_BYTES = 6_200_000
"""What Lambda takes as an answer is 6 MiB, headers included."""

SURELY_SMALL_BYTES = MAX_PAYLOAD_BYTES // 13
"""A response below this fits whatever is in it: twice in the body, and a quote of it grows from 2 bytes to 12."""

MAX_PAGE_BYTES = 800_000
"""Of a list: about 200,000 tokens, more than a model reads of tools. In Lambda's JSON it is mostly below the 1 MB that
a load balancer takes, and never above twice its size."""

TOO_LARGE = "The result is larger than an answer may be. Ask for fewer rows or fields."
TOO_DEEP = "The API's answer is nested too deeply. Ask for less."
UNTOLD = (
    "The API has answered the mutation, so it may have been carried out: do not send it once more. "
    "The answer itself is too large, or nested too deeply, to be told."
)


def fits(body: bytes) -> bool:
    """Whether a JSON body may be answered with."""
    return len(body) <= SURELY_SMALL_BYTES or len(to_json_bytes(body.decode())) <= MAX_PAYLOAD_BYTES


def untold(sentence: str, *, is_query: bool) -> UpstreamFailure:
    """The error for an answer that cannot be told. It does not undo a mutation, and is no reason to repeat that."""
    return UpstreamFailure(sentence if is_query else UNTOLD, reason="UpstreamTooLarge")
