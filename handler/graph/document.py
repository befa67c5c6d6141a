"""A document's way through a view: parse, structural limits, operation, validation, variables, print.

One path for everything that a caller writes as GraphQL text. Nothing that did not come through here goes upstream.
graphql-core loads with this module, so it is imported where a document arrives, not before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from graphql import (
    DefinitionNode,
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    Visitor,
    build_ast_schema,
    execute_sync,
    parse,
    print_ast,
    separate_operations,
    validate,
    visit,
)
from graphql.execution.values import get_variable_values

from handler.bundle import Limits, to_json_bytes
from handler.errors import DocumentRefused
from handler.graph.size import refuse_large

INTROSPECTION = frozenset({"__schema", "__type"})

D = TypeVar("D", bound=DirectiveNode)

MAX_ERRORS = 10
MAX_SENTENCE_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDocument:
    """A request that stays inside its view: one operation with the fragments it uses, printed anew."""

    kind: str  # query | mutation
    name: str | None
    text: str
    variables: Mapping[str, Any]  # declared ones only, as the caller gave them
    introspection: DocumentNode | None  # answered here, never sent


def build_view_schema(sdl: str) -> GraphQLSchema:
    """The executable form of a view's SDL. The compiler has judged the schema; here it is taken as valid."""
    return build_ast_schema(parse(sdl, no_location=True), assume_valid=True, assume_valid_sdl=True)


def check_document(
    text: str,
    *,
    schema: GraphQLSchema,
    operation_name: str | None,
    variables: Mapping[str, Any],
    limits: Limits,
) -> CheckedDocument:
    """Judge a request against the schema of a view.

    Raises:
        DocumentRefused: with at most ten sentences, each with line and column where there is one.

    Source: GraphQL specification, sections 5 (Validation) and 6.1 (Executing Requests).
    """
    document = _parse(text, limits)
    operation = _choose_operation(document, operation_name)
    _refuse_kind(operation, schema)
    refuse_large(document, limits)
    _refuse(validate(schema, document, max_errors=MAX_ERRORS, hide_suggestions=True))
    own = separate_operations(document)[operation.name.value if operation.name else ""]
    declared = _declared_variables(schema, operation, variables)
    return CheckedDocument(
        kind=operation.operation.value,
        name=operation.name.value if operation.name else None,
        text=print_executable(own),
        variables=declared,
        introspection=own if _is_introspection(own, operation) else None,
    )


def answer_introspection(checked: CheckedDocument, schema: GraphQLSchema) -> dict[str, Any]:
    """Answer a document of introspection fields from the view's schema: a GraphQL response."""
    if checked.introspection is None:
        raise DocumentRefused(["this document does not ask for the schema"])
    result = execute_sync(schema, checked.introspection, variable_values=dict(checked.variables))
    return dict(result.formatted)


def print_executable(document: DocumentNode, *, without_directives: Collection[str] = ()) -> str:
    """The text to send upstream: no descriptions (older servers refuse them), and none of these directives.

    Directives are dropped where they may stand in an author's file: on the operation and on its variables.
    """
    return print_ast(bare(document, without_directives=without_directives))


def bare(document: DocumentNode, *, without_directives: Collection[str] = ()) -> DocumentNode:
    """The same document without descriptions and these directives; what stays keeps its place in the file."""
    return DocumentNode(definitions=tuple(_bare(node, without_directives) for node in document.definitions))


def _bare(node: DefinitionNode, without_directives: Collection[str]) -> DefinitionNode:
    match node:
        case OperationDefinitionNode():
            variables = tuple(
                replace(variable, description=None, directives=_kept(variable.directives, without_directives))
                for variable in node.variable_definitions or ()
            )
            directives = _kept(node.directives, without_directives)
            return replace(node, description=None, directives=directives, variable_definitions=variables)
        case FragmentDefinitionNode():
            return replace(node, description=None)
        case _:
            return node


def _kept(nodes: Sequence[D] | None, without: Collection[str]) -> tuple[D, ...]:
    return tuple(node for node in nodes or () if node.name.value not in without)


