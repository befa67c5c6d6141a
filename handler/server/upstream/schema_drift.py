"""Classification of an error in a response without data: schema drift, a limit, or an unknown document.

Schema drift means that an API refuses a document which its published schema allows. GraphQL defines the form of an
execution error (it has a path) but not of a validation error, so servers are recognised by their habits. Many servers
report limits as validation errors. So drift is claimed only if the message also names, in the words of a validation
rule, a coordinate that the document uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from handler.cold.records import record
from handler.server.upstream.named_coordinates import coordinate_in

MAX_MESSAGE_CHARS = 1_000
"""Characters of an error's message that are read and returned."""

VALIDATION, LIMIT, VALUE = "validation", "limit", "value"
UNLISTED, BY_ID_ONLY, AS_TEXT_ONLY = "unlisted", "by id only", "as text only"
"""Kinds of errors: an invalid or too large document; a refused value of a variable; an unknown id; ids required; ids
not supported.
"""

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


def is_static(path: object) -> bool:
    """Tell if an error's path leads through the document, not through the data."""
    return isinstance(path, list) and bool(path) and bool(STATIC_PATH.fullmatch(str(path[0])[:MAX_MESSAGE_CHARS]))


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
    if OF_A_VALUE.match(_message(error)) or str(error.get("path"))[:12] == "['variable',":
        return Classification(kind=VALUE)
    kinds = {HABITS[habit].kind for habit in habits_in(error)}
    coordinate = coordinate_in(_message(error), names=names) if VALIDATION in kinds else ""
    if coordinate:
        return Classification(kind=VALIDATION, coordinate=coordinate, of_document=True)
    kind = next((each for each in KINDS if each in kinds), "")
    of_document = kind == VALIDATION or (kind == LIMIT and not error.get("path"))
    return Classification(kind=kind, of_document=of_document)


def habits_in(error: Mapping[str, Any]) -> list[str]:
    """Return the keys of ``HABITS`` that an error matches."""
    extensions = error.get("extensions")
    found = _Error(
        message=_message(error),
        kind=_text(error, "type") or _text(error, "errorType"),
        points=bool(error.get("locations")),
        path=error["path"] if isinstance(error.get("path"), list) else (),
        extensions=extensions if isinstance(extensions, dict) else {},
    )
    return [name for name, habit in HABITS.items() if habit.shown_by(found)]


def _message(error: Mapping[str, Any]) -> str:
    return _text(error, "message")


def _text(values: Mapping[str, Any], name: str) -> str:
    """A text of the API, cut before any pattern reads it; empty string if there is no text."""
    value = values.get(name)
    return value[:MAX_MESSAGE_CHARS] if isinstance(value, str) else ""


@record(frozen=True, slots=True, kw_only=True)
class _Error:
    """The parts of an error that show its origin. ``points``: the error has ``locations`` in the document."""

    message: str
    kind: str  # the type that GitHub and AppSync give beside the message
    points: bool
    path: Sequence[Any]  # empty if absent
    extensions: Mapping[str, Any]

    def says(self, name: str) -> str:
        """An extension that is a text; empty string if absent."""
        return _text(self.extensions, name)

    @property
    def code(self) -> str:
        return self.says("code")


@record(frozen=True, slots=True)
class _Habit:
    kind: str
    shown_by: Callable[[_Error], bool]


def _validation(shown_by: Callable[[_Error], bool]) -> _Habit:
    return _Habit(VALIDATION, shown_by)


def _limit(shown_by: Callable[[_Error], bool]) -> _Habit:
    return _Habit(LIMIT, shown_by)


def _persisted(error: _Error) -> str:
    """The word after ``NOT`` in a code or message about persisted documents; empty string if there is none."""
    found = PERSISTED.fullmatch(error.code) or PERSISTED.fullmatch(error.message)
    return found[1].upper() if found else ""


KINDS = (UNLISTED, BY_ID_ONLY, AS_TEXT_ONLY, LIMIT, VALIDATION)
"""The most specific kind first: many servers report limits as validation errors."""

