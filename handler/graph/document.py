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
    build_ast_schema,
    execute_sync,
    parse,
    print_ast,
    separate_operations,
    validate,
)
from graphql.execution.values import get_variable_values

from handler.bundle import Limits
from handler.errors import DocumentRefused

D = TypeVar("D", bound=DirectiveNode)

MAX_ERRORS = 10
MAX_FRAGMENT_NESTING = 40
"""How deep fragments may spread each other: enough for any client, far below Python's own recursion limit."""


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
    _refuse_large(document, limits)
    own = separate_operations(document)[operation.name.value if operation.name else ""]
    _refuse_kind(operation, schema)
    _refuse(validate(schema, own, max_errors=MAX_ERRORS, hide_suggestions=True))
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
    except RecursionError as exc:
        raise DocumentRefused(["it is nested too deeply"]) from exc


def _choose_operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if name:
        operations = [node for node in operations if node.name and node.name.value == name]
    match operations:
        case [operation]:
            return operation
        case []:
            raise DocumentRefused([f'it has no operation "{name}"' if name else "it has no operation"])
        case _ if name:
            raise DocumentRefused([f'it has several operations named "{name}"'])
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
    return place + error.message


def _declared_variables(
    schema: GraphQLSchema, operation: OperationDefinitionNode, given: Mapping[str, Any]
) -> dict[str, Any]:
    nodes = operation.variable_definitions or ()
    coerced = get_variable_values(schema, nodes, dict(given), max_errors=MAX_ERRORS)
    if isinstance(coerced, list):
        _refuse(coerced)
    names = {node.variable.name.value for node in nodes}
    return {name: value for name, value in given.items() if name in names}


def _is_introspection(document: DocumentNode, operation: OperationDefinitionNode) -> bool:
    """Whether all root fields ask for the schema. A mixture is refused: it would need two answers in one."""
    names = set(_root_fields(operation.selection_set, _fragments(document), seen=set()))
    asked = {"__schema", "__type"} & names
    if asked and names - {"__schema", "__type", "__typename"}:
        raise DocumentRefused([f"{' and '.join(sorted(asked))} cannot stand beside other root fields: ask separately"])
    return bool(asked)


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


# Structural limits need no schema and come before validation: a 4 KB document can cost validation more than a second.


@dataclass(frozen=True, slots=True)
class _Size:
    depth: int
    fields: int
    aliases: int


def _refuse_large(document: DocumentNode, limits: Limits) -> None:
    measure = _Measure(document, limits)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode):
            measure.check(measure.size(node.selection_set))


class _Measure:
    """Sizes after fragment expansion, each fragment measured once."""

    def __init__(self, document: DocumentNode, limits: Limits) -> None:
        self._fragments = _fragments(document)
        self._limits = limits
        self._known: dict[str, _Size] = {}
        self._open: list[str] = []

    def check(self, size: _Size) -> None:
        for what, has, allowed in (
            ("levels deep", size.depth, self._limits.max_depth),
            ("fields, fragments expanded", size.fields, self._limits.max_fields),
            ("aliases", size.aliases, self._limits.max_aliases),
        ):
            if has > allowed:
                raise DocumentRefused([f"it has more than {allowed} {what}: ask for less in one request"])

    def size(self, selections: SelectionSetNode, level: int = 1) -> _Size:
        if level > self._limits.max_depth:
            self.check(_Size(level, 0, 0))
        depth = fields = aliases = 0
        for node in selections.selections:
            part = self._part(node, level)
            depth = max(depth, part.depth)
            fields += part.fields
            aliases += part.aliases
        total = _Size(depth, fields, aliases)
        self.check(total)
        return total

    def _part(self, node: Any, level: int) -> _Size:
        match node:
            case FieldNode():
                alias = 1 if node.alias else 0
                if node.selection_set is None:
                    return _Size(1, 1, alias)
                below = self.size(node.selection_set, level + 1)
                return _Size(below.depth + 1, below.fields + 1, below.aliases + alias)
            case InlineFragmentNode():
                return self._inline(node, level)
            case _:
                return self._spread(node.name.value)

    def _inline(self, node: InlineFragmentNode, level: int) -> _Size:
        self._enter("...")
        size = self.size(node.selection_set, level)
        self._open.pop()
        return size

    def _spread(self, name: str) -> _Size:
        if name in self._open:
            raise DocumentRefused([f'fragment "{name}" spreads itself'])
        if name not in self._fragments:
            raise DocumentRefused([f'it has no fragment "{name}"'])
        if name not in self._known:
            self._enter(name)
            self._known[name] = self.size(self._fragments[name].selection_set)
            self._open.pop()
        return self._known[name]

    def _enter(self, name: str) -> None:
        if len(self._open) >= MAX_FRAGMENT_NESTING:
            raise DocumentRefused([f"its fragments are nested more than {MAX_FRAGMENT_NESTING} deep"])
        self._open.append(name)
