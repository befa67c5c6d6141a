"""Parse the parameters of a GraphQL request out of a URL or a body. No I/O.

Source: GraphQL over HTTP, "Request" and "Persisted Documents".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl

from handler.bundle.tools import CONFIRM
from handler.records import record
from handler.strict_json import parse_json

TEXTS = ("query", "documentId", "operationName")
MAPS = ("variables", "extensions")


class Malformed(Exception):
    """A malformed GraphQL request; the message names the expected form."""


@record(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a GraphQL request: either ``query`` or ``document_id`` is given."""

    query: str | None
    document_id: str | None
    operation_name: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    confirmed: bool = False  # extensions say that the caller's user agreed


def parse_url(query_string: bytes) -> Parameters:
    """Read the parameters of a GET request. Empty ``variables`` and ``extensions``, as forms send them, are absent.

    Raises:
        Malformed: a parameter is repeated, ``variables`` or ``extensions`` is not a JSON object, or as ``parse_body``.
    """
    values: dict[str, Any] = {}
    for name, text in _pairs(query_string):
        if name in values:
            raise Malformed(f"{name:.50} appears in the URL twice")
        values[name] = text if name not in MAPS else _parsed(name, text) if text else None
    return _parameters(values)


def parse_body(body: bytes) -> Parameters:
    """Read the parameters of a POST request. Members that GraphQL over HTTP does not have are ignored.

    Raises:
        Malformed: the body is not a JSON object, or is a list of requests; a parameter is of a wrong type; neither or
            both of ``query`` and ``documentId`` are given.
    """
    try:
        values = parse_json(body)
    except ValueError as exc:
        raise Malformed("the body is not JSON") from exc
    if isinstance(values, list):
        raise Malformed("batches are not supported: send each request by itself")
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
        raise Malformed("query and documentId exclude each other: send one of them")
    return Parameters(
        query=query,
        document_id=document_id,
        operation_name=values.get("operationName") or None,
        variables=values.get("variables") or {},
        confirmed=(values.get("extensions") or {}).get(CONFIRM) is True,
    )
