"""A warning of root fields that look up objects of any type, including types with guarded fields."""

from __future__ import annotations

from collections.abc import Iterator

from graphql import GraphQLInterfaceType, GraphQLSchema, GraphQLUnionType, get_named_type

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.exposure import guarded_tools
from handler.compiler.checks.finding import Finding, check
from handler.graph.view import View
from handler.text.sentences import some


@check("lookup-by-id")
def lookup_by_id(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find query fields with arguments that return an interface or union with a partly guarded type."""
    for tool in guarded_tools(endpoint):
        paths = dict(_paths_by_id(tool.schema, tool.view, tool.types))
        if paths:
            found = some(sorted(set().union(*paths.values())))
            sentence = f"{some(list(paths))} can return any {found}, and some fields of it are guarded"
            yield Finding(tool.at, sentence, tuple(paths))


def _paths_by_id(schema: GraphQLSchema, view: View, types: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield the query fields that look up any object, each with the guarded types that it may return."""
    root = schema.query_type
    if root is None:
        return
    for name in view.members.get(root.name, ()):
        type_ = get_named_type(root.fields[name].type)
        if root.fields[name].args and isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
            below = types & {each.name for each in schema.get_possible_types(type_)}
            if below:
                yield f"{root.name}.{name}", below
