"""What a request may make the API do: how many objects and items of lists its answer can hold.

Every object counts one, and so does every item of a list; other values are free. A list has as many items as ``first``,
``last`` or ``limit`` of its field says, the largest of them, and ten where nothing is said. On a field that returns an
object, as connections are paged, these arguments count for the lists right below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FloatValueNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    StringValueNode,
    ValueNode,
    VariableNode,
)

from handler.errors import DocumentRefused
from handler.graph.index import named
from handler.graph.places import fault_at, name_of
from handler.graph.touched import COMPOSITE, field_type
from handler.graph.view import View

SIZE_ARGUMENTS = ("first", "last", "limit")

DEFAULT_LIST_SIZE = 10
"""How many items a list has of which nothing is said."""

MOST = 10**12
"""As much as any: numbers above it are not worth being told apart, and some have thousands of digits."""


def refuse_costly(document: DocumentNode, view: View, *, variables: Mapping[str, Any], max_cost: int) -> None:
    """Refuse a valid document of one operation whose answer could hold more than ``max_cost``.

    ``variables`` are coerced, defaults included. What ``@skip`` and ``@include`` leave out counts all the same.

    Raises:
        DocumentRefused: with the field that passes the limit.
    """
    counter = _Counter(document, view, variables, max_cost)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            root = view.index.roots.get(node.operation.value)
            counter.selections(node.selection_set, _Under(root, times=1, paged=None))


@dataclass(frozen=True, slots=True)
class _Under:
    """What a selection set stands under: its type, how many objects that are, and the page size that was asked for."""

    type_name: str | None
    times: int
    paged: int | None


class _Counter:
    def __init__(self, document: DocumentNode, view: View, variables: Mapping[str, Any], max_cost: int) -> None:
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._view = view
        self._variables = variables
        self._max_cost = max_cost
        self._cost = 0

    def selections(self, selections: SelectionSetNode, under: _Under) -> None:
        for node in selections.selections:
            match node:
                case FieldNode():
                    self._field(node, under)
                case InlineFragmentNode():
                    condition = node.type_condition.name.value if node.type_condition else under.type_name
                    self.selections(node.selection_set, _Under(condition, under.times, under.paged))
                case FragmentSpreadNode():
                    fragment = self._fragments[node.name.value]
                    condition = fragment.type_condition.name.value
                    self.selections(fragment.selection_set, _Under(condition, under.times, under.paged))

    def _field(self, node: FieldNode, under: _Under) -> None:
        type_text = field_type(self._view, under.type_name, node.name.value)
        if type_text is None:  # __typename
            return
        asked = self._asked_size(node, under.type_name or "")
        lists = type_text.count("[")
        times = under.times
        if lists:
            times *= _first_given(asked, under.paged) * DEFAULT_LIST_SIZE ** (lists - 1)
        if lists or self._view.index.kind(named(type_text)) in COMPOSITE:
            self._add(times, node)
        if node.selection_set:
            self.selections(node.selection_set, _Under(named(type_text), times, None if lists else asked))

    def _add(self, times: int, node: FieldNode) -> None:
        self._cost += times
        if self._cost > self._max_cost:
            more = f"with {name_of(node)} the answer could hold more than {self._max_cost} objects and items of lists"
            pages = ", ".join(SIZE_ARGUMENTS)
            raise DocumentRefused(fault_at(node, f"{more} (max_cost): ask for smaller pages ({pages}) or for less"))

    def _asked_size(self, node: FieldNode, type_name: str) -> int | None:
        declared = self._view.arguments(type_name, node.name.value)
        given = {argument.name.value: argument.value for argument in node.arguments or ()}
        sizes = [
            _number(self._value(given.get(name), argument.default))
            for name, argument in declared.items()
            if name in SIZE_ARGUMENTS
        ]
        return max((size for size in sizes if size is not None), default=None)

    def _value(self, node: ValueNode | None, default: str) -> Any:
        match node:
            case None:
                return default
            case VariableNode():
                return self._variables.get(node.name.value, default)
            case IntValueNode() | FloatValueNode() | StringValueNode():
                return node.value
            case _:
                return None


def _first_given(*sizes: int | None) -> int:
    return next((size for size in sizes if size is not None), DEFAULT_LIST_SIZE)


def _number(value: Any) -> int | None:
    """A page size. Scalars of large numbers come as texts, too; what is no number above 0 says nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = min(value if isinstance(value, int) else float(value), MOST)
    except ValueError:
        return None
    return int(number) if number >= 1 else None