HABITS: Mapping[str, _Habit] = {
    # Apollo Server and Router, GraphQL Yoga, Mercurius: the hash of the document is unknown.
    "unlisted documents": _Habit(UNLISTED, lambda error: _persisted(error) not in ("", "SUPPORTED")),
    # GraphQL Yoga and Hive Gateway run known documents only, and got a text.
    "documents by id only": _Habit(BY_ID_ONLY, lambda error: error.message == "PersistedQueryOnly"),
    # Apollo Server without a cache, Mercurius.
    "documents as text only": _Habit(AS_TEXT_ONLY, lambda error: _persisted(error) == "SUPPORTED"),
    # graphql-js and its ports (graphql-core with Strawberry and graphene, webonyx with Lighthouse, Absinthe, Juniper,
    # async-graphql), PostGraphile and AppSync: a location in the document, without path and code.
    "graphql-js": _validation(
        lambda error: error.points and not error.path and not error.code and not error.says("classification")
    ),
    # Apollo Server and Router, GraphQL Yoga, gqlgen. gqlgen gives the same code to values, with a path to the variable.
    "Apollo": _validation(lambda error: error.code in APOLLO_CODES and not error.path),
    "graphql-ruby": _validation(lambda error: error.points and is_static(error.path)),
    # graphql-java with Spring and DGS. A resolver may use this class of errors too, with its own message.
    "graphql-java": _validation(
        lambda error: (
            error.says("classification") in ("ValidationError", "InvalidSyntax")
            and ((error.points and not error.path) or bool(GRAPHQL_JAVA.match(error.message)))
        )
    ),
    # Hot Chocolate: rules name their section of the specification, and some have a path to the field.
    "Hot Chocolate": _validation(
        lambda error: (
            bool(SPECIFICATION.fullmatch(error.says("specifiedBy")))
            or (bool(HOT_CHOCOLATE_CODE.fullmatch(error.code)) and error.points and not error.path)
        )
    ),
    "GraphQL.NET": _validation(
        lambda error: bool(SECTION.fullmatch(error.says("number"))) and error.points and not error.path
    ),
    # Hasura: the path to the field is an extension. Values and validation webhooks have the same code, but path "$".
    "Hasura": _validation(
        lambda error: error.code == "validation-failed" and (error.says("path") or SELECTION).startswith(SELECTION)
    ),
    # Codes and types: Hasura's depth-limit-exceeded, Apollo Router's MAX_DEPTH_LIMIT and COST_ESTIMATED_TOO_EXPENSIVE,
    # Shopify's THROTTLED and MAX_COST_EXCEEDED, GitHub's MAX_NODE_LIMIT_EXCEEDED and RATE_LIMITED.
    "limits by code": _limit(lambda error: any(map(_is_limit_code, (error.code, error.kind)))),
    "limits of Hot Chocolate": _limit(lambda error: error.code in HOT_CHOCOLATE_LIMITS),
    # graphql-java and Spring abort operations beyond a depth or complexity: "maximum query depth exceeded 12 > 10".
    "limits of graphql-java": _limit(
        lambda error: error.says("classification") == "ExecutionAborted" and bool(EXCEEDED.search(error.message))
    ),
    # In words only: graphql-depth-limit with Apollo Server, Strawberry's limiters, graphql-query-complexity, GraphQL
    # Armor with Yoga and Hive Gateway, Mercurius, Ariadne's cost, Absinthe's complexity, graphql-ruby, PostGraphile,
    # webonyx with Lighthouse and WPGraphQL, Sangria, async-graphql, Contentful, monday.com.
    "limits by words": _limit(
        lambda error: not error.path and bool(EXCEEDED.search(error.message)) and bool(MEASURED.search(error.message))
    ),
}
"""Known habits of servers, with the kind that each shows. Source: each project's own error formats."""


def _is_limit_code(code: str) -> bool:
    words = code.upper().replace("-", "_")
    return "LIMIT" in words.split("_") or words.endswith(LIMIT_ENDINGS)


LIMIT_ENDINGS = (
    "RATE_LIMITED",
    "RATELIMITED",
    "_EXCEEDED",
    "_EXHAUSTED",
    "THROTTLED",
    "TOO_EXPENSIVE",
    "TOO_MANY_REQUESTS",
    "TOO_COMPLEX",
)
