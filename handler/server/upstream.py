"""Sending one operation to the GraphQL API behind an endpoint, and reading what it answers."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from handler.bundle import JSONObject
from handler.errors import (
    AddressRefused,
    DeadlinePassed,
    HttpTimeout,
    HttpTooLarge,
    HttpUnreachable,
    UpstreamError,
    UpstreamForbidden,
)
from handler.http import HttpRequest, HttpResponse
from handler.json_shape import parse_json, to_json_bytes
from handler.records import dataclass
from handler.server.caller import Caller
from handler.server.outgoing.sending import send

ACCEPT = "application/graphql-response+json, application/json;q=0.9"

SUGGESTION = re.compile(r"\s*\(?\bdid you mean\b.*", re.IGNORECASE | re.DOTALL)

UNNAMED = "The API reported an error."
DRIFT = (
    "The API refused a request that its published schema allows: its schema has changed since. "
    "Whoever maintains this tool has to publish it again."
)


UNLISTED = re.compile(r"persisted_?(query|document|operation)_?not_?\w+", re.IGNORECASE)
"""Codes and messages of servers that do not know a document: PERSISTED_QUERY_NOT_FOUND, PersistedQueryNotFound."""

UNKNOWN_DOCUMENT = (
    "The API does not know this operation. Whoever maintains this tool has to give its owner a new manifest."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQLRequest:
    """One operation to send, and whether it is a query: only queries may be sent a second time."""

    text: str
    sha256: str  # of the text; empty where a model wrote it
    operation_name: str | None
    variables: Mapping[str, Any]
    is_query: bool
    idempotency_key: str = ""  # what every repetition of the same call says; empty where it may be repeated at will


async def execute(caller: Caller, operation: GraphQLRequest) -> JSONObject:
    """Send one operation of a caller and return the GraphQL response: ``data`` always, ``errors`` when there are any.

    A query is sent once more when a kept connection turns out to be closed, or its credential to be refused; a
    mutation never.

    Raises:
        CallError: the API cannot be asked on behalf of this caller; nothing was sent.
        UpstreamError: no usable answer, in a sentence for the model that tells nothing of the API's address.
        DeadlinePassed: the caller's time was over before.

    Source: GraphQL over HTTP, "Request" and "Response".
    """
    upstream = caller.endpoint.bundle.upstream
    if not upstream.url:
        raise UpstreamError("This endpoint has no API to ask: its configuration names no upstream.url.")
    body: JSONObject = _document(operation, upstream.documents)
    if operation.operation_name:
        body["operationName"] = operation.operation_name
    if operation.variables:
        body["variables"] = dict(operation.variables)
    trace = caller.trace.headers if caller.trace else {}
    repeated = {"idempotency-key": operation.idempotency_key} if operation.idempotency_key else {}
    request = HttpRequest(
        method="POST",
        url=upstream.url,
        headers={**trace, **repeated, "content-type": "application/json", "accept": ACCEPT},
        body=to_json_bytes(body),
        timeout_s=_allowed_s(caller),
        max_bytes=upstream.max_bytes,
        repeatable=operation.is_query,
    )
    return _response(await _send(caller, request))


def _allowed_s(caller: Caller) -> float:
    """How long the API may take: what its owner says, or what is left of the call's time."""
    left_s = caller.deadline - time.monotonic()
    if left_s <= 0:
        raise DeadlinePassed
    return min(caller.endpoint.bundle.upstream.timeout_s, left_s)


def _document(operation: GraphQLRequest, documents: str) -> JSONObject:
    """The document, or the name that the API knows it by. A document without a name is not sent in its place.

    Source: GraphQL over HTTP, "Persisted Documents"; Apollo, "Automatic Persisted Queries", for its extension.
    """
    match documents:
        case "text":
            return {"query": operation.text}
        case "documentId" if operation.sha256:
            return {"documentId": f"sha256:{operation.sha256}"}
        case "apollo" if operation.sha256:
            return {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": operation.sha256}}}
        case _:
            raise UpstreamError("This API takes only requests that it knows.")


async def _send(caller: Caller, request: HttpRequest) -> HttpResponse:
    try:
        return await send(caller, request)
    except HttpTimeout as exc:
        within = f"{request.timeout_s:.3g} s"
        raise UpstreamError(f"The API did not answer within {within}. Ask for less, or try later.") from exc
    except HttpTooLarge as exc:
        raise UpstreamError(
            f"The API's answer is larger than {exc.max_bytes} bytes. Ask for fewer rows or fields."
        ) from exc
    except AddressRefused as exc:
        raise UpstreamForbidden(exc.reason) from exc
    except HttpUnreachable as exc:
        raise UpstreamError("The API cannot be reached at the moment. Try later.") from exc


def _response(answer: HttpResponse) -> JSONObject:
    if 300 <= answer.status < 400:
        raise UpstreamError("The API answered with a redirect, which is not followed.")
    body = _parse(answer.body)
    if not isinstance(body, dict) or not ("data" in body or isinstance(body.get("errors"), list)):
        raise UpstreamError(f"The API answered with status {answer.status} and no GraphQL response.")
    data, errors = body.get("data"), body.get("errors") or []
    if not isinstance(data, dict | None) or not isinstance(errors, list):
        raise UpstreamError("The API answered with data that is no object, or errors that are no list.")
    if not errors:
        return {"data": data}
    usable = data or None  # some servers send an empty object with what they did not execute
    return {"data": usable, "errors": [_error(error, executed=usable is not None) for error in errors]}


def _parse(body: bytes) -> Any:
    try:
        return parse_json(body)
    except ValueError:
        return None


def _error(error: Any, *, executed: bool) -> JSONObject:
    """What a model may know of an upstream error: message, path and code. Locations mean nothing to it."""
    from handler.server.drift import is_static  # its patterns are compiled where an API has answered with errors

    if not isinstance(error, dict):
        return {"message": UNNAMED}
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    path = error.get("path")
    kept: JSONObject = {"message": _message(error, code, executed=executed)}
    if path and isinstance(path, list) and kept["message"] != DRIFT and (executed or not is_static(path)):
        kept["path"] = path
    if isinstance(code, str):
        kept["extensions"] = {"code": code}
    return kept


def _message(error: Mapping[str, Any], code: object, *, executed: bool) -> str:
    """The words of an error. Where the API executed nothing, they may suggest names that this caller must not learn."""
    from handler.server.drift import is_drift

    message = error.get("message")
    if any(isinstance(text, str) and UNLISTED.fullmatch(text) for text in (code, message)):
        return UNKNOWN_DOCUMENT
    if not executed and is_drift(error):
        return DRIFT
    if not isinstance(message, str):
        return UNNAMED
    return message if executed else SUGGESTION.sub("", message)
