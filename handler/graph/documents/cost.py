"""The cost of a request: the number of objects and list items that its answer can hold.

Every object and every list item counts one; other values are free. ``@cost`` of a type replaces the one; ``@cost`` of a
field counts once for each object that has the field. The length of a list is the largest of ``first``, ``last`` and
``limit`` and the length of ``ids`` in the request, else the author's assumption, else ten. On a field that returns an
object, as connections are paged, these sizes apply to the lists right below it. A size above ten also applies to a list
that stands below further objects, as in ``search(first: 50) { page { items } }``, if nothing nearer sets a size. A
smaller size does not, because it may be about other lists there.
"""

from __future__ import annotations

from collections.abc import Mapping
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

from handler.cold.records import record, replaced
from handler.errors.calls import DocumentRefused
from handler.graph.documents.list_sizes import MOST, SIZE_ARGUMENTS, Said, said_of
from handler.graph.documents.locations import fault_at, name_of
from handler.graph.documents.used_fields import COMPOSITE, field_type
from handler.graph.index_types import named
from handler.graph.view import View

DEFAULT_LIST_SIZE = 10
"""Items of a list without a size."""


def refuse_costly(document: DocumentNode, view: View, *, variables: Mapping[str, Any], max_cost: int) -> None:
    """Refuse a valid document of one operation whose answer could hold more than ``max_cost``.

    ``variables`` are coerced, including defaults. Selections that ``@skip`` and ``@include`` leave out count, too.

    Raises:
        DocumentRefused: with the field that exceeds the limit, or that needs another slicing argument.
    """
    counter = _Counter(document, view, variables, max_cost)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            root = view.index.roots.get(node.operation.value)
            counter.selections(node.selection_set, _Under(root, times=1))


@record(frozen=True, slots=True)
class _Under:
    """The parent of a selection set: its type, the number of its objects, and the sizes set for the lists below."""

    type_name: str | None
    times: int
    paged: Said | None = None  # size set by the field that returns these objects
    paged_above: int | None = None  # size that the nearest field above it sets, if it sets none

    def on(self, type_name: str | None) -> _Under:
        """Return the parent inside of a fragment."""
        return replaced(self, type_name=type_name)

    def below(self, said: Said, type_name: str, *, is_list: bool, times: int) -> _Under:
        """Return the parent of a field's selections. A list uses up the sizes set above; an object passes them on."""
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
            times = min(times * length, MOST)  # lists of free values exceed no limit, however deep
        values = times * self._weight(named(type_text), is_list=bool(lists))
        self._add(values + under.times * self._own(node, under), node)
        if node.selection_set:
            below = under.below(said, named(type_text), is_list=bool(lists), times=times)
            self.selections(node.selection_set, below)

    def _weight(self, type_name: str, *, is_list: bool) -> float:
        """Return the cost of one value of a type."""
        weight = self._view.index.weight(type_name)
        if weight is not None:
            return weight
        return 1 if is_list or self._view.index.kind(type_name) in COMPOSITE else 0

    def _own(self, node: FieldNode, under: _Under) -> float:
        """Return the cost of selecting a field on one object, in addition to its values."""
        return self._view.index[under.type_name or ""].fields[node.name.value].weight

    def _add(self, cost: float, node: FieldNode) -> None:
        self._cost += cost
        if self._cost > self._max_cost:
            more = f"with {name_of(node)} the answer could hold more than {self._max_cost} objects and items of lists"
            pages = ", ".join(SIZE_ARGUMENTS)
            raise DocumentRefused(fault_at(node, f"{more} (max_cost): ask for smaller pages ({pages}) or for less"))


def _length(node: FieldNode, said: Said, under: _Under) -> int:
    """Return the length of a field's own list; a size in a request goes before an assumption."""
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
