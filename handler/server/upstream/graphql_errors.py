"""Filter the errors of a GraphQL response for the model, and find the log's reason for them.

An API that executed nothing may name, in its errors, parts of its schema that are hidden from the caller. So messages
about the document lose suggestions and all names that are not in the document.

Schema drift means that an API refuses a document which its published schema allows. GraphQL defines the form of an
execution error (it has a path) but not of a validation error, so servers are recognised by their habits. Many servers
report limits as validation errors. So drift is claimed only if the message also names, in the words of a validation
rule, a coordinate that the document uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from handler.bundle.upstream import NoAuth, UpstreamAuth
from handler.cold.records import record, replaced
from handler.errors.infrastructure import BundleError
from handler.http.client import HttpResponse
from handler.server.upstream.failures import doubt, in_graphql, is_usual
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.server.upstream.named_coordinates import (
    coordinate_in,
    document_names,
    in_document,
    in_values,
    without_names,
    without_suggestions,
)
from handler.server.upstream.refusal_codes import ANSWER, kind_of_error, refused_by
from handler.strict_json import JSONObject, well_formed
from handler.text.invisible import escaped

if TYPE_CHECKING:
    from handler.graph.index import SchemaIndex

MAX_ERRORS = 10
"""Errors of one response that the model gets."""

MAX_MESSAGE_CHARS = 1_000
"""Characters of an error's message that are read and returned."""

MAX_PATH_STEPS = 32
MAX_STEP_CHARS = 200
MAX_PLACE = 2**31
MAX_CODE_CHARS = 100

UNNAMED = "The API reported an error."
DRIFT = (
    "The API refused a request that its published schema allows: its schema has changed since. "
    "This tool's maintainer has to publish the tool again."
)

VALIDATION, LIMIT, VALUE = "validation", "limit", "value"
"""Kinds of errors: an invalid or too large document; a refused value of a variable."""

UNLISTED, BY_ID_ONLY, AS_TEXT_ONLY = "unlisted", "by id only", "as text only"
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
"""Kind of errors about persisted documents -> the sentence that replaces the message."""

OTHER = "GraphQLErrors"
"""The log's reason for an error of an unknown kind."""

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def report(
    body: Mapping[str, Any],
    answer: HttpResponse,
    operation: GraphQLRequest,
    *,
    auth: UpstreamAuth,
    find_index: Callable[[], SchemaIndex | None],
) -> tuple[JSONObject, str, bool]:
    """Filter a response with errors. ``body`` is the JSON of the response to ``operation``.

    Also return the log's reason, of the first error of a known kind, or of the status; and whether the API failed, so
    that it gave no value. ``find_index`` is called for errors that sound like schema drift, and may block.
    """
    data, names = (
        body.get("data") or None,
        document_names(operation.text),
    )  # some servers send {} if they executed nothing
    executed = data is not None
    run = [name for name, value in (data or {}).items() if value is not None and name != "__typename"]
    # Without a credential an API refuses no credential: it has fields that need one.
    refused = "" if isinstance(auth, NoAuth) else refused_by(body["errors"])
    errors, reasons, kinds = [], [], set()
    for error in body["errors"][:MAX_ERRORS]:
        of_data = run or not isinstance(error, dict) or (executed and error.get("path"))
        finding = Classification() if of_data else _located(error, find_in(error, names=names), operation, find_index)
        filtered, reason = _filtered(error, finding, names=None if of_data else names)
        errors.append(filtered)
        reasons.append(reason)
        kinds.add(finding.kind)
    reason = min(reasons, key=lambda reason: reason.startswith(OTHER))
    places = [error["path"] for error in errors if error.get("path", [""])[0] in names]
    begun = [*dict.fromkeys([*run, *(path[0] for path in places if len(path) > 1)])]
    if run and not refused:
        warning = doubt(operation, run=begun)
    else:
        is_classified = executed or any(kinds)
        may_have_run = executed or places or ("data" in body and answer.status < 300 and not is_classified)
        undone = False if may_have_run else is_classified or None
        trouble = in_graphql(answer, body, auth, words=str(errors[0]["message"]), refused=refused, undone=undone)
        warning = trouble.sentences(operation, run=begun)
        if trouble.sentence or not (is_classified or is_usual(answer.status)):
            reason = trouble.reason
    before = [{"message": warning}] if warning else []
    more = len(body["errors"]) - MAX_ERRORS
    after = [{"message": f"The API reported {more} more errors."}] if more > 0 else []
    is_answer = VALUE in kinds or all(kind_of_error(error)[0] == ANSWER for error in body["errors"][:MAX_ERRORS])
    failed = not (run or is_answer) and reason.startswith(OTHER)
    return {"data": data, "errors": [*before, *errors, *after]}, reason, failed


