"""Limits of a document's size. They need no schema, and are checked before validation, which could take a second."""

from __future__ import annotations

from collections.abc import Iterator

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
)

from handler.bundle.operations import Limits
from handler.cold.records import record, replaced
from handler.errors.calls import DocumentRefused
from handler.graph.documents.locations import fault_at, name_of, printable, shown
from handler.graph.documents.operation import INTROSPECTION
from handler.graph.documents.search_fields import SEARCH_FIELDS

MAX_FRAGMENT_NESTING = 40
"""Nesting of fragments: enough for any client, and far below Python's own recursion limit."""

MAX_INTROSPECTION_DEPTH = 20
"""Levels below fields of introspection. The usual clients' query has 15: a type wrapped nine times."""

MAX_INTROSPECTION_FIELDS = 500
"""Fields below fields of introspection, fragments expanded. The usual clients' query has 240."""


MAX_SEARCHES = 10
"""Occurrences of ``__search`` and ``__definitions``. Each search takes some milliseconds."""


def refuse_large(document: DocumentNode, limits: Limits) -> None:
    """Refuse a document that is large with its fragments expanded, or whose fragments cannot be expanded.

    Introspection has its own bounds, because authors do not think of it when they set limits.

    Raises:
        DocumentRefused: with the first limit that is exceeded, and the selection that exceeds it.
    """
    _refuse_same_names(document)
    measure = _Measure(document, limits)
    for node in document.definitions:
        match node:
            case OperationDefinitionNode():
                measure.selections(node.selection_set, level=1, inside=(), schema=False)
            case FragmentDefinitionNode():
                measure.fragment(node, node.name.value, level=1, inside=())


def _refuse_same_names(document: DocumentNode) -> None:
    """Refuse fragments of one name: the second would not be measured. The words are graphql-core's."""
    first: dict[str, FragmentDefinitionNode] = {}
    for node in document.definitions:
        if isinstance(node, FragmentDefinitionNode):
            found = first.setdefault(node.name.value, node)
            if found is not node:
                sentence = f"There can be only one fragment named '{printable(node.name.value)}'."
                raise DocumentRefused(fault_at(found.name, sentence))


@record(frozen=True, slots=True)
class _Size:
    """The size of a selection with its fragments expanded. Depths and ``nesting`` are heights; the rest are counts."""

    depth: int = 0
    fields: int = 0
    aliases: int = 0
    schemas: int = 0
    searches: int = 0  # __search and __definitions
    nesting: int = 0  # fragments in fragments
    schema_depth: int = 0  # below fields of introspection
    schema_fields: int = 0

    def beside(self, other: _Size) -> _Size:
        return _Size(
            depth=max(self.depth, other.depth),
            fields=self.fields + other.fields,
            aliases=self.aliases + other.aliases,
            schemas=self.schemas + other.schemas,
            searches=self.searches + other.searches,
            nesting=max(self.nesting, other.nesting),
            schema_depth=max(self.schema_depth, other.schema_depth),
            schema_fields=self.schema_fields + other.schema_fields,
        )

    def below(self, node: FieldNode, *, schema: bool) -> _Size:
        """Return the size of a field with this selection below it."""
        if schema:
            return replaced(self, schema_depth=self.schema_depth + 1, schema_fields=self.schema_fields + 1)
        return replaced(
            self,
            depth=self.depth + 1,
            fields=self.fields + 1,
            aliases=self.aliases + (node.alias is not None),
            schemas=self.schemas + (node.name.value == "__schema"),
            searches=self.searches + (node.name.value in SEARCH_FIELDS),
        )

    def in_fragment(self) -> _Size:
        return replaced(self, nesting=self.nesting + 1)


class _Measure:
    """Sizes of the parts of one document, each fragment measured once. Stops at the first limit that is exceeded.

    ``level`` counts the fields above a part and ``inside`` names the fragments around it: both bound the recursion.
    ``schema`` is true in introspection: below its fields at the root, and in fragments on types that only those return.
    """

    def __init__(self, document: DocumentNode, limits: Limits) -> None:
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._limits = limits
        self._known: dict[str, _Size] = {}

    def selections(self, node: SelectionSetNode, *, level: int, inside: tuple[str, ...], schema: bool) -> _Size:
        size = _Size()
        for selection in node.selections:
            size = size.beside(self._selection(selection, level, inside, schema=schema))
            self._refuse(size, selection)
        return size

    def fragment(self, node: Node, name: str, *, level: int, inside: tuple[str, ...]) -> _Size:
        if name in inside:
            raise DocumentRefused(fault_at(node, f"fragment {shown(name)} spreads itself"))
        if name not in self._fragments:
            raise DocumentRefused(fault_at(node, f"it has no fragment {shown(name)}"))
        if name not in self._known:
            fragment = self._fragments[name]
            schema = fragment.type_condition.name.value.startswith("__")
            self._known[name] = self._inside(node, fragment.selection_set, level, (*inside, name), schema=schema)
        return self._known[name]

    def _selection(self, node: SelectionNode, level: int, inside: tuple[str, ...], *, schema: bool) -> _Size:
        match node:
            case FieldNode():
                return self._field(node, level, inside, schema=schema)
            case InlineFragmentNode():
                return self._inside(node, node.selection_set, level, (*inside, "..."), schema=schema)
            case FragmentSpreadNode():
                return self.fragment(node, node.name.value, level=level, inside=inside)
            case _:
                raise TypeError(f"a selection is a field or a fragment, not {node.kind}")

    def _field(self, node: FieldNode, level: int, inside: tuple[str, ...], *, schema: bool) -> _Size:
        self._refuse(_Size(schema_depth=level) if schema else _Size(depth=level), node)
        if node.selection_set is None:
            return _Size().below(node, schema=schema)
        enters = not schema and node.name.value in INTROSPECTION
        below = self.selections(
            node.selection_set, level=1 if enters else level + 1, inside=inside, schema=schema or enters
        )
        return below.below(node, schema=schema)

    def _inside(
        self, node: Node, selections: SelectionSetNode, level: int, inside: tuple[str, ...], *, schema: bool
    ) -> _Size:
        self._refuse(_Size(nesting=len(inside)), node)
        return self.selections(selections, level=level, inside=inside, schema=schema).in_fragment()

    def _refuse(self, size: _Size, at: Node) -> None:
        for has, allowed, what in self._bounds(size):
            if has > allowed:
                more = f"with {name_of(at)} it has more than {allowed} {what}"
                raise DocumentRefused(fault_at(at, f"{more}: ask for less in one request"))

    def _bounds(self, size: _Size) -> Iterator[tuple[int, int, str]]:
        yield size.depth, self._limits.max_depth, "levels of fields (max_depth)"
        yield size.fields, self._limits.max_fields, "fields, fragments expanded (max_fields)"
        yield size.aliases, self._limits.max_aliases, "aliases, fragments expanded (max_aliases)"
        yield size.nesting, MAX_FRAGMENT_NESTING, "fragments in each other"
        yield size.schemas, 1, "__schema"
        yield size.searches, MAX_SEARCHES, "__search and __definitions"
        yield size.schema_depth, MAX_INTROSPECTION_DEPTH, "levels below fields of introspection"
        yield size.schema_fields, MAX_INTROSPECTION_FIELDS, "fields below those of introspection, fragments expanded"
