"""Filter the errors of a GraphQL response for the model, and find the log's reason for them.

An API that executed nothing may name, in its errors, parts of its schema that are hidden from the caller. So messages
about the document lose suggestions and all names that are not in the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from handler.bundle.upstream import UpstreamAuth
from handler.cold.records import record, replaced
from handler.errors.infrastructure import BundleError
from handler.http.client import HttpResponse
from handler.server.upstream.failures import doubt, in_graphql, is_usual
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.server.upstream.named_coordinates import names_in, without_names, without_suggestions
from handler.server.upstream.schema_drift import (
    AS_TEXT_ONLY,
    BY_ID_ONLY,
    LIMIT,
    MAX_MESSAGE_CHARS,
    UNLISTED,
    VALUE,
    Classification,
    find_in,
    is_static,
)
from handler.strict_json import JSONObject, well_formed
from handler.text.invisible import escaped

if TYPE_CHECKING:
    from handler.graph.index import SchemaIndex

MAX_ERRORS = 10
"""Errors of one response that the model gets."""

MAX_PATH_STEPS = 32
MAX_STEP_CHARS = 200
MAX_PLACE = 2**31
MAX_CODE_CHARS = 100

UNNAMED = "The API reported an error."
DRIFT = (
    "The API refused a request that its published schema allows: its schema has changed since. "
    "This tool's maintainer has to publish the tool again."
)
SENTENCES: Mapping[str, str] = {
    UNLISTED: (
        "The API does not know this operation. This tool's maintainer has to give the API's owner a new manifest."
    ),
    BY_ID_ONLY: (
        "The API runs only operations that it knows by their id, and this one was sent as text. "
        "This tool's maintainer has to send the operation by its id."
    ),
    AS_TEXT_ONLY: (
        "The API does not take operations by their id. This tool's maintainer has to send operations as text."
    ),
}
"""Kind of error -> the sentence that replaces its message."""

REASONS: Mapping[str, str] = {
    UNLISTED: "UpstreamDocuments: unlisted",
    BY_ID_ONLY: "UpstreamDocuments: by id only",
    AS_TEXT_ONLY: "UpstreamDocuments: as text only",
    LIMIT: "UpstreamLimit",
}

FindIndex = Callable[[], "SchemaIndex | None"]
Locate = Callable[[Mapping[str, Any], Classification], Classification]

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@record(frozen=True, slots=True, kw_only=True)
class FilteredResponse:
    """The filtered response, and the log's reason: of the first error of a known kind, or of the status."""

    response: JSONObject
    reason: str


def report(
    body: Mapping[str, Any],
    answer: HttpResponse,
    operation: GraphQLRequest,
    *,
    auth: UpstreamAuth,
    find_index: FindIndex,
) -> FilteredResponse:
    """Filter a response with errors. ``body`` is the JSON of the response to ``operation``.

    ``find_index`` is called for errors that sound like schema drift, and may block.
    """
    data, asked = body.get("data") or None, names_in(operation.text)  # some servers send {} if they executed nothing
    executed, run = data is not None, [name for name, value in (data or {}).items() if value is not None]
    locate = partial(_located, operation=operation, find_index=find_index)
    names, first = None if run else asked, body["errors"][:MAX_ERRORS]
    errors, reasons, known = zip(
        *(_judged(each, locate, executed=executed, names=names) for each in first), strict=True
    )
    told, reason = [*errors], min(reasons, key=lambda reason: reason.startswith(OTHER))
    if len(body["errors"]) > MAX_ERRORS:
        told.append({"message": f"The API reported {len(body['errors']) - MAX_ERRORS} more errors."})
    if run:
        said = doubt(operation, run=run)
    else:
        places = [error["path"] for error in errors if error.get("path", [""])[0] in asked]
        judged = executed or any(known)
        may_have_run = executed or places or ("data" in body and answer.status < 300 and not judged)
        undone = False if may_have_run else judged or None
        trouble = in_graphql(answer, body, auth, words=str(errors[0]["message"]), undone=undone)
        said = trouble.sentences(operation, run=[*dict.fromkeys(path[0] for path in places if len(path) > 1)])
        if trouble.said or not (judged or is_usual(answer.status)):
            reason = trouble.reason
    if said:
        told.insert(0, {"message": said})
    return FilteredResponse(response={"data": data, "errors": told}, reason=reason)


OTHER = "GraphQLErrors"
"""The log's reason for an error of an unknown kind."""


def _judged(error: Any, locate: Locate, *, executed: bool, names: Set[str] | None) -> tuple[JSONObject, str, bool]:
    """Return one filtered error, the log's reason, and whether the error is of a known kind.

    ``names`` are the names in the document; ``None`` if the response has a value. ``executed``: the response has
    ``data``, so an error with a path is about a place in the data.
    """
    if not isinstance(error, dict):
        return {"message": UNNAMED}, OTHER, False
    if executed and error.get("path"):
        names = None
    finding = Classification() if names is None else locate(error, find_in(error, names=names))
    kept: JSONObject = {"message": _message(error, finding, names=names)}
    code, path = _code(error), _path(error)
    if path and not finding.of_document and (names is None or not is_static(path)):
        kept["path"] = path
    if code:
        kept["extensions"] = {"code": code}
    return kept, _reason(finding, code), bool(finding.kind)


def _located(
    error: Mapping[str, Any], finding: Classification, *, operation: GraphQLRequest, find_index: FindIndex
) -> Classification:
    """Return a finding with the coordinate of the published schema, as far as that can be read."""
    index = find_index() if finding.coordinate or finding.kind == VALUE else None
    if index is None:
        return finding
    from handler.server.upstream.published_coordinates import in_document, in_values

    with suppress(BundleError):
        if finding.kind != VALUE:
            return replaced(finding, coordinate=in_document(finding.coordinate, error, operation.text, index))
        message = str(error.get("message"))[:MAX_MESSAGE_CHARS]
        return replaced(finding, coordinate=in_values(message, operation, index))
    return finding


def _message(error: Mapping[str, Any], finding: Classification, *, names: Set[str] | None) -> str:
    if finding.kind in SENTENCES:
        return SENTENCES[finding.kind]
    if finding.coordinate:
        return DRIFT
    message = error.get("message")
    if not isinstance(message, str):
        return UNNAMED
    words = message if len(message) <= MAX_MESSAGE_CHARS else f"{message[: MAX_MESSAGE_CHARS - 1]}…"
    if names is not None:
        words = without_suggestions(words)
        words = without_names(words, but=names) if finding.of_document else words
    return escaped(well_formed(words)) if words.strip() else UNNAMED


def _path(error: Mapping[str, Any]) -> list[str | int]:
    """The path of an error in the data, cut to the limits; empty if the error has no valid path."""
    path = error.get("path")
    steps = path[:MAX_PATH_STEPS] if isinstance(path, list) else []
    if not all(isinstance(step, str) or (type(step) is int and 0 <= step < MAX_PLACE) for step in steps):
        return []
    return [escaped(well_formed(step[:MAX_STEP_CHARS])) if isinstance(step, str) else step for step in steps]


def _code(error: Mapping[str, Any]) -> str:
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return escaped(well_formed(code[:MAX_CODE_CHARS])) if isinstance(code, str) else ""


def _reason(finding: Classification, code: str) -> str:
    if finding.coordinate:
        return f"Drift: {finding.coordinate}"
    if finding.kind in REASONS:
        return REASONS[finding.kind]
    return f"{OTHER}: {code}" if _CODE.fullmatch(code) else OTHER
