"""The sizes of what clients request: of entries in lists in Lambda's answer, and of answers in a model's context.

Source: AWS Lambda quotas, "Invocation payload", 6 MB; the body of a response is JSON text inside JSON there.
"""

from __future__ import annotations

from handler.strict_json import JSONObject, to_json_bytes

MAX_LISTED_BYTES = 6_000_000
"""Size of one entry in Lambda's JSON; the rest of the response fits beside it."""

BYTES_PER_TOKEN = 4
"""A rule of thumb for English text and JSON; vendors' tokenizers differ."""


def is_listable(json: bytes) -> bool:
    """Return whether an entry with this JSON fits a response of its own."""
    return 2 * len(json) <= MAX_LISTED_BYTES or len(to_json_bytes(json.decode())) <= MAX_LISTED_BYTES


def answer_tokens(result: JSONObject, answer: bytes) -> int:
    """Return the approximate tokens that a model reads of a tool's result: those of its texts.

    ``answer``: the message with the result, which counts whole if the result has no text.
    """
    texts = [each.get("text") for each in result["content"]]
    size = sum(_utf8_size(each) for each in texts if isinstance(each, str))
    return (size or len(answer)) // BYTES_PER_TOKEN


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
