"""Hidden type names in answers.

A hidden member of a union may still be one of its values, and ``__typename`` would reveal its name. The union's name
replaces it: if the object became null, clients would have to take everything around it for null.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from handler.cold.records import record
from handler.graph.documents.used_fields import field_type
from handler.graph.index_types import named
from handler.graph.view import View
from handler.strict_json import JSONObject

TYPE_NAME = "__typename"


@record(frozen=True, slots=True)
class _Asked:
    """The selection on the objects in one place of an answer: type names, and the selections below."""

    names: Mapping[str, str]  # response key -> the union whose name replaces a hidden one
    below: Mapping[str, _Asked]


@record(frozen=True, slots=True)
class HiddenNames:
    """The places where the answer to one document may name types that are not in a view."""

    view: View
    root: _Asked

    def replace_in(self, response: JSONObject) -> None:
        """Replace hidden names in a response, in place, because an API's answer may be large."""
        waiting = [(response.get("data"), self.root)]
        while waiting:
            value, asked = waiting.pop()
            if isinstance(value, list):
                waiting += [(each, asked) for each in value]
            elif isinstance(value, dict):
                waiting += [(value[key], below) for key, below in asked.below.items() if key in value]
                for key, union in asked.names.items():
                    if isinstance(value.get(key), str) and value[key] not in self.view.members:
                        value[key] = union


def find_hidden_names(document: DocumentNode, view: View) -> HiddenNames | None:
    """Find the places where the answer to a valid document of one operation may name hidden types; ``None`` if none."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    root = _Walk(view, fragments).asked([(view.index.roots[operation.operation.value], operation.selection_set)])
    return HiddenNames(view, root) if root else None


Selected = list[tuple[str, SelectionSetNode]]
"""The selection sets on the objects in one place, each with its type."""


class _Walk:
    def __init__(self, view: View, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._view = view
        self._fragments = fragments

    def asked(self, selected: Selected) -> _Asked | None:
        """Return the selection on the objects in one place; ``None`` if it cannot name a hidden type, at any depth."""
        names: dict[str, str] = {}
        fields: dict[str, Selected] = {}
        for type_name, selections in selected:
            self._gather(selections, type_name, names, fields)
        below = {key: asked for key, each in fields.items() if (asked := self.asked(each))}
        return _Asked(names, below) if names or below else None

    def _gather(
        self, selections: SelectionSetNode, type_name: str, names: dict[str, str], fields: dict[str, Selected]
    ) -> None:
        for node in selections.selections:
            match node:
                case FieldNode() if node.name.value == TYPE_NAME:
                    if self._hides_members(type_name):
                        names[(node.alias or node.name).value] = type_name
                case FieldNode() if node.selection_set:
                    returned = named(field_type(self._view, type_name, node.name.value) or "")
                    fields.setdefault((node.alias or node.name).value, []).append((returned, node.selection_set))
                case InlineFragmentNode():
                    condition = node.type_condition.name.value if node.type_condition else type_name
                    self._gather(node.selection_set, condition, names, fields)
                case FragmentSpreadNode():
                    fragment = self._fragments[node.name.value]
                    self._gather(fragment.selection_set, fragment.type_condition.name.value, names, fields)

    def _hides_members(self, type_name: str) -> bool:
        """Tell if a type is a union with hidden members. An interface is hidden together with an implementer."""
        index = self._view.index
        if index.kind(type_name) != "union":
            return False
        return any(name not in self._view.members for name in index.members(type_name))
