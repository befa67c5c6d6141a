"""Where an endpoint's operations have custom scalars, of which nothing says how they look as JSON."""

from __future__ import annotations

from graphql import (
    FieldNode,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLSchema,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    Visitor,
    get_named_type,
    is_scalar_type,
    is_specified_scalar_type,
    parse,
    type_from_ast,
    visit,
)

from handler.bundle import PrescribedTool
from handler.compiler.compile import Compiled
from handler.graph.index import read_index
from handler.graph.view import build_view, print_view
from tests.support.schemas import schema_of_sdl


def json_scalar_names(compiled: Compiled) -> set[str]:
    """The keys of answers, the variables and the input fields that are custom scalars, or lists of them."""
    index = read_index(compiled.index, sha256=compiled.bundle.index)
    schema = schema_of_sdl(print_view(build_view(index, ())))
    found = _Names(schema)
    for tool in compiled.bundle.tools:
        if isinstance(tool, PrescribedTool):
            visit(parse(tool.operation.text), TypeInfoVisitor(found.type_info, found))
    return found.names


class _Names(Visitor):
    def __init__(self, schema: GraphQLSchema) -> None:
        super().__init__()
        self.type_info = TypeInfo(schema)
        self._schema = schema
        self.names = {
            name
            for type_ in schema.type_map.values()
            if isinstance(type_, GraphQLInputObjectType)
            for name, field in type_.fields.items()
            if _is_json_scalar(get_named_type(field.type))
        }

    def enter_field(self, node: FieldNode, *_: object) -> None:
        if _is_json_scalar(get_named_type(self.type_info.get_type())):
            self.names.add((node.alias or node.name).value)

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: object) -> None:
        if _is_json_scalar(get_named_type(type_from_ast(self._schema, node.type))):
            self.names.add(node.variable.name.value)


def _is_json_scalar(type_: GraphQLNamedType | None) -> bool:
    return is_scalar_type(type_) and not is_specified_scalar_type(type_)
