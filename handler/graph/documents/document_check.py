"""Check a document against a view: parse, operation, structural limits, validation, variables, cost, print.

All GraphQL text of callers takes this path. Nothing else of theirs goes upstream. graphql-core loads with this module,
so callers import the module only when a document arrives.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from itertools import chain, repeat
from typing import Any

from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    NoUndefinedVariablesRule,
    NoUnusedFragmentsRule,
    NoUnusedVariablesRule,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    VariablesInAllowedPositionRule,
    get_named_type,
    get_nullable_type,
    get_variable_values,
    is_input_object_type,
    is_list_type,
    parse,
    specified_rules,
    type_from_ast,
    validate,
)

from handler.bundle.operations import Limits
from handler.cold.records import record
from handler.errors.calls import DocumentRefused, Fault
from handler.graph.documents.cost import refuse_costly
from handler.graph.documents.hidden_types import TYPE_NAME, HiddenNames, find_hidden_names
from handler.graph.documents.limits import refuse_large
from handler.graph.documents.locations import DocumentText, fault_of
from handler.graph.documents.operation import (
    MAX_CHARS,
    alone,
    choose_operation,
    is_introspection,
    operations_of,
    print_bounded,
    refuse_kind,
)
from handler.graph.documents.partial_schema import ValidDocument, ViewSchemas
from handler.graph.view import View
from handler.json_schema.json_bounds import excess_of
from handler.json_schema.sent_arguments import read_text
from handler.strict_json import to_json_bytes

MAX_ERRORS = DocumentRefused.MAX_FAULTS + 1
"""Errors to look for: those that are reported, and one to know that there are more."""

ABORTED = " aborted."
"""The end of graphql-core's message when it gives up, which has no location."""

JSON_TYPES_OF: Mapping[str, Set[str]] = {"Int": {"integer"}, "Float": {"number"}, "Boolean": {"boolean"}}
"""The scalars that take no text. Enums, and scalars of the schema's own, may take one."""

Rule = type[ASTValidationRule]

RULES_OF_OPERATIONS = (
    NoUndefinedVariablesRule,
    NoUnusedFragmentsRule,
    NoUnusedVariablesRule,
    OverlappingFieldsCanBeMergedRule,
    VariablesInAllowedPositionRule,
)
"""Rules that walk a fragment once for each operation that uses it, or for each field beside it."""

RULES_OF_PARTS = tuple(rule for rule in specified_rules if rule not in RULES_OF_OPERATIONS)


@record(frozen=True, slots=True, kw_only=True)
class CheckedDocument:
    """A request inside its view: one operation with the fragments it uses, printed anew."""

    kind: str  # query | mutation
    name: str | None
    text: str
    variables: Mapping[str, Any]  # only the declared ones, as the caller gave them
    introspection: DocumentNode | None  # answered here, never sent
    hidden_names: HiddenNames | None = None  # if its answer may reveal some


def check_document(
    text: str,
    *,
    schemas: ViewSchemas,
    operation_name: str | None,
    variables: Mapping[str, Any],
    limits: Limits,
    for_model: bool = False,
) -> CheckedDocument:
    """Check a request against a view.

    ``for_model``: a model wrote the variables, so JSON texts in them are read as in ``json_schema/sent_arguments.py``.

    Raises:
        DocumentRefused: with the first faults, each with line and column if it has a location.

    Source: GraphQL specification, sections 5 (Validation) and 6.1 (Executing Requests).
    """
    view = schemas.view
    known = schemas.find_valid(text, limits)
    document = known.document if known else _parse(text, limits)
    operation = choose_operation(document, operation_name)
    refuse_kind(document, operation, view)
    schema = known.schema if known else _valid_schema(text, document, operation, schemas, limits)
    own = alone(document, operation)
    declared = _declared_variables(operation, variables)
    if for_model:
        declared = _texts_read(schema, operation, declared, limits)
    _refuse_unsendable(declared)
    coerced = _coerced_variables(schema, operation, declared, view)
    refuse_costly(own, view, variables=coerced, max_cost=limits.max_cost)
    sent = print_bounded(own)
    introspection = own if is_introspection(own, operation, view) else None
    return CheckedDocument(
        kind=operation.operation.value,
        name=operation.name.value if operation.name else None,
        text=sent,
        variables=declared,
        introspection=introspection,
        hidden_names=find_hidden_names(own, view) if TYPE_NAME in sent and not introspection else None,
    )


def answer_introspection(checked: CheckedDocument, schemas: ViewSchemas, *, for_model: bool = False) -> dict[str, Any]:
    """Answer a document of introspection fields from the view, as a GraphQL response.

    ``for_model``: the answer is for a model, so the limit of its size is lower, and a field error is a sentence.

    Raises:
        DocumentRefused: the answer would be too large, or a model's answer would have a field error.
    """
    if checked.introspection is None:
        raise DocumentRefused(Fault("this document does not ask for the schema"))
    from handler.graph.documents.introspection import MAX_BYTES, MAX_BYTES_OF_A_CALL, FieldFailed, answer

    max_bytes = MAX_BYTES_OF_A_CALL if for_model else MAX_BYTES
    try:
        return {"data": answer(checked.introspection, schemas, checked.variables, max_bytes=max_bytes)}
    except FieldFailed as exc:
        if for_model:
            raise DocumentRefused(exc.faults[0]) from exc
        return {"data": None, "errors": [exc.error]}


