"""The directives of an API that a request may carry, by the locations where GraphQL calls a directive executable."""

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
"""Source: GraphQL specification, section 3.13 (ExecutableDirectiveLocation). Nothing serves subscriptions."""

FOR_PARTS = ("defer", "stream", "live")
"""Directives that ask for an answer in parts. A tool has one answer."""


def executable_directives(schema: GraphQLSchema) -> Iterator[GraphQLDirective]:
    """The directives that the author's schema defines for requests, in its order.

    A definition that the compiler added for another system's sake has no place in a file, so it is left out.
    """
    for directive in schema.directives:
        added = directive.ast_node is not None and directive.ast_node.loc is None
        if not (added or is_specified_directive(directive) or directive.name in FOR_PARTS) and locations(directive):
            yield directive


def locations(directive: GraphQLDirective) -> list[str]:
    """The names of the executable locations of a directive."""
    return [location.name for location in EXECUTABLE_LOCATIONS if location in directive.locations]
