"""The operation of a document that runs: chosen by name, with the fragments that it uses, printed anew."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from graphql import (
    DefinitionNode,
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    Visitor,
    print_ast,
    separate_operations,
    visit,
)

from handler.errors.calls import DocumentRefused, Fault
from handler.graph.documents.hidden_types import TYPE_NAME
from handler.graph.documents.locations import shown
from handler.graph.documents.search_fields import SEARCH_FIELDS
from handler.graph.view import View

INTROSPECTION = frozenset({"__schema", "__type", *SEARCH_FIELDS})
META = INTROSPECTION | {TYPE_NAME}

MAX_CHARS = 200_000
"""Length of a document's text. A single token may be as long; longer values belong into a variable."""

D = TypeVar("D", bound=DirectiveNode)


def choose_operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    """Return the operation of this name; without a name, the only one.

    Raises:
        DocumentRefused: no operation fits, or several do.
    """
    operations = operations_of(document)
    if name:
        operations = [node for node in operations if node.name and node.name.value == name]
    match operations:
        case [operation]:
            return operation
        case []:
            raise DocumentRefused(Fault(f"it has no operation {shown(name)}" if name else "it has no operation"))
        case _ if name:
            raise DocumentRefused(Fault(f"it has several operations named {shown(name)}"))
        case _:
            raise DocumentRefused(Fault("it has several operations: name one in operationName"))


def operations_of(document: DocumentNode) -> list[OperationDefinitionNode]:
    """Return the operations of a document, in its order."""
    return [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]


def refuse_kind(document: DocumentNode, operation: OperationDefinitionNode, view: View) -> None:
    """Refuse a kind without visible fields, except a query for ``META`` in a view that has only mutations."""
    kind = operation.operation.value
    if operation.operation is OperationType.SUBSCRIPTION:
        raise DocumentRefused(Fault("subscriptions are not supported: send a query"))
    if kind not in view.root_fields() and (kind != "query" or not META & _field_names(document)):
        raise DocumentRefused(Fault(f"there are no {kind} fields here"))


def alone(document: DocumentNode, operation: OperationDefinitionNode) -> DocumentNode:
    """Return a document of one operation and the fragments that it uses."""
    return separate_operations(document)[operation.name.value if operation.name else ""]


def is_introspection(document: DocumentNode, operation: OperationDefinitionNode, view: View) -> bool:
    """Tell if the request asks only for the schema, or for the name of a query type without fields.

    A mixed request would need two answers in one. A field below the root may return the query type, which has
    ``__schema``, too: sent upstream, this would reveal everything that the view hides.
    """
    asked = INTROSPECTION & _field_names(document)
    roots = set(_root_fields(operation.selection_set, _fragments(document), seen=set()))
    if asked and roots - META:
        fields = " and ".join(sorted(asked))
        raise DocumentRefused(Fault(f"{fields} cannot stand beside or below other fields: ask separately"))
    return bool(asked) or operation.operation.value not in view.root_fields()


def print_executable(document: DocumentNode, *, without_directives: Collection[str] = ()) -> str:
    """Return the text to send upstream, without descriptions (older servers refuse them) and these directives.

    Directives are dropped at their places in an author's file: on the operation and on its variables.
    """
    return print_ast(bare(document, without_directives=without_directives))


def bare(document: DocumentNode, *, without_directives: Collection[str] = ()) -> DocumentNode:
    """Return the document without descriptions and these directives; the rest keeps its locations in the file."""
    return DocumentNode(definitions=tuple(_bare(node, without_directives) for node in document.definitions))


def print_bounded(document: DocumentNode) -> str:
    """Return the text to send, bounded: a list of lists is printed with much space before each item."""
    text = print_executable(document)
    if len(text) > MAX_CHARS:
        more = f"written out it has more than {MAX_CHARS:,} characters"
        raise DocumentRefused(Fault(f"{more}: give long values as variables"))
    return text


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
