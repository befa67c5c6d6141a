"""The sizes of entries in lists that clients request: in Lambda's answer, and in a model's context.

Source: AWS Lambda quotas, "Invocation payload", 6 MB; the body of a response is JSON text inside JSON there.
"""

from __future__ import annotations

from handler.strict_json import to_json_bytes

MAX_LISTED_BYTES = 6_000_000
"""Size of one entry in Lambda's JSON; the rest of the response fits beside it."""

BYTES_PER_TOKEN = 4
"""A rule of thumb for English text and JSON; vendors' tokenizers differ."""


def is_listable(json: bytes) -> bool:
    """Tell if an entry with this JSON fits a response of its own."""
    return 2 * len(json) <= MAX_LISTED_BYTES or len(to_json_bytes(json.decode())) <= MAX_LISTED_BYTES
