"""The types that graphql-core and searches bring to every schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from graphql import GraphQLNamedType, GraphQLSchema, specified_scalar_types

from handler.graph.documents.search_fields import SEARCH_TYPES


@cache
def in_every_schema() -> Mapping[str, GraphQLNamedType]:
    """Return graphql-core's own types that every schema has, in its order."""
    return GraphQLSchema().type_map


@cache
def all_of_core() -> Mapping[str, GraphQLNamedType]:
    """Return these types, all built-in scalars, and the types of ``__search`` and ``__definitions``."""
    return {**specified_scalar_types, **in_every_schema(), **SEARCH_TYPES}
