"""Drift: an API that refuses a document which its published schema allows.

GraphQL says how an error of execution looks (it has a path) and leaves open how one of validation does, so servers are
known by their habits. What no habit fits is taken for an error of execution, or of a variable's value, whose words are
for the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handler.records import dataclass

STATIC_PATH = re.compile(r"query|mutation|subscription|(fragment|query|mutation|subscription) .*", re.DOTALL)
"""How the path of an error begins that graphql-ruby found in the document, before it executed anything."""

APOLLO_CODES = ("GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED", "INVALID_FIELD", "PARSING_ERROR")

GRAPHQL_JAVA = re.compile(r"(Validation error|Invalid Syntax)\b", re.IGNORECASE)

HOT_CHOCOLATE_CODE = re.compile(r"HC\d{4}")
SPECIFICATION = re.compile(r"https?://(spec\.graphql\.org|graphql\.github\.io|facebook\.github\.io)/.*", re.DOTALL)
"""What Hot Chocolate's validation rules, and nothing else of it, name as ``specifiedBy``."""

SELECTION = "$.selectionSet"
"""Where Hasura's path to a field of the document begins."""

SECTION = re.compile(r"5\.\d[\d.]*")
"""The rule's section in GraphQL's specification, which GraphQL.NET gives as ``number``."""

OF_A_VALUE = re.compile(
    r"""Variable\b(?!.*(used\ in\ position|input\ type))   # of most servers
    | Argument\ "\w+"\ has\ invalid\ value\ \$             # Absinthe's
    | Invalid\ value\ for\ argument\b                      # async-graphql's, which judges values with the document
    """,
    re.DOTALL | re.VERBOSE,
)
"""How the message begins of an error about what a caller gave for a variable."""


def is_static(path: object) -> bool:
    """Whether an error's path leads through the document, not through an answer."""
    return isinstance(path, list) and bool(path) and bool(STATIC_PATH.fullmatch(str(path[0])))


def is_drift(error: Mapping[str, Any]) -> bool:
    """Whether an error of a response without data is one of validation.

    An error about the value of a variable is none: it is the caller's to mend.
    """
    return bool(habits_in(error))


def habits_in(error: Mapping[str, Any]) -> list[str]:
    """The names in ``VALIDATION`` of the habits that an error shows."""
    extensions = error.get("extensions")
    found = _Error(
        message=_text(error, "message"),
        points=bool(error.get("locations")),
        path=error["path"] if isinstance(error.get("path"), list) else (),
        extensions=extensions if isinstance(extensions, dict) else {},
    )
    of_a_value = OF_A_VALUE.match(found.message)
    return [] if of_a_value else [name for name, is_validation in VALIDATION.items() if is_validation(found)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Error:
    """An error as far as its origin shows. ``points``: it names places in the document."""

    message: str
    points: bool
    path: Sequence[Any]  # empty: none
    extensions: Mapping[str, Any]

    def says(self, name: str) -> str:
        """An extension that is a text; empty: there is none."""
        return _text(self.extensions, name)


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


VALIDATION: Mapping[str, Callable[[_Error], bool]] = {
    # graphql-js and its ports (graphql-core with Strawberry and graphene, webonyx with Lighthouse, Absinthe, Juniper,
    # async-graphql), PostGraphile and AppSync: a place in the document, and neither path nor code.
    "graphql-js": lambda error: (
        error.points and not error.path and not error.says("code") and not error.says("classification")
    ),
    # Apollo Server and Router, GraphQL Yoga, gqlgen. gqlgen gives the same code to values, with a path to the variable.
    "Apollo": lambda error: error.says("code") in APOLLO_CODES and not error.path,
    "graphql-ruby": lambda error: error.points and is_static(error.path),
    # graphql-java with Spring and DGS. A resolver may use this class of errors too, with words of its own.
    "graphql-java": lambda error: (
        error.says("classification") in ("ValidationError", "InvalidSyntax")
        and ((error.points and not error.path) or bool(GRAPHQL_JAVA.match(error.message)))
    ),
    # Hot Chocolate: its rules name their section of the specification, some of them with a path to the field.
    "Hot Chocolate": lambda error: (
        bool(SPECIFICATION.fullmatch(error.says("specifiedBy")))
        or (bool(HOT_CHOCOLATE_CODE.fullmatch(error.says("code"))) and error.points and not error.path)
    ),
    "GraphQL.NET": lambda error: bool(SECTION.fullmatch(error.says("number"))) and error.points and not error.path,
    # Hasura: the path to the field is an extension. Values and its validation webhooks have the same code, and "$".
    "Hasura": lambda error: (
        error.says("code") == "validation-failed" and (error.says("path") or SELECTION).startswith(SELECTION)
    ),
}
"""The servers whose errors of validation are known, and how. Source: each project's own error formats."""
