"""Check a document against a view: parse, operation, structural limits, validation, variables, cost, print.

All GraphQL text of callers takes this path. Nothing else of theirs goes upstream. graphql-core loads with this module,
so callers import the module only when a document arrives.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from hashlib import sha256
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

from handler.bundle.tools import Limits
from handler.cold.records import record
from handler.errors.calls import DocumentRefused, Fault
from handler.graph.documents.limits import refuse_costly, refuse_large
from handler.graph.documents.locations import DocumentText, fault_of
from handler.graph.documents.operation import (
    MAX_CHARS,
    TYPE_NAME,
    Selected,
    alone,
    choose_operation,
    fields_by_key,
    fragments_of,
    is_introspection,
    only_operation,
    operations_of,
    print_bounded,
    refuse_kind,
)
from handler.graph.documents.partial_schema import ValidDocument, ViewSchemas
from handler.graph.documents.used_fields import visible_field
from handler.graph.index import named_type
from handler.graph.view import View
from handler.json_schema.json_bounds import excess_of
from handler.json_schema.sent_arguments import read_text
from handler.strict_json import JSONObject, to_json_bytes

MAX_ERRORS = DocumentRefused.MAX_FAULTS + 1
"""Errors to look for: those that are reported, and one to know that there are more."""

JSON_TYPES_OF: Mapping[str, Set[str]] = {"Int": {"integer"}, "Float": {"number"}, "Boolean": {"boolean"}}
"""The scalars that take no text. Enums, and scalars of the schema's own, may take one."""

RULES_OF_OPERATIONS = (
    NoUndefinedVariablesRule,
    NoUnusedFragmentsRule,
    NoUnusedVariablesRule,
    OverlappingFieldsCanBeMergedRule,
    VariablesInAllowedPositionRule,
)
"""Rules that walk a fragment once for each operation that uses it, or for each field beside it."""


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
    valid = schemas.find_valid(text, limits)
    chosen: _ChosenOperation | None = valid.chosen.get(operation_name) if valid else None
    chosen = chosen or _choose(text, valid, schemas, operation_name, limits)
    nodes = chosen.node.variable_definitions or ()
    names = {node.variable.name.value for node in nodes}
    declared = {name: value for name, value in variables.items() if name in names}
    if for_model:
        declared = _texts_read(chosen.schema, chosen.node, declared, limits)
    try:
        to_json_bytes(declared)  # Python's JSON reader accepts values that its writer does not; custom scalars take any
    except ValueError as exc:
        raise DocumentRefused(Fault("a variable has a number that JSON cannot carry")) from exc
    coerced = get_variable_values(chosen.schema, nodes, declared, max_errors=MAX_ERRORS, hide_suggestions=True)
    if isinstance(coerced, list):
        _refuse(coerced, schemas.view)
    elif chosen.cheap_values != _values_of(chosen.counted, coerced.coerced):
        values = coerced.coerced
        counted = sorted(refuse_costly(chosen.document, schemas.view, variables=values, max_cost=limits.max_cost))
        if valid:
            _remember(replace(chosen, counted=counted, cheap_values=_values_of(counted, values)), valid, operation_name)
    return CheckedDocument(
        kind=chosen.node.operation.value,
        name=chosen.node.name.value if chosen.node.name else None,
        text=chosen.text,
        variables=declared,
        introspection=chosen.document if chosen.introspects else None,
        hidden_names=chosen.hidden_names,
    )


@record(frozen=True, slots=True, kw_only=True)
class _ChosenOperation:
    """One operation of a valid document: all that hangs on the text, the view and the name alone."""

    node: OperationDefinitionNode
    schema: GraphQLSchema
    document: DocumentNode  # this operation, and the fragments that it uses
    text: str
    introspects: bool
    hidden_names: HiddenNames | None
    counted: Sequence[str] = ()  # names of variables on which the cost depends
    cheap_values: bytes | None = None  # the digest of the last values of these whose cost was below the limit


MOST_CHOSEN = 4
"""The operations that are remembered of a document. Their texts have the fragments of the document again."""


def _remember(chosen: _ChosenOperation, valid: ValidDocument, name: str | None) -> None:
    if len(valid.chosen) >= MOST_CHOSEN and name not in valid.chosen:
        valid.chosen.clear()
    valid.chosen[name] = chosen


def _values_of(names: Sequence[str], variables: Mapping[str, Any]) -> bytes:
    """Return the digest of the values of variables, in which ``1``, ``1.0`` and ``True`` differ."""
    values = [(name, variables[name]) for name in names if name in variables]
    return sha256(repr(values).encode(errors="surrogatepass")).digest()


def _choose(
    text: str, valid: ValidDocument | None, schemas: ViewSchemas, operation_name: str | None, limits: Limits
) -> _ChosenOperation:
    view = schemas.view
    document = valid.document if valid else _parse(text, limits)
    operation = choose_operation(document, operation_name)
    refuse_kind(document, operation, view)
    valid = valid or _validated(text, document, operation, schemas, limits)
    own = alone(document, operation)
    printed = print_bounded(own)
    introspects = is_introspection(own, operation, view)
    chosen = _ChosenOperation(
        node=operation,
        schema=valid.schema,
        document=own,
        text=printed,
        introspects=introspects,
        hidden_names=find_hidden_names(own, view) if TYPE_NAME in printed and not introspects else None,
    )
    _remember(chosen, valid, operation_name)
    return chosen


