"""An author's operations judged by GraphQL's rules: mistakes, and what is only worth a warning."""

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
"""Names are judged over all files, and an operation without one cannot be a tool."""

RULES = coded(rule for rule in specified_rules if rule not in (*NAME_RULES, NoUnusedVariablesRule))
"""An operation with an unused variable may be published: ``sending.py`` takes the variable out."""

MAX_DEPRECATIONS = 20
"""Deprecated fields, arguments and values that are warned of one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The findings in one document."""

    mistakes: list[GraphQLError]
    deprecated: list[GraphQLError]


def judge(document: DocumentNode, schema: GraphQLSchema) -> Verdict:
    """Validate a document once, by all rules."""
    deprecated: list[GraphQLError] = []
    gathering = _gathering(NoDeprecatedCustomRule, deprecated)
    return Verdict(mistakes=validate(schema, document, rules=(*RULES, gathering)), deprecated=deprecated)


def warn_of_deprecations(found: Iterable[GraphQLError], problems: Problems) -> None:
    """Warn of each deprecated coordinate once, where it is used first, the most used ones first."""
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
    """A rule whose errors are gathered apart."""

    class Gathering(rule):  # type: ignore[misc, valid-type]
        def report_error(self, error: GraphQLError) -> None:
            found.append(error)

    return Gathering
