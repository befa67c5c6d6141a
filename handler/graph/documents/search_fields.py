"""``__search`` and ``__definitions``: meta-fields of the query type, and the types that only they return.

A schema does not list them: graphql-js refuses a schema that defines names with two underscores. Validation finds the
fields and types in ``SearchableSchema``, as graphql-core finds ``__schema`` and ``__type``.

Source: GraphQL AI working group, "Semantic Introspection" (draft).
"""

from __future__ import annotations

from collections.abc import Mapping

from graphql import (
    GraphQLArgument,
    GraphQLCompositeType,
    GraphQLDefaultInput,
    GraphQLField,
    GraphQLFloat,
    GraphQLInt,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    GraphQLUnionType,
    introspection_types,
)

DEFINITION = "__SchemaDefinition"

DEFINED: Mapping[str, GraphQLObjectType] = {
    name: type_
    for name in ("__Type", "__Field", "__InputValue", "__EnumValue", "__Directive")
    if isinstance(type_ := introspection_types[name], GraphQLObjectType)
}
"""The members of ``__SchemaDefinition``, by name."""

_Definition = GraphQLUnionType(
    DEFINITION, list(DEFINED.values()), description="The definition that a schema coordinate names."
)

_Result = GraphQLObjectType(
    "__SearchResult",
    {
        "coordinate": GraphQLField(
            GraphQLNonNull(GraphQLString),
            description="The schema coordinate of the definition, such as `Query.order` or `Order.lines(first:)`.",
        ),
        "definition": GraphQLField(GraphQLNonNull(_Definition), description="The definition itself."),
        "pathsToRoot": GraphQLField(
            GraphQLNonNull(GraphQLList(GraphQLNonNull(GraphQLList(GraphQLNonNull(GraphQLString))))),
            description="Ways to reach the definition. Each is a list of coordinates from a field of a root type on.",
        ),
        "score": GraphQLField(
            GraphQLFloat, description="How well the definition answers the question, from 0 to 1. 1 is best."
        ),
        "cursor": GraphQLField(
            GraphQLNonNull(GraphQLString), description="Give it as `after` to get the results after this one."
        ),
    },
    description="A definition that `__search` found.",
)

SEARCH_TYPES: Mapping[str, GraphQLNamedType] = {type_.name: type_ for type_ in (_Result, _Definition)}
"""The types that only ``__search`` and ``__definitions`` return, by name."""

TAKEN_TYPES = (GraphQLFloat, GraphQLInt)
"""Types of their arguments that a schema may lack. A request declares variables of them."""

SEARCH_FIELDS: Mapping[str, GraphQLField] = {
    "__search": GraphQLField(
        GraphQLNonNull(GraphQLList(GraphQLNonNull(_Result))),
        {
            "query": GraphQLArgument(GraphQLNonNull(GraphQLString), description="A question, or words to look for."),
            "first": GraphQLArgument(
                GraphQLNonNull(GraphQLInt),
                default=GraphQLDefaultInput(value=10),
                description="The greatest number of results.",
            ),
            "after": GraphQLArgument(GraphQLString, description="The `cursor` of an earlier result of this search."),
            "minScore": GraphQLArgument(GraphQLFloat, description="The least score of a result."),
        },
        description="Find the parts of the schema that answer a question, the best first.",
    ),
    "__definitions": GraphQLField(
        GraphQLNonNull(GraphQLList(GraphQLNonNull(_Definition))),
        {
            "coordinates": GraphQLArgument(
                GraphQLNonNull(GraphQLList(GraphQLNonNull(GraphQLString))), description="Schema coordinates."
            )
        },
        description="Return the definitions of schema coordinates, in the order of the coordinates.",
    ),
}
"""The meta-fields of the query type that this module adds, by name."""


class SearchableSchema(GraphQLSchema):
    """A schema with ``__search`` and ``__definitions`` at the root of a query."""

    def get_field(self, parent_type: GraphQLCompositeType, field_name: str) -> GraphQLField | None:
        """Return the definition of a field, meta-fields included; ``None`` if the type has no such field."""
        if field_name in SEARCH_FIELDS:
            return SEARCH_FIELDS[field_name] if parent_type is self.query_type else None
        return super().get_field(parent_type, field_name)
