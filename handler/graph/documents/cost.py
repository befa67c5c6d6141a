"""What a request may make the API do: how many objects and items of lists its answer can hold.

Every object counts one, and so does every item of a list; other values are free. ``@cost`` of a type is counted instead
of the one, ``@cost`` of a field once for each object that has the field. A list has as many items as the request says,
by ``first``, ``last`` or ``limit`` (the largest of them) or by the length of ``ids``, as its author assumes, or ten. On
a field that returns an object, as connections are paged, all this is said of the lists right below it. It also makes a
list longer than ten that stands below further objects, as in ``search(first: 50) { page { items } }``, where nothing
nearer is said; not shorter, as not all lists there have to be meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from handler.errors import DocumentRefused
from handler.graph.documents.list_sizes import MOST, SIZE_ARGUMENTS, Said, said_of
from handler.graph.documents.locations import fault_at, name_of
from handler.graph.documents.used_fields import COMPOSITE, field_type
from handler.graph.index import named
from handler.graph.view import View
from handler.records import record

DEFAULT_LIST_SIZE = 10
"""How many items a list has of which nothing is said."""


def refuse_costly(document: DocumentNode, view: View, *, variables: Mapping[str, Any], max_cost: int) -> None:
    """Refuse a valid document of one operation whose answer could hold more than ``max_cost``.

    ``variables`` are coerced, defaults included. What ``@skip`` and ``@include`` leave out counts all the same.

    Raises:
        DocumentRefused: with the field that passes the limit, or that needs another slicing argument.
    """
    counter = _Counter(document, view, variables, max_cost)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            root = view.index.roots.get(node.operation.value)
            counter.selections(node.selection_set, _Under(root, times=1))


@record(frozen=True, slots=True)
class _Under:
    """What a selection set stands under: its type, how many objects that are, and what was said of the lists below."""

    type_name: str | None
    times: int
    paged: Said | None = None  # by the field that returns these objects
    paged_above: int | None = None  # the size that the nearest field around that one says, which itself says nothing

    def on(self, type_name: str | None) -> _Under:
        """The same, inside of a fragment."""
        return replace(self, type_name=type_name)

    def below(self, said: Said, type_name: str, *, is_list: bool, times: int) -> _Under:
        """What the selection set of a field stands under; lists take what was said around them, objects pass it on."""
        if is_list:
            return _Under(type_name, times, paged=said if said.fields else None)
        above = self.paged_above
        if self.paged is not None and not self.paged.is_empty:
            above = None if self.paged.fields else self.paged.size
        return _Under(type_name, times, paged=said, paged_above=above if said.is_empty else None)


class _Counter:
    def __init__(self, document: DocumentNode, view: View, variables: Mapping[str, Any], max_cost: int) -> None:
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._view = view
        self._variables = variables
        self._max_cost = max_cost
        self._cost = 0.0

    def selections(self, selections: SelectionSetNode, under: _Under) -> None:
        for node in selections.selections:
            match node:
                case FieldNode():
                    self._field(node, under)
                case InlineFragmentNode():
                    condition = node.type_condition.name.value if node.type_condition else under.type_name
                    self.selections(node.selection_set, under.on(condition))
                case FragmentSpreadNode():
                    fragment = self._fragments[node.name.value]
                    condition = fragment.type_condition.name.value
                    self.selections(fragment.selection_set, under.on(condition))

    def _field(self, node: FieldNode, under: _Under) -> None:
        type_text = field_type(self._view, under.type_name, node.name.value)
        if type_text is None:  # __typename
            return
        said = said_of(node, self._view, under.type_name or "", self._variables)
        lists = type_text.count("[")
        times = under.times
        if lists:
            length = _length(node, said, under) * DEFAULT_LIST_SIZE ** (lists - 1)
            times = min(times * length, MOST)  # lists of what weighs nothing pass no limit, however deep
        values = times * self._weight(named(type_text), is_list=bool(lists))
        self._add(values + under.times * self._own(node, under), node)
        if node.selection_set:
            below = under.below(said, named(type_text), is_list=bool(lists), times=times)
            self.selections(node.selection_set, below)

    def _weight(self, type_name: str, *, is_list: bool) -> float:
        """What one value of a type counts."""
        weight = self._view.index.weight(type_name)
        if weight is not None:
            return weight
        return 1 if is_list or self._view.index.kind(type_name) in COMPOSITE else 0

    def _own(self, node: FieldNode, under: _Under) -> float:
        """What asking one object for a field counts, beside its values."""
        return self._view.index[under.type_name or ""].fields[node.name.value].weight

    def _add(self, cost: float, node: FieldNode) -> None:
        self._cost += cost
        if self._cost > self._max_cost:
            more = f"with {name_of(node)} the answer could hold more than {self._max_cost} objects and items of lists"
            pages = ", ".join(SIZE_ARGUMENTS)
            raise DocumentRefused(fault_at(node, f"{more} (max_cost): ask for smaller pages ({pages}) or for less"))


def _length(node: FieldNode, said: Said, under: _Under) -> int:
    """How many items a field's own list has; what is said of the connection around it is nearer than an assumption."""
    own = None if said.fields else said.asked
    above = under.paged
    meant = above if above and (not above.fields or node.name.value in above.fields) else None
    sizes = (
        own,
        meant.asked if meant else None,
        None if said.fields else said.assumed,
        meant.assumed if meant else None,
    )
    return next((size for size in sizes if size is not None), max(DEFAULT_LIST_SIZE, under.paged_above or 0))
