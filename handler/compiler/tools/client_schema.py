"""The client-visible schema of the API, against which persisted operations are validated."""

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

from handler.compiler.api_context import ApiContext
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from handler.policy.evaluation import OPEN, hidden_from

RULES = (
    FieldsOnCorrectTypeRule,
    KnownArgumentNamesRule,
    KnownOperationTypesRule,
    KnownTypeNamesRule,
    PossibleFragmentSpreadsRule,
    ValuesOfCorrectTypeRule,
)
"""The rules that a hidden coordinate can break. A view has no directives, so their rules are not among these."""

NOTHING = "schema { subscription: Subscription } type Subscription { nothing: Boolean }"
"""A schema for which no operation of a tool is valid."""

WHY = "@sdl(visibility:) or @inaccessible hides it from clients."


class ExternalSchema:
    """An endpoint's schema as its clients see it: without all that ``@sdl(visibility:)`` and ``@inaccessible`` hide."""

    def __init__(self, context: ApiContext) -> None:
        self._problems = context.problems
        view = build_view(context.index, hidden_from(OPEN, context.external_guards))
        sdl = print_view(view) if view.root_fields() else NOTHING
        self._schema = build_schema(sdl, assume_valid=True, assume_valid_sdl=True)

    def refuse(self, document: DocumentNode) -> bool:
        """Report the hidden coordinates in a valid document; true if there are any."""
        errors = validate(self._schema, document, rules=RULES, hide_suggestions=True)
        for error in errors:
            self._problems.add(error, f"{error.message} {WHY}", code="hidden-from-clients")
        return bool(errors)
