"""What clients of the API have of its schema: persisted operations are clients', so they are judged against this."""

from __future__ import annotations

from graphql import (
    DocumentNode,
    FieldsOnCorrectTypeRule,
    KnownArgumentNamesRule,
    KnownOperationTypesRule,
    KnownTypeNamesRule,
    PossibleFragmentSpreadsRule,
    ValuesOfCorrectTypeRule,
    build_schema,
    validate,
)

from handler.compiler.context import Endpoint
from handler.compiler.problems import Problems
from handler.graph.view import build_view, print_view
from handler.policy.evaluation import OPEN, hidden_from

RULES = (
    FieldsOnCorrectTypeRule,
    KnownArgumentNamesRule,
    KnownOperationTypesRule,
    KnownTypeNamesRule,
    PossibleFragmentSpreadsRule,
    ValuesOfCorrectTypeRule,
)
"""What a hidden coordinate can break. A view has no definitions of directives, so these are not judged again."""

NOTHING = "schema { subscription: Subscription } type Subscription { nothing: Boolean }"
"""A schema to which no operation of a tool is valid."""

WHY = "@sdl(visibility:) or @inaccessible hides it from clients."


class ExternalSchema:
    """An endpoint's schema without what ``@sdl(visibility:)`` and ``@inaccessible`` hide, and what goes with that."""

    def __init__(self, endpoint: Endpoint) -> None:
        view = build_view(endpoint.index, hidden_from(OPEN, endpoint.external_guards))
        sdl = print_view(view) if view.root_fields() else NOTHING
        self._schema = build_schema(sdl, assume_valid=True, assume_valid_sdl=True)

    def refuse(self, document: DocumentNode, problems: Problems) -> bool:
        """Report what a valid document uses and clients do not have. Whether there was something."""
        errors = validate(self._schema, document, rules=RULES, hide_suggestions=True)
        for error in errors:
            problems.add(error, f"{error.message} {WHY}", code="hidden-from-clients")
        return bool(errors)