def answer_introspection(checked: CheckedDocument, schemas: ViewSchemas, *, for_model: bool = False) -> dict[str, Any]:
    """Answer a document of introspection fields from the view, as a GraphQL response.

    ``for_model``: the answer is for a model, so the limit of its size is lower, and a field error is a sentence.

    Raises:
        DocumentRefused: the answer would be too large, or a model's answer would have a field error.
    """
    if checked.introspection is None:
        raise DocumentRefused(Fault("this document does not ask for the schema"))
    from handler.graph.documents.introspection import MAX_BYTES, MAX_BYTES_OF_A_CALL, FieldFailed, introspection_data

    max_bytes = MAX_BYTES_OF_A_CALL if for_model else MAX_BYTES
    try:
        return {"data": introspection_data(checked.introspection, schemas, checked.variables, max_bytes=max_bytes)}
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


def _validated(
    text: str, document: DocumentNode, operation: OperationDefinitionNode, schemas: ViewSchemas, limits: Limits
) -> ValidDocument:
    """Validate a document without the values of its variables, and return it with the schema that was used.

    graphql-core gives up if many operations share a wide fragment, because some rules walk it once for each operation.
    Then all rules check the operation that runs, and the rules without this cost check every part of the document once.
    """
    refuse_large(document, limits)
    schema = schemas.touched_by(document)
    errors = _validate(schema, document, specified_rules)
    if errors and not _about_the_document(errors) and len(operations_of(document)) > 1:
        rules = [rule for rule in specified_rules if rule not in RULES_OF_OPERATIONS]
        _refuse(_validate(schema, document, rules), schemas.view)
        _refuse(_validate(schema, alone(document, operation), specified_rules), schemas.view)
        return ValidDocument(document, schema)
    _refuse(errors, schemas.view)
    valid = ValidDocument(document, schema)
    schemas.keep_valid(text, limits, valid)
    return valid


def _validate(
    schema: GraphQLSchema, document: DocumentNode, rules: Collection[type[ASTValidationRule]]
) -> list[GraphQLError]:
    return validate(schema, document, rules, max_errors=MAX_ERRORS, hide_suggestions=True)


def _about_the_document(errors: Sequence[GraphQLError]) -> list[GraphQLError]:
    """Return the errors without graphql-core's message that it gave up, which has no location."""
    return [error for error in errors if error.nodes or not error.message.endswith(" aborted.")]


def _refuse(errors: Sequence[GraphQLError], view: View) -> None:
    faults = _about_the_document(errors)
    if errors and not faults:
        raise DocumentRefused(Fault("it takes too much work to be judged: ask for less, and repeat fields less often"))
    if faults:
        from handler.graph.documents.hints import hints_for  # compiles patterns that only hints need

        sentences, sdl = hints_for([error.message for error in faults[: DocumentRefused.MAX_FAULTS]], view)
        with_hints = map(fault_of, faults, chain(sentences, repeat("")))
        raise DocumentRefused(*with_hints, sdl=sdl, complete=len(faults) == len(errors))


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
    nullable, base = get_nullable_type(type_), get_named_type(type_)
    match value:
        case list() if is_list_type(nullable):
            return [_text_read(each, nullable.of_type) for each in value]
        case dict() if is_input_object_type(base):
            return {
                key: _text_read(each, base.fields[key].type) if key in base.fields else each
                for key, each in value.items()
            }
        case str():
            types = {"object"} if is_input_object_type(base) else JSON_TYPES_OF.get(base.name, set())
            types = types | {"null"} if types and nullable is type_ else types
            return read_text(value, types | {"array"} if is_list_type(nullable) else types)
    return value


@record(frozen=True, slots=True)
class _Place:
    """The selection on the objects in one place of an answer: type names, and the selections below."""

    unions: Mapping[str, str]  # response key of a type name -> the union whose name replaces a hidden one
    below: Mapping[str, _Place]


@record(frozen=True, slots=True)
class HiddenNames:
    """The places where the answer to one document may name types that are not in a view.

    A hidden member of a union may still be one of its values, and ``__typename`` would reveal its name. The union's
    name replaces it: if the object became null, clients would have to take everything around it for null.
    """

    view: View
    root: _Place

    def replace_in(self, response: JSONObject) -> None:
        """Replace hidden names in a response, in place, because an API's answer may be large."""
        waiting = [(response.get("data"), self.root)]
        while waiting:
            value, place = waiting.pop()
            if isinstance(value, list):
                waiting += [(each, place) for each in value]
            elif isinstance(value, dict):
                waiting += [(value[key], below) for key, below in place.below.items() if key in value]
                for key, union in place.unions.items():
                    if isinstance(value.get(key), str) and value[key] not in self.view.members:
                        value[key] = union


def find_hidden_names(document: DocumentNode, view: View) -> HiddenNames | None:
    """Find the places where the answer to a valid document of one operation may name hidden types; ``None`` if none."""
    fragments = fragments_of(document)

    def hides_members(name: str) -> bool:  # an interface is hidden together with an implementer
        return view.index.kind(name) == "union" and not view.members.keys() >= {*view.index.members(name)}

    def place(selected: Selected) -> _Place | None:
        unions: dict[str, str] = {}
        below: dict[str, _Place] = {}
        for key, nodes in fields_by_key(selected, fragments).items():
            for on, node in nodes:
                if node.name.value == TYPE_NAME and hides_members(on):
                    unions[key] = on
            fields = ((visible_field(view, on, node.name.value), node.selection_set) for on, node in nodes)
            if inner := place([(named_type(field.type), inside) for field, inside in fields if field and inside]):
                below[key] = inner
        return _Place(unions, below) if unions or below else None

    operation = only_operation(document)
    root = place([(view.index.roots[operation.operation.value], operation.selection_set)])
    return HiddenNames(view, root) if root else None
