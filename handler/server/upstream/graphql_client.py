"""Send one operation to the GraphQL API behind an endpoint, and read the response."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from handler.bundle.upstream import sample_address
from handler.errors.calls import DeadlinePassed
from handler.errors.infrastructure import AddressRefused, HttpError
from handler.errors.upstream import AnswerMisfit, ResultTooLarge, UpstreamError, UpstreamFailure, UpstreamForbidden
from handler.http.client import HttpRequest, HttpResponse
from handler.json_schema.json_bounds import excess_of_json
from handler.server.context import Caller
from handler.server.upstream.graphql_request import GraphQLRequest, drop_unselected
from handler.server.upstream.sending import json_in, send, url_of_tenant
from handler.strict_json import JSONObject, to_json_bytes

UNTOLD = (
    "The API has answered the mutation, so it may have been carried out: do not send it once more. "
    "The answer itself is too large, or nested too deeply, to be passed on."
)

CARRIED_OUT = "The mutation was carried out: do not repeat it."
PARTLY_CARRIED_OUT = (
    "The mutation was sent, and its answer has errors: find out what was carried out before it is sent again."
)

ACCEPT = "application/graphql-response+json, application/json;q=0.9"


async def execute(caller: Caller, operation: GraphQLRequest) -> JSONObject:
    """Send one operation of a caller and return the GraphQL response: ``data`` always, ``errors`` when there are any.

    A query is sent once more if a kept connection turns out to be closed or the credential is refused. A mutation is
    never sent again.

    Raises:
        CallError: the API cannot be asked on behalf of this caller; nothing was sent.
        UpstreamError: no usable response; the sentence for the model does not reveal the API's address.
        DeadlinePassed: the deadline had passed before the request.

    Source: GraphQL over HTTP, "Request" and "Response".
    """
    request = _request_of(caller, operation)
    started = time.perf_counter()
    try:
        answer = await send(caller, request)
    except AddressRefused as exc:
        raise UpstreamForbidden(exc.reason) from exc
    except HttpError as exc:
        from handler.server.upstream.failures import without_answer

        _note(caller, operation, started)
        raise without_answer(exc, timeout_s=request.timeout_s).of(operation) from exc
    _note(caller, operation, started, answer)
    return await _response(caller, operation, answer)


def _request_of(caller: Caller, operation: GraphQLRequest) -> HttpRequest:
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
    url, told_url = upstream.url, ""
    if upstream.tenant is not None:
        url, told_url = url_of_tenant(caller, upstream.tenant), sample_address(upstream)
    left_s = caller.deadline - time.monotonic()
    if left_s <= 0:
        raise DeadlinePassed
    return HttpRequest(
        method="POST",
        url=url,
        told_url=told_url,
        headers={**trace, **repeated, "content-type": "application/json", "accept": ACCEPT},
        body=to_json_bytes(body),
        timeout_s=min(upstream.timeout_s, left_s),
        max_bytes=upstream.max_bytes,
        repeatable=operation.is_query,
    )


def _document(operation: GraphQLRequest, documents: str) -> JSONObject:
    """Return the document, or its id if the API takes ids. A document without an id is then not sent.

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


def _note(caller: Caller, operation: GraphQLRequest, started: float, answer: HttpResponse | None = None) -> None:
    """Note the duration of a request, and the fields that it asked for, if the endpoint's author wants them logged."""
    caller.note(upstream_ms=round((time.perf_counter() - started) * 1e3, 2))
    if answer is not None:
        caller.note(upstream_status=answer.status)
    if caller.endpoint.bundle.log:
        from handler.server.upstream.read_coordinates import note_read

        note_read(caller, text=operation.text, sha256=operation.sha256)


async def _response(caller: Caller, operation: GraphQLRequest, answer: HttpResponse) -> JSONObject:
    upstream = caller.endpoint.bundle.upstream
    if excess := excess_of_json(answer.body, max_bytes=upstream.max_bytes):
        from handler.server.upstream.failures import too_costly

        raise too_costly(excess).of(operation)
    body = json_in(answer)
    if 300 <= answer.status < 400 or not _is_graphql(body):
        from handler.server.upstream.failures import without_graphql

        raise without_graphql(answer, body, upstream.auth).of(operation)
    if body.get("data"):
        drop_unselected(body["data"], operation)
    if not body.get("errors"):
        return {"data": body["data"]}
    from handler.server.upstream.graphql_errors import report  # compiles its patterns

    find_index = caller.endpoint.schema.find_index
    response, reason, failed = await asyncio.to_thread(
        report, body, answer, operation, auth=upstream.auth, find_index=find_index
    )
    caller.note(reason=reason)
    if failed:
        caller.note(no_data=True)
    return response


def _is_graphql(body: Any) -> bool:
    """Return whether JSON has the form of a GraphQL response.

    Source: GraphQL specification, section 7.1 (Response Format).
    """
    if not isinstance(body, dict):
        return False
    data, errors = body.get("data"), body.get("errors")
    if body.get("hasNext") is True:  # the first part of several
        return False
    return isinstance(errors, list | None) and (isinstance(data, dict) or (data is None and bool(errors)))


@contextmanager
def telling_answer(operation: GraphQLRequest) -> Iterator[None]:
    """Guard the code that makes a result from the response to an operation.

    Raises:
        AnswerMisfit: the response does not fit the API's schema; the error itself covers mutations.
        ResultTooLarge: the response cannot be cut to the limit of results; likewise.
        UpstreamFailure: the result cannot be returned; for a mutation, the error warns against sending it again.
    """
    try:
        yield
    except (AnswerMisfit, ResultTooLarge):
        raise
    except UpstreamError as exc:
        raise UpstreamFailure(str(exc) if operation.is_query else UNTOLD, reason="UpstreamTooLarge") from exc


def carried_out(response: JSONObject) -> str:
    """Return the sentence for a model whose mutation was answered, instead of the answer as it is."""
    return PARTLY_CARRIED_OUT if "errors" in response else CARRIED_OUT
