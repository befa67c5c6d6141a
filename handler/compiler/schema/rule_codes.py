"""Diagnostic codes of graphql-core's validation rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from functools import cache
from typing import Any

from graphql import ASTValidationRule, DirectiveNode, GraphQLError

from handler.text.sentences import nearest

CODE_OF_RULE: Mapping[str, str] = {
    "DeferStreamDirectiveLabel": "wrong-value",
    "DeferStreamDirectiveOnRootField": "misplaced-directive",
    "DeferStreamDirectiveOnValidOperationsRule": "misplaced-directive",
    "ExecutableDefinitionsRule": "misplaced-definition",
    "FieldsOnCorrectTypeRule": "unknown-field",
    "FragmentsOnCompositeTypesRule": "wrong-kind",
    "KnownArgumentNamesRule": "unknown-argument",
    "KnownArgumentNamesOnDirectivesRule": "unknown-argument",
    "KnownDirectivesRule": "unknown-directive",
    "KnownFragmentNamesRule": "unknown-fragment",
    "KnownOperationTypesRule": "missing-operation-type",
    "KnownTypeNamesRule": "unknown-type",
    "LoneAnonymousOperationRule": "anonymous-operation",
    "LoneSchemaDefinitionRule": "duplicate-schema",
    "MaxIntrospectionDepthRule": "too-complex",
    "NoFragmentCyclesRule": "fragment-cycle",
    "NoUndefinedVariablesRule": "undefined-variable",
    "NoUnusedFragmentsRule": "unused-fragment",
    "OverlappingFieldsCanBeMergedRule": "conflicting-fields",
    "PossibleFragmentSpreadsRule": "impossible-fragment",
    "PossibleTypeExtensionsRule": "impossible-extension",
    "ProvidedRequiredArgumentsRule": "missing-argument",
    "ProvidedRequiredArgumentsOnDirectivesRule": "missing-argument",
    "ScalarLeafsRule": "wrong-selection",
    "SingleFieldSubscriptionsRule": "subscription",
    "StreamDirectiveOnListField": "misplaced-directive",
    "UniqueArgumentDefinitionNamesRule": "duplicate-definition",
    "UniqueArgumentNamesRule": "duplicate-argument",
    "UniqueDirectiveNamesRule": "duplicate-definition",
    "UniqueDirectivesPerLocationRule": "repeated-directive",
    "UniqueEnumValueNamesRule": "duplicate-definition",
    "UniqueFieldDefinitionNamesRule": "duplicate-definition",
    "UniqueFragmentNamesRule": "duplicate-definition",
    "UniqueInputFieldNamesRule": "duplicate-argument",
    "UniqueOperationNamesRule": "duplicate-operation",
    "UniqueOperationTypesRule": "conflicting-root-types",
    "UniqueTypeNamesRule": "duplicate-definition",
    "UniqueVariableNamesRule": "duplicate-definition",
    "ValuesOfCorrectTypeRule": "wrong-value",
    "VariablesAreInputTypesRule": "wrong-kind",
    "VariablesInAllowedPositionRule": "wrong-variable-type",
}
"""Rule name -> code."""

OTHER = "invalid-graphql"
"""The code of all other rules, which later versions of graphql-core add."""

_KEY = "code"


def coded(rules: Iterable[Any]) -> tuple[type[Any], ...]:
    """Wrap rules of graphql-core so that their errors carry a code."""
    return tuple(_coded(rule) for rule in rules)


def code_of(error: GraphQLError) -> str:
    """Return the code of an error; ``OTHER`` if no coded rule reported it."""
    return str((error.extensions or {}).get(_KEY, OTHER))


def sentence_of(error: GraphQLError, directives: Iterable[str]) -> str:
    """Return an error's sentence. That of an unknown directive names the one of ``directives`` that may be meant."""
    node = next(iter(error.nodes or ()), None)
    if not error.message.startswith("Unknown directive") or not isinstance(node, DirectiveNode):
        return error.message
    nearest_name = nearest(node.name.value, list(directives))
    return error.message if nearest_name is None else f"{error.message.rstrip('.')}; did you mean @{nearest_name}?"


def with_code(error: GraphQLError, code: str) -> GraphQLError:
    """Set the code of an error."""
    error.extensions = {**(error.extensions or {}), _KEY: code}
    return error


@cache
def _coded(rule: type[ASTValidationRule]) -> type[ASTValidationRule]:
    code = CODE_OF_RULE.get(rule.__name__, OTHER)

    class Coded(rule):  # type: ignore[misc, valid-type]
        def __init__(self, context: Any) -> None:
            own = copy(context)  # some rules report to the context directly
            own.report_error = lambda error: context.report_error(with_code(error, code))
            super().__init__(own)

    return Coded
