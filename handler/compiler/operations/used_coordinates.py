"""The nodes of a document, and the schema coordinates that it uses."""

from __future__ import annotations

from collections.abc import Iterator

from graphql import (
    DirectiveNode,
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLEnumType,
    GraphQLSchema,
    Node,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    visit,
)
from graphql.language import ArgumentNode, EnumValueNode, FieldNode, ObjectFieldNode
from graphql.language.ast import QUERY_DOCUMENT_KEYS

INTROSPECTION = ("__schema", "__type", "__search", "__definitions")


def nodes_in(*nodes: Node) -> Iterator[Node]:
    """Yield nodes and all nodes below them, in document order."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        for key in reversed(QUERY_DOCUMENT_KEYS.get(node.kind, ())):
            part = getattr(node, key)
            waiting += [part] if isinstance(part, Node) else reversed(part or ())


def fragments_of(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    """Return the fragments that a document defines, by name."""
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def asked_of_the_schema(document: DocumentNode) -> str:
    """Return a document's field of ``INTROSPECTION``, which reveals hidden coordinates; empty string if it has none."""
    names = (node.name.value for node in nodes_in(document) if isinstance(node, FieldNode))
    return next((name for name in names if name in INTROSPECTION), "")


def coordinates_used(document: DocumentNode, schema: GraphQLSchema) -> dict[str, Node]:
    """Return the coordinates of types, members, arguments and directives in a document -> the first node of each.

    Conditions of ``@skip`` and ``@include`` are ignored: a field that may be selected counts.
    """
    type_info = TypeInfo(schema)
    collector = _Coordinates(type_info)
    visit(document, TypeInfoVisitor(type_info, collector))
    return dict(sorted(collector.first_uses.items()))


class _Coordinates(Visitor):
    def __init__(self, type_info: TypeInfo) -> None:
        super().__init__()
        self._types = type_info
        self.first_uses: dict[str, Node] = {}

    def enter_field(self, node: FieldNode, *_: object) -> None:
        parent = self._types.get_parent_type()
        if parent:
            self.first_uses.setdefault(parent.name, node)
        if parent and not node.name.value.startswith("__"):
            self.first_uses.setdefault(f"{parent.name}.{node.name.value}", node)

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self.first_uses.setdefault(f"@{node.name.value}", node)

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        parent, field, directive = (
            self._types.get_parent_type(),
            self._types.get_field_def(),
            self._types.get_directive(),
        )
        if directive:
            self.first_uses.setdefault(f"@{directive.name}({node.name.value}:)", node)
        elif parent and field and field.ast_node:
            self.first_uses.setdefault(f"{parent.name}.{field.ast_node.name.value}({node.name.value}:)", node)

    def enter_object_field(self, node: ObjectFieldNode, *_: object) -> None:
        parent = get_named_type(self._types.get_parent_input_type())
        if parent:
            self.first_uses.setdefault(f"{parent.name}.{node.name.value}", node)

    def enter_enum_value(self, node: EnumValueNode, *_: object) -> None:
        type_ = get_named_type(self._types.get_input_type())
        if isinstance(type_, GraphQLEnumType):
            self.first_uses.setdefault(f"{type_.name}.{node.value}", node)
