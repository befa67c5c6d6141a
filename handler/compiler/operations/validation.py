"""Validation of an author's operations by GraphQL's rules: errors and deprecation warnings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    LoneAnonymousOperationRule,
    NoDeprecatedCustomRule,
    NoUnusedVariablesRule,
    UniqueOperationNamesRule,
    specified_rules,
    validate,
)

from handler.compiler.problems import Problems
from handler.compiler.schema.rule_codes import coded

NAME_RULES = (LoneAnonymousOperationRule, UniqueOperationNamesRule)
"""Not among ``RULES``: ``operations.py`` checks names over all files, and unnamed operations."""

RULES = coded(rule for rule in specified_rules if rule not in (*NAME_RULES, NoUnusedVariablesRule))
"""All other rules of GraphQL, except that unused variables are valid: ``normalize.py`` removes them."""

MAX_DEPRECATIONS = 20
"""The number of deprecated coordinates that get a warning each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The errors and deprecations in one document."""

    mistakes: list[GraphQLError]
    deprecated: list[GraphQLError]


def judge(document: DocumentNode, schema: GraphQLSchema) -> Verdict:
    """Validate a document in one pass: all rules and deprecations."""
    deprecated: list[GraphQLError] = []
    gathering = _gathering(NoDeprecatedCustomRule, deprecated)
    return Verdict(mistakes=validate(schema, document, rules=(*RULES, gathering)), deprecated=deprecated)


def warn_of_deprecations(found: Iterable[GraphQLError], problems: Problems) -> None:
    """Warn of each deprecated coordinate once, at its first use, most used first."""
    places: dict[str, list[GraphQLError]] = {}
    for error in found:
        places.setdefault(error.message, []).append(error)
    often = sorted(places.items(), key=lambda each: -len(each[1]))
    for message, errors in often[:MAX_DEPRECATIONS]:
        more = f" ({len(errors)} uses)" if len(errors) > 1 else ""
        problems.warn(errors[0], f"{message}{more}", code="deprecated")
    rest = often[MAX_DEPRECATIONS:]
    if rest:
        uses = sum(len(errors) for _, errors in rest)
        problems.warn(
            rest[0][1][0],
            f"{len(rest)} more that are deprecated are used {uses} times, this among them",
            code="deprecated",
        )


def _gathering(rule: type[ASTValidationRule], found: list[GraphQLError]) -> type[ASTValidationRule]:
    """Return a copy of a rule that adds its errors to ``found``."""

    class Gathering(rule):  # type: ignore[misc, valid-type]
        def report_error(self, error: GraphQLError) -> None:
            found.append(error)

    return Gathering
