"""The schema coordinates that a document uses."""

from __future__ import annotations

from collections.abc import Iterator

from graphql import (
    DirectiveNode,
    DocumentNode,
    GraphQLEnumType,
    GraphQLSchema,
    Node,
    TypeInfo,
    get_named_type,
)
from graphql.language import (
    ArgumentNode,
    EnumValueNode,
    FieldNode,
    NonNullTypeNode,
    ObjectFieldNode,
    VariableDefinitionNode,
    VariableNode,
)
from graphql.language.ast import QUERY_DOCUMENT_KEYS

from handler.compiler.schema.directives import nodes_in
from handler.graph.documents.operation import INTROSPECTION
from handler.policy.evaluation import DEFAULT


def asked_of_the_schema(document: DocumentNode) -> str:
    """Return a document's field of ``INTROSPECTION``, which reveals hidden coordinates; empty string if it has none."""
    names = (node.name.value for node in nodes_in(document) if isinstance(node, FieldNode))
    return next((name for name in names if name in INTROSPECTION), "")


def typed_nodes(document: DocumentNode, schema: GraphQLSchema) -> Iterator[tuple[Node, TypeInfo]]:
    """Yield the nodes of a document in order. ``TypeInfo`` has the types at the node that was yielded last."""
    types = TypeInfo(schema)

    def walk(node: Node) -> Iterator[tuple[Node, TypeInfo]]:
        types.enter(node)
        yield node, types
        for key in QUERY_DOCUMENT_KEYS.get(node.kind, ()):
            part = getattr(node, key)
            for child in [part] if isinstance(part, Node) else part or ():
                yield from walk(child)
        types.leave(node)

    return walk(document)


def coordinates_used(document: DocumentNode, schema: GraphQLSchema) -> dict[str, Node]:
    """Return the coordinates of types, members, arguments and directives in a document -> the first node of each.

    Conditions of ``@skip`` and ``@include`` are ignored: a field that may be selected counts.
    """
    first_uses: dict[str, Node] = {}
    for node, types in typed_nodes(document, schema):
        match node:
            case FieldNode():
                if parent := types.get_parent_type():
                    first_uses.setdefault(parent.name, node)
                    if not node.name.value.startswith("__"):
                        first_uses.setdefault(f"{parent.name}.{node.name.value}", node)
            case DirectiveNode():
                first_uses.setdefault(f"@{node.name.value}", node)
            case ArgumentNode() | ObjectFieldNode():
                if coordinate := _input_at(node, types):
                    first_uses.setdefault(coordinate, node)
            case EnumValueNode():
                type_ = get_named_type(types.get_input_type())
                if isinstance(type_, GraphQLEnumType):
                    first_uses.setdefault(f"{type_.name}.{node.value}", node)
    return dict(sorted(first_uses.items()))


def defaults_used(document: DocumentNode, schema: GraphQLSchema) -> Iterator[str]:
    """Yield the coordinates of the defaults that the API applies if a call leaves out a variable."""
    optional = {
        node.variable.name.value
        for node in nodes_in(document)
        if isinstance(node, VariableDefinitionNode)
        and not isinstance(node.type, NonNullTypeNode)
        and node.default_value is None
    }
    for node, types in typed_nodes(document, schema):
        match node:
            case ArgumentNode(value=VariableNode(name=name)) | ObjectFieldNode(value=VariableNode(name=name)):
                if name.value in optional and (coordinate := _input_at(node, types)):
                    yield f"{coordinate}{DEFAULT}"


def _input_at(node: ArgumentNode | ObjectFieldNode, types: TypeInfo) -> str:
    """Return the coordinate of an argument or input field; empty if the schema does not have it."""
    if isinstance(node, ObjectFieldNode):
        holder = get_named_type(types.get_parent_input_type())
        return f"{holder.name}.{node.name.value}" if holder else ""
    parent, field, directive = types.get_parent_type(), types.get_field_def(), types.get_directive()
    if directive:
        return f"@{directive.name}({node.name.value}:)"
    return (
        f"{parent.name}.{field.ast_node.name.value}({node.name.value}:)" if parent and field and field.ast_node else ""
    )
