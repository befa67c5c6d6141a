"""The operation of a document that runs: chosen by name, with the fragments that it uses, printed anew."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphql import (
    DefinitionNode,
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    get_operation_ast,
    parse,
    print_ast,
    separate_operations,
)

from handler.errors.calls import DocumentRefused, Fault
from handler.graph.documents.locations import quoted_name
from handler.graph.documents.search_fields import SEARCH_FIELDS
from handler.graph.view import View

INTROSPECTION = frozenset({"__schema", "__type", *SEARCH_FIELDS})
TYPE_NAME = "__typename"
META = INTROSPECTION | {TYPE_NAME}

MAX_CHARS = 200_000
"""Length of a document's text. A single token may be as long; longer values belong into a variable."""

Selected = Sequence[tuple[str, SelectionSetNode]]
"""The selection sets on the objects in one place, each with its type."""


def choose_operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    """Return the operation of this name; without a name, the only one.

    Raises:
        DocumentRefused: no operation fits, or several do.
    """
    operations = operations_of(document)
    if name:
        operations = [node for node in operations if node.name and node.name.value == name]
    if not operations:
        raise DocumentRefused(Fault(f"it has no operation {quoted_name(name)}" if name else "it has no operation"))
    if len(operations) > 1:
        which = f" named {quoted_name(name)}" if name else ": name one in operationName"
        raise DocumentRefused(Fault(f"it has several operations{which}"))
    return operations[0]


def operations_of(document: DocumentNode) -> list[OperationDefinitionNode]:
    """Return the operations of a document, in its order."""
    return [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]


def only_operation(document: DocumentNode) -> OperationDefinitionNode:
    """Return the operation of a document that has one."""
    return operations_of(document)[0]


def fragments_of(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    """Return the fragments of a document by name."""
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def expanded(
    selections: SelectionSetNode,
    parent: str,
    fragments: Mapping[str, FragmentDefinitionNode],
    *,
    seen: set[tuple[str, int]] | None = None,
) -> Iterator[tuple[str, FieldNode]]:
    """Yield the fields of a selection set, fragments expanded, each with the type that it is selected on.

    With ``seen``, selections that were expanded on the same type before are left out.
    """
    place = (parent, id(selections))
    if seen is not None:
        if place in seen:
            return
        seen.add(place)
    for node in selections.selections:
        match node:
            case FieldNode():
                yield parent, node
            case InlineFragmentNode(type_condition=condition):
                on = condition.name.value if condition else parent
                yield from expanded(node.selection_set, on, fragments, seen=seen)
            case FragmentSpreadNode():
                fragment = fragments[node.name.value]
                yield from expanded(fragment.selection_set, fragment.type_condition.name.value, fragments, seen=seen)


def fields_by_key(
    selected: Selected, fragments: Mapping[str, FragmentDefinitionNode]
) -> dict[str, list[tuple[str, FieldNode]]]:
    """Return the fields of the objects in one place by response key, each with the type that it is selected on."""
    fields: dict[str, list[tuple[str, FieldNode]]] = {}
    seen = set[tuple[str, int]]()
    for parent, selections in selected:
        for on, node in expanded(selections, parent, fragments, seen=seen):
            fields.setdefault((node.alias or node.name).value, []).append((on, node))
    return fields


def asks_for_mutation(text: str, operation_name: str | None, *, max_tokens: int) -> bool:
    """Return whether the operation to run is a mutation, before the document is checked."""
    try:
        operation = get_operation_ast(parse(text, max_tokens=max_tokens), operation_name)
    except GraphQLError:
        return False
    return operation is not None and operation.operation is OperationType.MUTATION


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
    """Return whether the request asks only for the schema, or for the name of a query type without fields.

    A mixed request would need two answers in one. A field below the root may return the query type, which has
    ``__schema``, too: sent upstream, this would reveal everything that the view hides.
    """
    meta = INTROSPECTION & _field_names(document)
    fields = fields_by_key([("", operation.selection_set)], fragments_of(document))
    roots = {node.name.value for nodes in fields.values() for _, node in nodes}
    if meta and roots - META:
        names = " and ".join(sorted(meta))
        raise DocumentRefused(Fault(f"{names} cannot stand beside or below other fields: ask separately"))
    return bool(meta) or operation.operation.value not in view.root_fields()


def bare(document: DocumentNode, *, without_directives: Collection[str] = ()) -> DocumentNode:
    """Return the document without descriptions (older servers refuse them) and these directives.

    Directives are dropped at their places in an author's file: on the operation and on its variables. The rest keeps
    its locations in the file.
    """

    def left(nodes: Sequence[DirectiveNode] | None) -> tuple[Any, ...]:
        return tuple(node for node in nodes or () if node.name.value not in without_directives)

    definitions: list[DefinitionNode] = []
    for node in document.definitions:
        match node:
            case OperationDefinitionNode():
                variables = tuple(
                    replace(variable, description=None, directives=left(variable.directives))
                    for variable in node.variable_definitions or ()
                )
                definitions.append(
                    replace(node, description=None, directives=left(node.directives), variable_definitions=variables)
                )
            case FragmentDefinitionNode():
                definitions.append(replace(node, description=None))
            case _:
                definitions.append(node)
    return DocumentNode(definitions=tuple(definitions))


def print_bounded(document: DocumentNode) -> str:
    """Return the text to send, bounded: a list of lists is printed with much space before each item."""
    text = print_ast(bare(document))
    if len(text) > MAX_CHARS:
        more = f"written out it has more than {MAX_CHARS:,} characters"
        raise DocumentRefused(Fault(f"{more}: give long values as variables"))
    return text


def _field_names(document: DocumentNode) -> set[str]:
    names: set[str] = set()
    waiting = [getattr(node, "selection_set", None) for node in document.definitions]
    for selections in filter(None, waiting):
        for node in selections.selections:
            if isinstance(node, FieldNode):
                names.add(node.name.value)
            waiting.append(getattr(node, "selection_set", None))
    return names
