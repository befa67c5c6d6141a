"""The coordinates that a document uses: those of a view, for its validation, and those of a schema, for the log.

The first are enough to validate the document as against the whole view. A field is looked up on its parent type, a type
by a name in the document, an argument if it is given. GraphQL's rules need no more if they suggest no names. A fragment
is validated at its definition, so each is walked once.

For the log, a field is looked up in the whole schema: a refused document is logged by the names that exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    InlineFragmentNode,
    ListTypeNode,
    NamedTypeNode,
    Node,
    NonNullTypeNode,
    OperationDefinitionNode,
    SelectionSetNode,
    TypeNode,
    parse,
    print_ast,
)

from handler.cold.records import record
from handler.graph.documents.operation import MAX_CHARS
from handler.graph.documents.search_fields import SEARCH_FIELDS, SEARCH_TYPES
from handler.graph.index import Field, SchemaIndex, named_type
from handler.graph.view import View

__all__ = ["Node", "OperationDefinitionNode", "fields_in", "fields_of_text", "fields_read", "parse", "print_ast"]
"""With the parts of graphql-core for code outside of this folder, which has to load it by this package."""

COMPOSITE = frozenset({"object", "interface", "union"})

MAX_IMPLEMENTERS = 20
"""Implementing types by whose name a field of an interface is logged, too. With more, the interface is named alone."""


@record(frozen=True, slots=True)
class Touched:
    """Visible coordinates, in parts. Documents that use the same coordinates need the same schema."""

    fields: frozenset[tuple[str, str]]
    arguments: frozenset[tuple[str, str, str]]
    types: frozenset[str]  # named by fragments and variables
    directives: frozenset[str]  # of the API, by name
    parents: frozenset[str]  # types whose fields are selected, or that a fragment is on
    searches: bool = False  # it names __search or __definitions, or a type that only these return

    @property
    def coordinates(self) -> int:
        """The number of coordinates."""
        return sum(map(len, (self.fields, self.arguments, self.types, self.directives, self.parents)))


def touched_by(document: DocumentNode, view: View) -> Touched:
    """Return the coordinates that a document uses, in all its fragments and operations, as all are validated."""
    walk = _Walk(view)
    for node in document.definitions:
        match node:
            case OperationDefinitionNode():
                root = view.index.roots.get(node.operation.value, "")
                walk.definition(node, root if root in view.members else "")
            case FragmentDefinitionNode():
                walk.definition(node, walk.type_named(node.type_condition))
    directives = walk.directives & view.directives().keys() if walk.directives else ()
    fields, arguments = frozenset(walk.fields), frozenset(walk.arguments)
    types, parents = frozenset(walk.types), frozenset(walk.parents)
    return Touched(fields, arguments, types, frozenset(directives), parents, walk.searches)


def visible_field(view: View, parent: str, name: str) -> Field | None:
    """Return a visible field; ``None`` if there is no such field."""
    return view.index[parent].fields.get(name) if name in view.members.get(parent, ()) else None


class _Walk:
    """Collects coordinates while it descends; the parent of selections below an unknown field or type is empty."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.fields: set[tuple[str, str]] = set()
        self.arguments: set[tuple[str, str, str]] = set()
        self.types: set[str] = set()
        self.directives: set[str] = set()
        self.parents: set[str] = set()
        self.searches = False

    def definition(self, node: OperationDefinitionNode | FragmentDefinitionNode, parent: str) -> None:
        self.carried(node.directives)
        for variable in node.variable_definitions or ():
            self.carried(variable.directives)
            self.type_named(variable.type)
        self.selections(node.selection_set, parent)

    def carried(self, nodes: Sequence[DirectiveNode] | None) -> None:
        self.directives.update(node.name.value for node in nodes or ())

    def type_named(self, node: TypeNode) -> str:
        """Add the visible type that a document names, and return its name; an empty string if there is none."""
        while isinstance(node, ListTypeNode | NonNullTypeNode):
            node = node.type
        name = node.name.value if isinstance(node, NamedTypeNode) else ""
        if name in SEARCH_TYPES:
            self.searches = True
        elif name in self._view.members:
            self.types.add(name)
            return name
        return ""

    def selections(self, selections: SelectionSetNode, parent: str) -> None:
        if parent and self._view.index.kind(parent) in COMPOSITE:
            self.parents.add(parent)
        for node in selections.selections:
            self.carried(node.directives)
            match node:
                case FieldNode():
                    self._field(node, parent)
                case InlineFragmentNode(type_condition=condition):
                    self.selections(node.selection_set, self.type_named(condition) if condition else parent)

    def _field(self, node: FieldNode, parent: str) -> None:
        name = node.name.value
        searches = name in SEARCH_FIELDS  # even if a schema, against the specification, has a field of this name
        field = None if searches else visible_field(self._view, parent, name)
        self.searches |= searches
        if field is not None:
            self.fields.add((parent, name))
            visible = self._view.arguments(parent, name) if node.arguments else ()
            names = (each.name.value for each in node.arguments or ())
            self.arguments |= {(parent, name, each) for each in names if each in visible}
        if node.selection_set:
            self.selections(node.selection_set, named_type(field.type) if field else "")


def fields_read(document: DocumentNode, index: SchemaIndex) -> frozenset[str]:
    """Return the coordinates of the known fields that a document selects, as ``Employee.salary``.

    ``@skip`` and ``@include`` are ignored. A field that is selected on an interface is there for each type that
    implements the interface, too, because it may be read from that type. Each fragment is walked once.
    """
    coordinates = set()
    for parent, node in fields_in(document, index):
        name = node.name.value
        if _type_of(index, parent, name):
            implementers = index.implementers.get(parent, ()) if index.kind(parent) == "interface" else ()
            names = (parent, *implementers) if len(implementers) <= MAX_IMPLEMENTERS else (parent,)
            coordinates |= {f"{each}.{name}" for each in names}
    return frozenset(coordinates)


def fields_in(document: DocumentNode, index: SchemaIndex) -> Iterator[tuple[str, FieldNode]]:
    """Yield the selected fields, each with the type that it is selected on; an empty string if that is unknown."""
    waiting: list[tuple[SelectionSetNode, str]] = []
    for node in document.definitions:
        match node:
            case OperationDefinitionNode():
                waiting.append((node.selection_set, index.roots.get(node.operation.value, "")))
            case FragmentDefinitionNode():
                waiting.append((node.selection_set, node.type_condition.name.value))
    while waiting:
        selections, parent = waiting.pop()
        for each in selections.selections:
            match each:
                case FieldNode():
                    yield parent, each
                    if each.selection_set:
                        waiting.append((each.selection_set, _type_of(index, parent, each.name.value)))
                case InlineFragmentNode():
                    condition = each.type_condition
                    waiting.append((each.selection_set, condition.name.value if condition else parent))


def _type_of(index: SchemaIndex, parent: str, field_name: str) -> str:
    """Return the named type of a field; an empty string if the schema has no such field."""
    if parent not in index or index.kind(parent) not in ("object", "interface"):
        return ""
    field = index[parent].fields.get(field_name)
    return named_type(field.type) if field else ""


def fields_of_text(text: str, index: SchemaIndex, *, max_tokens: int | None) -> frozenset[str]:
    """Return the fields that a document reads, as ``fields_read``; none if it cannot be parsed."""
    with suppress(GraphQLError, RecursionError):
        if len(text) <= MAX_CHARS:
            return fields_read(parse(text, no_location=True, max_tokens=max_tokens), index)
    return frozenset()