def _filtered(error: Any, finding: Classification, *, names: Set[str] | None) -> tuple[JSONObject, str]:
    """Return one filtered error, and the log's reason. ``names``: see ``_message``."""
    if not isinstance(error, dict):
        return {"message": UNNAMED}, OTHER
    filtered: JSONObject = {"message": _message(error, finding, names=names)}
    path = _path(error)
    if path and not finding.of_document and (names is None or not is_static(path)):
        filtered["path"] = path
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    if isinstance(code, str) and (code := escaped(well_formed(code[:MAX_CODE_CHARS]))):
        filtered["extensions"] = {"code": code}
    if finding.coordinate:
        return filtered, f"Drift: {finding.coordinate}"
    if finding.kind in SENTENCES:
        return filtered, f"UpstreamDocuments: {finding.kind}"
    if LIMIT in (finding.kind, kind_of_error(error)[0]):
        return filtered, "UpstreamLimit"
    return filtered, f"{OTHER}: {code}" if isinstance(code, str) and _CODE.fullmatch(code) else OTHER


def _located(
    error: Mapping[str, Any],
    finding: Classification,
    operation: GraphQLRequest,
    find_index: Callable[[], SchemaIndex | None],
) -> Classification:
    """Return a finding with the coordinate of the published schema, as far as that can be read."""
    index = find_index() if finding.coordinate or finding.kind == VALUE else None
    if index is None:
        return finding
    with suppress(BundleError):
        if finding.kind != VALUE:
            return replaced(finding, coordinate=in_document(finding.coordinate, error, operation.text, index))
        message = f"{_text(error, 'message')}{_explanation(error)}"
        return replaced(finding, coordinate=in_values(message, operation, index))
    return finding


def _explanation(error: Mapping[str, Any]) -> str:
    """Return graphql-ruby's words about a whole variable, in the form that its messages about a part of one have."""
    match error.get("extensions"):
        case {"problems": [{"path": [], "explanation": str(words)}]}:
            return f" ({words[:MAX_MESSAGE_CHARS]})"
    return ""


def _message(error: Mapping[str, Any], finding: Classification, *, names: Set[str] | None) -> str:
    """Return the message for the model. ``names`` are those in the document; ``None`` if the error is about data."""
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


@record(frozen=True, slots=True, kw_only=True)
class Classification:
    """The classification of an error. ``kind`` is a kind of habit, or empty if the kind is unknown.

    ``coordinate``: the used coordinate that the API's schema lacks or defines otherwise; empty if there is no drift.
    ``of_document``: the error and its path are about the document, not about the data.
    """

    kind: str = ""
    coordinate: str = ""
    of_document: bool = False


def find_in(error: Mapping[str, Any], *, names: Set[str]) -> Classification:
    """Classify an error of a response without data. ``names`` are the names in the document.

    gqlgen's errors about the value of a variable have a path to it.
    """
    message = _text(error, "message")
    if OF_A_VALUE.match(message) or str(error.get("path"))[:12] == "['variable',":
        return Classification(kind=VALUE)
    kinds = [kind for kind, _ in habits_in(error)]
    coordinate = coordinate_in(message, names=names) if VALIDATION in kinds else ""
    if coordinate:
        return Classification(kind=VALIDATION, coordinate=coordinate, of_document=True)
    kind = kinds[0] if kinds else ""
    of_document = kind == VALIDATION or (kind == LIMIT and not error.get("path"))
    return Classification(kind=kind, of_document=of_document)


