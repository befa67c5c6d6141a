"""The schema coordinates that a document uses."""

from __future__ import annotations

from graphql import (
    DirectiveNode,
    DocumentNode,
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


def coordinates_used(document: DocumentNode, schema: GraphQLSchema) -> dict[str, Node]:
    """Return the coordinates of types, members, arguments and directives in a document -> the first node of each.

    Conditions of ``@skip`` and ``@include`` are ignored: a field that may be selected counts.
    """
    type_info = TypeInfo(schema)
    collector = _Coordinates(type_info)
    visit(document, TypeInfoVisitor(type_info, collector))
    return dict(sorted(collector.found.items()))


class _Coordinates(Visitor):
    def __init__(self, type_info: TypeInfo) -> None:
        super().__init__()
        self._types = type_info
        self.found: dict[str, Node] = {}  # with the first use of each

    def enter_field(self, node: FieldNode, *_: object) -> None:
        parent = self._types.get_parent_type()
        if parent:
            self.found.setdefault(parent.name, node)
        if parent and not node.name.value.startswith("__"):
            self.found.setdefault(f"{parent.name}.{node.name.value}", node)

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self.found.setdefault(f"@{node.name.value}", node)

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        parent, field, directive = (
            self._types.get_parent_type(),
            self._types.get_field_def(),
            self._types.get_directive(),
        )
        if directive:
            self.found.setdefault(f"@{directive.name}({node.name.value}:)", node)
        elif parent and field and field.ast_node:
            self.found.setdefault(f"{parent.name}.{field.ast_node.name.value}({node.name.value}:)", node)

    def enter_object_field(self, node: ObjectFieldNode, *_: object) -> None:
        parent = get_named_type(self._types.get_parent_input_type())
        if parent:
            self.found.setdefault(f"{parent.name}.{node.name.value}", node)

    def enter_enum_value(self, node: EnumValueNode, *_: object) -> None:
        type_ = get_named_type(self._types.get_input_type())
        if isinstance(type_, GraphQLEnumType):
            self.found.setdefault(f"{type_.name}.{node.value}", node)
