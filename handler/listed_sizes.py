"""The size limit of an entry in a list that clients request.

Source: AWS Lambda quotas, "Invocation payload", 6 MB; the body of a response is JSON text inside JSON there.
"""

from __future__ import annotations

from handler.strict_json import to_json_bytes

MAX_LISTED_BYTES = 6_000_000
"""Size of one entry in Lambda's JSON; the rest of the response fits beside it."""


def is_listable(json: bytes) -> bool:
    """Tell if an entry with this JSON fits a response of its own."""
    return 2 * len(json) <= MAX_LISTED_BYTES or len(to_json_bytes(json.decode())) <= MAX_LISTED_BYTES