class _Error:
    """The parts of an error that show its origin. Texts that it lacks are empty."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        extensions = error.get("extensions")
        self._extensions = extensions if isinstance(extensions, dict) else {}
        self.message = _text(error, "message")
        self.code = self.says("code")
        self.kind = _text(error, "type") or _text(error, "errorType")  # GitHub and AppSync have it beside the message
        self.path = error["path"] if isinstance(error.get("path"), list) else []
        self.points = bool(error.get("locations"))  # to a place in the document
        self.points_only = self.points and not self.path
        persisted = PERSISTED.fullmatch(self.code) or PERSISTED.fullmatch(self.message)
        self.not_persisted: str = persisted[1].upper() if persisted else ""  # the word after NOT: FOUND, SUPPORTED

    def says(self, name: str) -> str:
        """An extension that is a text; empty string if absent."""
        return _text(self._extensions, name)


def _text(values: Mapping[str, Any], name: str) -> str:
    """A text of the API, cut before any pattern reads it; empty string if there is no text."""
    value = values.get(name)
    return value[:MAX_MESSAGE_CHARS] if isinstance(value, str) else ""


def is_static(path: object) -> bool:
    """Return whether an error's path leads through the document, not through the data."""
    return isinstance(path, list) and bool(path) and bool(STATIC_PATH.fullmatch(str(path[0])[:MAX_MESSAGE_CHARS]))


STATIC_PATH = re.compile(r"query|mutation|subscription|(fragment|query|mutation|subscription) .*", re.DOTALL)
"""The first step of the path in graphql-ruby's validation errors, which leads through the document."""

APOLLO_CODES = ("GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED", "INVALID_FIELD", "PARSING_ERROR")

GRAPHQL_JAVA = re.compile(r"(Validation error|Invalid Syntax)\b", re.IGNORECASE)

HOT_CHOCOLATE_CODE = re.compile(r"HC\d{4}")
HOT_CHOCOLATE_LIMITS = ("HC0047", "HC0067", "HC0068")
SPECIFICATION = re.compile(r"https?://(spec\.graphql\.org|graphql\.github\.io|facebook\.github\.io)/.*", re.DOTALL)
"""The ``specifiedBy`` of Hot Chocolate's validation rules; its other errors do not have it."""

SELECTION = "$.selectionSet"
"""The beginning of Hasura's path to a field of the document."""

SECTION = re.compile(r"5\.\d[\d.]*")
"""The validation rule's section in the GraphQL specification, which GraphQL.NET gives as ``number``."""

OF_A_VALUE = re.compile(
    r"""Variable\b(?!.*(used\ in\ position|input\ type))   # of most servers
    | Argument\ "\w+"\ has\ invalid\ value\ \$             # Absinthe's
    | Invalid\ value\ for\ argument\b                      # async-graphql's, which judges values with the document
    """,
    re.DOTALL | re.VERBOSE,
)
"""The beginning of a message about the value that a caller gave for a variable."""

PERSISTED = re.compile(r"(?:mer_err_gql_)?persisted_?(?:query|document|operation)_?not_?(\w+)", re.IGNORECASE)
"""Codes and messages about persisted documents: PERSISTED_QUERY_NOT_FOUND, PersistedQueryNotSupported."""

