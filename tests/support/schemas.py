"""Schemas of a test's own: as an index, as a view, as what callers of the view get."""

from __future__ import annotations

from collections.abc import Collection

from graphql import GraphQLSchema, build_schema

from handler.compiler.schema_index import build_index
from handler.graph.document import build_view_schema
from handler.graph.index import SchemaIndex, read_index, write_index
from handler.graph.view import View, build_view, print_view


def index_of(schema: GraphQLSchema | str) -> SchemaIndex:
    """The index, written and read back."""
    digest, raw = write_index(build_index(build_schema(schema) if isinstance(schema, str) else schema))
    return read_index(raw, sha256=digest)


def view_of(schema: GraphQLSchema | str, hidden: Collection[str] = ()) -> View:
    """The view without the ``hidden`` coordinates."""
    return build_view(index_of(schema), hidden)


def view_schema_of(schema: GraphQLSchema | str, hidden: Collection[str] = ()) -> GraphQLSchema:
    """What documents are validated against."""
    return build_view_schema(print_view(view_of(schema, hidden)))
