"""Media types: read ``Content-Type`` and ``Accept``, and choose the type of a response."""

from __future__ import annotations

import re
from collections.abc import Mapping

JSON = "application/json"
GRAPHQL_RESPONSE = "application/graphql-response+json"
EVENT_STREAM = "text/event-stream"
HTML = "text/html"
PLAIN_TEXT = "text/plain"

TEXTS = (JSON, GRAPHQL_RESPONSE, EVENT_STREAM, HTML, PLAIN_TEXT)
"""All types of responses. Lambda would send any other type in base64, which not every front door decodes."""

GRAPHQL_TYPES = (JSON, GRAPHQL_RESPONSE)
"""The types of GraphQL responses. The first type is the default."""

MAX_ACCEPTED = 50
"""Media ranges of an ``Accept`` header that are read to choose; browsers send eight."""

_QVALUE = r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)"
_REFUSED = r"0(\.0{0,3})?"
_UTF_8 = ("utf-8", "utf8")


def media_type_of(content_type: str) -> str:
    """Return the media type of a ``Content-Type`` header, without parameters and in lower case."""
    return _parts(content_type)[0]


def declares_json(content_type: str) -> bool:
    """Return whether a body is declared as JSON in UTF-8, which is the default charset."""
    kind, parameters = _parts(content_type)
    return kind == JSON and parameters.get("charset", "utf-8") in _UTF_8


def accepted_kinds(accept: str) -> set[str]:
    """Return the media ranges of an ``Accept`` header except those with ``q=0``; an empty header accepts everything.

    Source: RFC 9110, section 12.5.1.
    """
    ranges = map(_parts, (accept.strip() or "*/*").split(","))
    return {kind for kind, parameters in ranges if not re.fullmatch(_REFUSED, parameters.get("q", "1"))}


def choose_graphql_type(accept: str | None) -> str | None:
    """Choose one of ``GRAPHQL_TYPES``.

    ``application/json`` without the header and for ``*/*``; ``None`` if the client accepts neither type.

    Source: GraphQL over HTTP, "Accept".
    """
    return _choose_type(accept, GRAPHQL_TYPES)


def prefers_html(accept: str | None) -> bool:
    """Return whether a client, as browsers do, asks for HTML before JSON."""
    return accept is not None and _choose_type(accept, (JSON, HTML)) == HTML


def _choose_type(accept: str | None, offered: tuple[str, ...]) -> str | None:
    """Choose one of ``offered`` by quality, then by how exactly it is named, then by order.

    Source: RFC 9110, section 12.5.1.
    """
    ranges = [_parts(part) for part in (accept or "*/*").split(",")[:MAX_ACCEPTED]]
    best, best_rank = None, (0.0, 0, 0)
    for media_type in offered:
        exactness_of = {media_type: 3, f"{media_type.partition('/')[0]}/*": 2, "*/*": 1}
        matches = [
            (exactness_of[pattern], -place, _quality(parameters))
            for place, (pattern, parameters) in enumerate(ranges)
            if pattern in exactness_of
        ]
        exactness, order, quality = max(matches, default=(0, 0, 0.0))
        if quality > 0 and (best is None or (quality, exactness, order) > best_rank):
            best, best_rank = media_type, (quality, exactness, order)
    return best


def _quality(parameters: Mapping[str, str]) -> float:
    """The quality of a range; 0 if the range cannot be met, such as one of another charset."""
    quality = parameters.get("q", "1")
    if not re.fullmatch(_QVALUE, quality) or parameters.get("charset", "utf-8") not in _UTF_8:
        return 0.0
    return float(quality)


def _parts(text: str) -> tuple[str, dict[str, str]]:
    """A media type or range in lower case, and its parameters."""
    kind, *rest = text.lower().split(";")
    pairs = [part.partition("=") for part in rest]
    return kind.strip(), {name.strip(): value.strip().strip('"') for name, _, value in pairs}