def _parse(text: str, limits: Limits) -> DocumentNode:
    if len(text) > MAX_CHARS:
        more = f"it has more than {MAX_CHARS:,} characters"
        raise DocumentRefused(Fault(f"{more}: ask for less in one request, and give long values as variables"))
    try:
        return parse(DocumentText(text), max_tokens=limits.max_tokens, allow_empty_selection_sets=False)
    except GraphQLError as exc:
        raise DocumentRefused(fault_of(exc)) from exc


def _valid_schema(
    text: str, document: DocumentNode, operation: OperationDefinitionNode, schemas: ViewSchemas, limits: Limits
) -> GraphQLSchema:
    """Validate a document without the values of its variables, and return the schema that was used.

    graphql-core gives up if many operations share a wide fragment, because some rules walk it once for each operation.
    Then all rules check the operation that runs, and the rules without this cost check every part of the document once.
    """
    refuse_large(document, limits)
    schema = schemas.touched_by(document)
    errors = _validate(schema, document, specified_rules)
    if errors and not _about_the_document(errors) and len(operations_of(document)) > 1:
        _refuse(_validate(schema, document, RULES_OF_PARTS), schemas.view)
        _refuse(_validate(schema, alone(document, operation), specified_rules), schemas.view)
        return schema
    _refuse(errors, schemas.view)
    schemas.keep_valid(text, limits, ValidDocument(document, schema))
    return schema


def _validate(schema: GraphQLSchema, document: DocumentNode, rules: Collection[Rule]) -> list[GraphQLError]:
    return validate(schema, document, rules, max_errors=MAX_ERRORS, hide_suggestions=True)


def _about_the_document(errors: Sequence[GraphQLError]) -> list[GraphQLError]:
    """Return the errors without graphql-core's message that it gave up."""
    return [error for error in errors if error.nodes or not error.message.endswith(ABORTED)]


def _refuse(errors: Sequence[GraphQLError], view: View) -> None:
    found = _about_the_document(errors)
    if errors and not found:
        raise DocumentRefused(Fault("it takes too much work to be judged: ask for less, and repeat fields less often"))
    if found:
        from handler.graph.documents.hints import hints_for  # compiles patterns that only hints need

        hints = hints_for([error.message for error in found[: DocumentRefused.MAX_FAULTS]], view)
        told = zip(found, chain(hints.sentences, repeat("")), strict=False)
        faults = [fault_of(error, hint) for error, hint in told]
        raise DocumentRefused(*faults, sdl=hints.sdl, complete=len(found) == len(errors))


def _declared_variables(operation: OperationDefinitionNode, given: Mapping[str, Any]) -> dict[str, Any]:
    names = {node.variable.name.value for node in operation.variable_definitions or ()}
    return {name: value for name, value in given.items() if name in names}


def _texts_read(
    schema: GraphQLSchema, operation: OperationDefinitionNode, declared: dict[str, Any], limits: Limits
) -> dict[str, Any]:
    types = {
        node.variable.name.value: type_from_ast(schema, node.type) for node in operation.variable_definitions or ()
    }
    try:
        read = {name: _text_read(value, types[name]) for name, value in declared.items()}
    except ValueError as exc:
        raise DocumentRefused(Fault(f"a variable: {exc}")) from exc
    if excess := excess_of(read, max_values=limits.max_values):
        raise DocumentRefused(Fault(f"variables: {excess}"))
    return read


def _text_read(value: Any, type_: Any) -> Any:
    """Return a value with JSON texts read where its type takes no text."""
    nullable, named = get_nullable_type(type_), get_named_type(type_)
    match value:
        case list() if is_list_type(nullable):
            return [_text_read(each, nullable.of_type) for each in value]
        case dict() if is_input_object_type(named):
            return {
                key: _text_read(each, named.fields[key].type) if key in named.fields else each
                for key, each in value.items()
            }
        case str():
            wanted = {"object"} if is_input_object_type(named) else JSON_TYPES_OF.get(named.name, set())
            wanted = wanted | {"null"} if wanted and nullable is type_ else wanted
            return read_text(value, wanted | {"array"} if is_list_type(nullable) else wanted)
    return value


def _coerced_variables(
    schema: GraphQLSchema, operation: OperationDefinitionNode, declared: dict[str, Any], view: View
) -> Mapping[str, Any]:
    nodes = operation.variable_definitions or ()
    coerced = get_variable_values(schema, nodes, declared, max_errors=MAX_ERRORS, hide_suggestions=True)
    if isinstance(coerced, list):
        _refuse(coerced, view)
        return {}
    return coerced.coerced


def _refuse_unsendable(variables: dict[str, Any]) -> None:
    """Refuse values that Python's JSON reader accepts and its writer does not. Custom scalars take any value."""
    try:
        to_json_bytes(variables)
    except ValueError as exc:
        raise DocumentRefused(Fault("a variable has a number that JSON cannot carry")) from exc
