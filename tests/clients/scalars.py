"""Where an endpoint's operations have custom scalars, of which nothing says how they look as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from graphql import (
    DefinitionNode,
    DocumentNode,
    FieldNode,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLSchema,
    GraphQLSyntaxError,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    Visitor,
    build_ast_schema,
    get_named_type,
    is_scalar_type,
    is_specified_scalar_type,
    parse,
    type_from_ast,
    visit,
)


def json_scalar_names(folder: Path) -> set[str]:
    """The keys of answers, the variables and the input fields that are custom scalars, or lists of them.

    The files of the endpoint folder are read by graphql-core alone.
    """
    schema = build_ast_schema(_read(folder, SCHEMAS), assume_valid=True, assume_valid_sdl=True)
    found = _Names(schema)
    visit(_read(folder, OPERATIONS), TypeInfoVisitor(found.type_info, found))
    return found.names


SCHEMAS = ("index.graphql", "schema.graphql")
OPERATIONS = ("operations.graphql", "operations/**/*.graphql")


def _read(folder: Path, patterns: Sequence[str]) -> DocumentNode:
    """The files of some names as one document, but those that GraphQL cannot read."""
    files = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    definitions: list[DefinitionNode] = []
    for file in files:
        with suppress(GraphQLSyntaxError):
            definitions += parse(file.read_text("utf-8"), no_location=True).definitions
    return DocumentNode(definitions=tuple(definitions))


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
