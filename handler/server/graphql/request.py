"""From an HTTP request to a GraphQL request. Pure: no I/O, nothing of Stile's own.

Source: GraphQL over HTTP, "Request" and "Persisted Documents"; RFC 9110, section 12.5.1 (Accept).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl

from handler.bundle.model import CONFIRM
from handler.records import record
from handler.server.asgi.content_negotiation import GRAPHQL_RESPONSE, JSON
from handler.strict_json import parse_json

MEDIA_TYPES = (JSON, GRAPHQL_RESPONSE)
"""What answers may be. The first one is for who does not mind."""

MAX_ACCEPTED = 50
"""Media ranges of an ``Accept`` header that are read; browsers send eight."""

QVALUE = r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)"

TEXTS = ("query", "documentId", "operationName")
MAPS = ("variables", "extensions")


class Malformed(Exception):
    """No well-formed GraphQL request; the message says what was expected."""


@record(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a GraphQL request: either ``query`` or ``document_id`` is there."""

    query: str | None
    document_id: str | None
    operation_name: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    confirmed: bool = False  # extensions say that the caller's user agreed


def choose_media_type(accept: str | None) -> str | None:
    """The media type to answer with, by quality, then by how exactly it is named, then by order; ``None``: neither.

    Without the header, and for ``*/*``, it is ``application/json``.
    """
    ranges = [_media_range(part) for part in (accept or "*/*").split(",")[:MAX_ACCEPTED]]
    found: list[tuple[float, int, int, str]] = []
    for media_type in MEDIA_TYPES:
        matching = [
            (_exactness(pattern, media_type), -place, quality)
            for place, (pattern, quality) in enumerate(ranges)
            if _exactness(pattern, media_type)
        ]
        if matching:
            exactness, order, quality = max(matching)
            found.append((quality, exactness, order, media_type))
    best = max(found, key=lambda one: one[:3], default=None)
    return best[3] if best and best[0] > 0 else None


def is_json(content_type: str) -> bool:
    """Whether a body says that it is JSON in UTF-8, which is assumed where nothing is said."""
    kind, parameters = _media_type(content_type)
    return kind == JSON and parameters.get("charset", "utf-8") in ("utf-8", "utf8")


def parse_url(query_string: bytes) -> Parameters:
    """Read the parameters of a GET request. Empty ``variables`` and ``extensions``, as forms send them, are absent.

    Raises:
        Malformed: a parameter that stands twice, ``variables`` or ``extensions`` that are no JSON object, or what
            ``parse_body`` refuses.
    """
    values: dict[str, Any] = {}
    for name, text in _pairs(query_string):
        if name in values:
            raise Malformed(f"{name:.50} stands in the URL twice")
        values[name] = text if name not in MAPS else _parsed(name, text) if text else None
    return _parameters(values)


def parse_body(body: bytes) -> Parameters:
    """Read the parameters of a POST request. Members that GraphQL over HTTP does not have are ignored.

    Raises:
        Malformed: no JSON object, a list of requests, a parameter of a wrong type, none or both of ``query`` and
            ``documentId``.
    """
    try:
        values = parse_json(body)
    except ValueError as exc:
        raise Malformed("the body is not JSON") from exc
    if isinstance(values, list):
        raise Malformed("batches are not taken: send each request by itself")
    if not isinstance(values, dict):
        raise Malformed("expected a JSON object with a query")
    return _parameters(values)


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query_string.decode(), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as exc:
        raise Malformed("the URL is not UTF-8") from exc


def _parsed(name: str, text: str) -> Any:
    try:
        return parse_json(text.encode())
    except ValueError as exc:
        raise Malformed(f"{name}: expected JSON") from exc


def _parameters(values: Mapping[str, Any]) -> Parameters:
    for name in TEXTS:
        if not isinstance(values.get(name), str | None):
            raise Malformed(f"{name}: expected a text")
    for name in MAPS:
        if not isinstance(values.get(name), dict | None):
            raise Malformed(f"{name}: expected an object")
    query, document_id = values.get("query"), values.get("documentId")
    if query is None and document_id is None:
        raise Malformed("expected query, or the documentId of a persisted document")
    if query is not None and document_id is not None:
        raise Malformed("query and documentId cannot stand together: send one of them")
    return Parameters(
        query=query,
        document_id=document_id,
        operation_name=values.get("operationName") or None,
        variables=values.get("variables") or {},
        confirmed=(values.get("extensions") or {}).get(CONFIRM) is True,
    )


def _media_range(text: str) -> tuple[str, float]:
    """A range of an ``Accept`` header and its quality; 0 for what cannot be had, such as another charset."""
    kind, parameters = _media_type(text)
    quality = parameters.get("q", "1")
    if not re.fullmatch(QVALUE, quality) or parameters.get("charset", "utf-8") not in ("utf-8", "utf8"):
        return kind, 0.0
    return kind, float(quality)


def _media_type(text: str) -> tuple[str, dict[str, str]]:
    kind, *rest = text.lower().split(";")
    pairs = [part.partition("=") for part in rest]
    return kind.strip(), {name.strip(): value.strip().strip('"') for name, _, value in pairs}


def _exactness(pattern: str, media_type: str) -> int:
    """How exactly a range names a media type: 0 not at all, 3 itself."""
    return {media_type: 3, "application/*": 2, "*/*": 1}.get(pattern, 0)