def _parse(text: str, limits: Limits) -> DocumentNode:
    try:
        return parse(text, max_tokens=limits.max_tokens, allow_empty_selection_sets=False)
    except GraphQLError as exc:
        raise DocumentRefused([_sentence(exc)]) from exc


def _choose_operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if name:
        operations = [node for node in operations if node.name and node.name.value == name]
    shown = f'"{_printable(name)}"' if name else ""
    match operations:
        case [operation]:
            return operation
        case []:
            raise DocumentRefused([f"it has no operation {shown}".rstrip()])
        case _ if name:
            raise DocumentRefused([f"it has several operations named {shown}"])
        case _:
            raise DocumentRefused(["it has several operations: name one in operationName"])


def _refuse_kind(operation: OperationDefinitionNode, schema: GraphQLSchema) -> None:
    if operation.operation is OperationType.SUBSCRIPTION:
        raise DocumentRefused(["subscriptions are not supported: send a query"])
    if schema.get_root_type(operation.operation) is None:
        raise DocumentRefused([f"this tool has no {operation.operation.value} fields"])


def _refuse(errors: Sequence[GraphQLError]) -> None:
    if errors:
        raise DocumentRefused([_sentence(error) for error in errors[:MAX_ERRORS]])


def _sentence(error: GraphQLError) -> str:
    place = "".join(f"{at.line}:{at.column}: " for at in (error.locations or [])[:1])
    return place + _printable(error.message)


def _printable(text: str) -> str:
    """A caller's own words in an error: not at any length, and without what UTF-8 cannot encode."""
    shown = text.encode(errors="backslashreplace").decode()
    return shown if len(shown) <= MAX_SENTENCE_CHARS else shown[: MAX_SENTENCE_CHARS - 1] + "…"


def _declared_variables(
    schema: GraphQLSchema, operation: OperationDefinitionNode, given: Mapping[str, Any]
) -> dict[str, Any]:
    nodes = operation.variable_definitions or ()
    names = {node.variable.name.value for node in nodes}
    declared = {name: value for name, value in given.items() if name in names}
    _refuse_unsendable(declared)
    coerced = get_variable_values(schema, nodes, declared, max_errors=MAX_ERRORS, hide_suggestions=True)
    if isinstance(coerced, list):
        _refuse(coerced)
    return declared


def _refuse_unsendable(variables: dict[str, Any]) -> None:
    """Refuse what Python's JSON reader lets in and its writer does not let out. Custom scalars take any value."""
    try:
        to_json_bytes(variables)
    except ValueError as exc:
        raise DocumentRefused(["a variable has a number that JSON cannot carry"]) from exc


def _is_introspection(document: DocumentNode, operation: OperationDefinitionNode) -> bool:
    """Whether the request asks for the schema, and for nothing else.

    A mixture would need two answers in one. A field below the root may return the query type, which has ``__schema``
    there too: sent upstream, that would tell all that the view hides.
    """
    asked = INTROSPECTION & _field_names(document)
    roots = set(_root_fields(operation.selection_set, _fragments(document), seen=set()))
    if asked and roots - INTROSPECTION - {"__typename"}:
        fields = " and ".join(sorted(asked))
        raise DocumentRefused([f"{fields} cannot stand beside or below other fields: ask separately"])
    return bool(asked)


def _field_names(document: DocumentNode) -> set[str]:
    collector = _FieldNames()
    visit(document, collector)
    return collector.found


def _root_fields(
    selections: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode], seen: set[str]
) -> list[str]:
    names: list[str] = []
    for node in selections.selections:
        match node:
            case FieldNode():
                names.append(node.name.value)
            case InlineFragmentNode():
                names += _root_fields(node.selection_set, fragments, seen)
            case FragmentSpreadNode() if node.name.value not in seen:
                seen.add(node.name.value)
                names += _root_fields(fragments[node.name.value].selection_set, fragments, seen)
    return names


def _fragments(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


class _FieldNames(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def enter_field(self, node: FieldNode, *_: object) -> None:
        self.found.add(node.name.value)
