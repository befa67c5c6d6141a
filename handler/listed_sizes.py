"""How large an entry of a list may be that clients ask for.

Source: AWS Lambda quotas, "Invocation payload", 6 MB; an answer's body is a JSON text in JSON there.
"""

from __future__ import annotations

from handler.strict_json import to_json_bytes

MAX_LISTED_BYTES = 6_000_000
"""Of one entry, as Lambda's JSON has it: what is around it fits beside it."""


def is_listable(json: bytes) -> bool:
    """Whether an entry with this JSON fits an answer of its own."""
    return 2 * len(json) <= MAX_LISTED_BYTES or len(to_json_bytes(json.decode())) <= MAX_LISTED_BYTES
