"""The directives of an API that a request may carry, by GraphQL's executable directive locations."""

from __future__ import annotations

from collections.abc import Iterator

from graphql import DirectiveLocation, GraphQLDirective, GraphQLSchema, is_specified_directive

EXECUTABLE_LOCATIONS = (
    DirectiveLocation.QUERY,
    DirectiveLocation.MUTATION,
    DirectiveLocation.FIELD,
    DirectiveLocation.FRAGMENT_DEFINITION,
    DirectiveLocation.FRAGMENT_SPREAD,
    DirectiveLocation.INLINE_FRAGMENT,
    DirectiveLocation.VARIABLE_DEFINITION,
)
"""Source: GraphQL specification, section 3.13 (ExecutableDirectiveLocation). Subscriptions are not served."""

FOR_PARTS = ("defer", "stream", "live")
"""Directives that request an incremental response. A tool has one response."""


def executable_directives(schema: GraphQLSchema) -> Iterator[GraphQLDirective]:
    """Yield the directives that the author's schema defines for requests, in its order.

    Definitions that the compiler adds for other systems are left out; they have no ``loc``.
    """
    for directive in schema.directives:
        added = directive.ast_node is not None and directive.ast_node.loc is None
        if not (added or is_specified_directive(directive) or directive.name in FOR_PARTS) and locations(directive):
            yield directive


def locations(directive: GraphQLDirective) -> list[str]:
    """Return the names of a directive's executable locations."""
    return [location.name for location in EXECUTABLE_LOCATIONS if location in directive.locations]
