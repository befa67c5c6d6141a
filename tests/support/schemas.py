"""Schemas of a test's own: as an index, as a view, as what callers of the view get."""

from __future__ import annotations

from collections.abc import Collection

from graphql import GraphQLSchema, build_ast_schema, build_schema, parse

from handler.compiler.schema.schema_index import build_index
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.index import SchemaIndex, read_index, write_index
from handler.graph.view import View, build_view


def index_of(schema: GraphQLSchema | str) -> SchemaIndex:
    """The index, written and read back."""
    digest, raw = write_index(build_index(build_schema(schema) if isinstance(schema, str) else schema))
    return read_index(raw, sha256=digest)


def view_of(schema: GraphQLSchema | str, hidden: Collection[str] = ()) -> View:
    """The view without the ``hidden`` coordinates."""
    return build_view(index_of(schema), hidden)


def schemas_of(schema: GraphQLSchema | str, hidden: Collection[str] = ()) -> ViewSchemas:
    """What documents are judged by."""
    return ViewSchemas(view_of(schema, hidden))


def schema_of_sdl(sdl: str) -> GraphQLSchema:
    """graphql-core's own reading of a view's SDL, whole: the oracle of what is made without it."""
    return build_ast_schema(parse(sdl, no_location=True), assume_valid=True, assume_valid_sdl=True)
