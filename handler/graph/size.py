"""How large a document is. No schema is asked, so this comes before validation, which may cost a second otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
)

from handler.bundle import Limits
from handler.errors import DocumentRefused

MAX_FRAGMENT_NESTING = 40
"""How deep fragments may stand in each other: enough for any client, far below Python's own recursion limit."""

MAX_TYPE_LISTS = 1
"""How many lists of a type's parts may stand in each other below ``__schema`` or ``__type``.

Every client's introspection query has one. With two, each type lists each of its fields' types with all their fields:
half a minute for a schema of 1,500 types.
"""

TYPE_LISTS = ("fields", "inputFields", "interfaces", "possibleTypes")


def refuse_large(document: DocumentNode, limits: Limits) -> None:
    """Refuse a document that is large once its fragments are expanded, or whose fragments cannot be expanded.

    Raises:
        DocumentRefused: with the first limit that is passed.
    """
    measure = _Measure(document, limits)
    for node in document.definitions:
        match node:
            case OperationDefinitionNode():
                measure.selections(node.selection_set, level=1, inside=())
            case FragmentDefinitionNode():
                measure.fragment(node.name.value, level=1, inside=())


@dataclass(frozen=True, slots=True)
class _Size:
    """Of a selection, its fragments expanded. Heights: ``depth``, ``nesting``, ``type_lists``; the rest are counts."""

    depth: int = 0
    fields: int = 0
    aliases: int = 0
    schemas: int = 0
    nesting: int = 0  # fragments in fragments
    type_lists: int = 0

    def beside(self, other: _Size) -> _Size:
        return _Size(
            depth=max(self.depth, other.depth),
            fields=self.fields + other.fields,
            aliases=self.aliases + other.aliases,
            schemas=self.schemas + other.schemas,
            nesting=max(self.nesting, other.nesting),
            type_lists=max(self.type_lists, other.type_lists),
        )

    def below(self, node: FieldNode) -> _Size:
        """The size of a field that has this below it."""
        name = node.name.value
        return _Size(
            depth=self.depth + 1,
            fields=self.fields + 1,
            aliases=self.aliases + (node.alias is not None),
            schemas=self.schemas + (name == "__schema"),
            nesting=self.nesting,
            type_lists=self.type_lists + (name in TYPE_LISTS),
        )

    def in_fragment(self) -> _Size:
        return _Size(self.depth, self.fields, self.aliases, self.schemas, self.nesting + 1, self.type_lists)


class _Measure:
    """Sizes of the parts of one document, each fragment measured once. Stops at the first limit that is passed.

    ``level`` counts the fields above a part and ``inside`` names the fragments around it: they bound the recursion.
    """

    def __init__(self, document: DocumentNode, limits: Limits) -> None:
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._limits = limits
        self._known: dict[str, _Size] = {}

    def selections(self, node: SelectionSetNode, *, level: int, inside: tuple[str, ...]) -> _Size:
        size = _Size()
        for selection in node.selections:
            size = size.beside(self._selection(selection, level, inside))
            self._refuse(size)
        return size

    def fragment(self, name: str, *, level: int, inside: tuple[str, ...]) -> _Size:
        if name in inside:
            raise DocumentRefused([f'fragment "{name:.60}" spreads itself'])
        if name not in self._fragments:
            raise DocumentRefused([f'it has no fragment "{name:.60}"'])
        if name not in self._known:
            self._known[name] = self._inside(self._fragments[name].selection_set, level, (*inside, name))
        return self._known[name]

    def _selection(self, node: SelectionNode, level: int, inside: tuple[str, ...]) -> _Size:
        match node:
            case FieldNode(selection_set=None):
                return _Size().below(node)
            case FieldNode(selection_set=SelectionSetNode() as selections):
                return self._field(node, selections, level, inside)
            case InlineFragmentNode():
                return self._inside(node.selection_set, level, (*inside, "..."))
            case FragmentSpreadNode():
                return self.fragment(node.name.value, level=level, inside=inside)
            case _:
                raise TypeError(f"a selection is a field or a fragment, not {node.kind}")

    def _field(self, node: FieldNode, selections: SelectionSetNode, level: int, inside: tuple[str, ...]) -> _Size:
        self._refuse(_Size(depth=level))
        below = self.selections(selections, level=level + 1, inside=inside)
        if node.name.value in ("__schema", "__type") and below.type_lists > MAX_TYPE_LISTS:
            lists = ", ".join(TYPE_LISTS)
            raise DocumentRefused([f"{node.name.value} asks for types within types: ask for one level of {lists}"])
        return below.below(node)

    def _inside(self, selections: SelectionSetNode, level: int, inside: tuple[str, ...]) -> _Size:
        self._refuse(_Size(nesting=len(inside)))
        return self.selections(selections, level=level, inside=inside).in_fragment()

    def _refuse(self, size: _Size) -> None:
        for has, allowed, what in self._bounds(size):
            if has > allowed:
                raise DocumentRefused([f"it has more than {allowed} {what}: ask for less in one request"])

    def _bounds(self, size: _Size) -> Iterator[tuple[int, int, str]]:
        yield size.depth, self._limits.max_depth, "levels of fields"
        yield size.fields, self._limits.max_fields, "fields, fragments expanded"
        yield size.aliases, self._limits.max_aliases, "aliases, fragments expanded"
        yield size.nesting, MAX_FRAGMENT_NESTING, "fragments in each other"
        yield size.schemas, 1, "__schema"