LIMIT_CODE = re.compile(
    r"(.*[_-])?LIMIT([_-].*)?|.*(RATE[_-]?LIMITED|[_-](EXCEEDED|EXHAUSTED)|THROTTLED"
    r"|TOO[_-](EXPENSIVE|MANY[_-]REQUESTS|COMPLEX))",
    re.IGNORECASE | re.DOTALL,
)
EXCEEDED = re.compile(
    r"""exceed(s|ed|ing)?\b | \blimit\ of\ \d | too\ (complex|deep|deeply|many|large|big|expensive|costly|often)\b
    | \b(rate|depth|node|complexity|cost|query|request|usage|quota)[ -]limit | \bthrottled\b | \bmore\ than\ [\d,]+
    | \ballowed: | \bmax(imum)?\ (allowed|query)\b | \bexhausted\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
MEASURED = re.compile(
    r"""\b(query|operation|execution|selection|nesting)?\ ?(depth|height|complexity|cost|points?|budget)\b
    | \b(alias|aliases|directives?|tokens?|characters?|nodes?|fields|root\ fields|rate|quota|requests?|deep|deeply
      |complex|expensive|often|throttled)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Quantities that APIs limit. A limit needs this and ``EXCEEDED``: each alone matches many other errors."""

HABITS: Mapping[str, Mapping[str, Callable[[_Error], bool]]] = {
    # Apollo Server and Router, GraphQL Yoga, Mercurius: the hash of the document is unknown.
    UNLISTED: {"unlisted documents": lambda error: error.not_persisted not in ("", "SUPPORTED")},
    # GraphQL Yoga and Hive Gateway run known documents only, and got a text.
    BY_ID_ONLY: {"documents by id only": lambda error: error.message == "PersistedQueryOnly"},
    # Apollo Server without a cache, Mercurius.
    AS_TEXT_ONLY: {"documents as text only": lambda error: error.not_persisted == "SUPPORTED"},
    LIMIT: {
        # Hasura's depth-limit-exceeded, Apollo Router's MAX_DEPTH_LIMIT and COST_ESTIMATED_TOO_EXPENSIVE, Shopify's
        # THROTTLED and MAX_COST_EXCEEDED, GitHub's MAX_NODE_LIMIT_EXCEEDED and RATE_LIMITED.
        "limits by code": lambda error: bool(LIMIT_CODE.fullmatch(error.code) or LIMIT_CODE.fullmatch(error.kind)),
        "limits of Hot Chocolate": lambda error: error.code in HOT_CHOCOLATE_LIMITS,
        # graphql-java and Spring abort operations beyond a depth or complexity: "maximum query depth exceeded 12 > 10".
        "limits of graphql-java": lambda error: (
            error.says("classification") == "ExecutionAborted" and bool(EXCEEDED.search(error.message))
        ),
        # In words only: graphql-depth-limit with Apollo Server, Strawberry's limiters, graphql-query-complexity,
        # GraphQL Armor with Yoga and Hive Gateway, Mercurius, Ariadne's cost, Absinthe's complexity, graphql-ruby,
        # PostGraphile, webonyx with Lighthouse and WPGraphQL, Sangria, async-graphql, Contentful, monday.com.
        "limits by words": lambda error: (
            not error.path and bool(EXCEEDED.search(error.message)) and bool(MEASURED.search(error.message))
        ),
    },
    VALIDATION: {
        # graphql-js and its ports (graphql-core with Strawberry and graphene, webonyx with Lighthouse, Absinthe,
        # Juniper, async-graphql), PostGraphile and AppSync: a location in the document, without path and code.
        "graphql-js": lambda error: error.points_only and not error.code and not error.says("classification"),
        # Apollo Server and Router, GraphQL Yoga, gqlgen, which gives the same code to values, with a path to the
        # variable.
        "Apollo": lambda error: error.code in APOLLO_CODES and not error.path,
        "graphql-ruby": lambda error: error.points and is_static(error.path),
        # graphql-java with Spring and DGS. A resolver may use this class of errors too, with its own message.
        "graphql-java": lambda error: (
            error.says("classification") in ("ValidationError", "InvalidSyntax")
            and (error.points_only or bool(GRAPHQL_JAVA.match(error.message)))
        ),
        # Rules name their section of the specification, and some have a path to the field.
        "Hot Chocolate": lambda error: (
            bool(SPECIFICATION.fullmatch(error.says("specifiedBy")))
            or (bool(HOT_CHOCOLATE_CODE.fullmatch(error.code)) and error.points_only)
        ),
        "GraphQL.NET": lambda error: bool(SECTION.fullmatch(error.says("number"))) and error.points_only,
        # The path to the field is an extension. Values and validation webhooks have the same code, but path "$".
        "Hasura": lambda error: (
            error.code == "validation-failed" and (error.says("path") or SELECTION).startswith(SELECTION)
        ),
    },
}
"""Kind of errors -> known habits of servers that show it. Source: each project's own error formats.

The most specific kind comes first: many servers report limits as validation errors.
"""


def habits_in(error: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each habit that an error shows, after its kind."""
    parts = _Error(error)
    for kind, habits in HABITS.items():
        for name, is_shown_by in habits.items():
            if is_shown_by(parts):
                yield kind, name
