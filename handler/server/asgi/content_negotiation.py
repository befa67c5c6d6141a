"""What requests and answers may be, and which of it a client takes."""

from __future__ import annotations

import re

JSON = "application/json"
GRAPHQL_RESPONSE = "application/graphql-response+json"
EVENT_STREAM = "text/event-stream"

TEXTS = (JSON, GRAPHQL_RESPONSE, EVENT_STREAM)
"""What answers may be. Any other type would travel through Lambda in base64, which not every front door decodes."""

_REFUSED = r"q\s*=\s*0(\.0{0,3})?"


def accepted_kinds(accept: str) -> set[str]:
    """The media ranges of an ``Accept`` header but those with ``q=0``; an empty one is like none.

    Source: RFC 9110, section 12.5.1.
    """
    kinds: set[str] = set()
    for part in (accept.strip() or "*/*").split(","):
        kind, *parameters = (each.strip().lower() for each in part.split(";"))
        if not any(re.fullmatch(_REFUSED, each) for each in parameters):
            kinds.add(kind)
    return kinds
