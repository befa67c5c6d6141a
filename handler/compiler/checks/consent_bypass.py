"""Warnings of mutations that one tool asks its user about and that another tool sends without asking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from handler.bundle.tools import GraphQLTool
from handler.compiler.api_context import ApiContext
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.checks.policy_bypass import OWN_GRAPHQL
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.policy.evaluation import Mask, hidden_from_everybody


@check("consent-bypass")
def consent_bypass(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find the ways around each tool with ``confirm: required``: the first one for each mutation."""
    context, made = endpoint.api.context, endpoint.api.tools
    if context is None:
        return
    asking = [each for each in made if each.tool.options.confirm == "required"]
    ways = {each.tool.name: set(_sent_by(each, context)) for each in made if each not in asking}
    ways |= {OWN_GRAPHQL: set(_open(context, context.graphql_guards))} if endpoint.api.graphql.mode == "on" else {}
    for each in asking:
        for coordinate in _sent_by(each, context):
            way = next((name for name, sent in ways.items() if coordinate in sent), "")
            if way:
                sentence = f'"{each.tool.name}" asks its user before {coordinate}, but {way} sends it without asking'
                yield Finding(each.at, sentence, (coordinate,))


def _sent_by(made: CompiledTool, context: ApiContext) -> Iterator[str]:
    """Yield the coordinates of the mutations that a tool can send."""
    if isinstance(made.tool, GraphQLTool):
        yield from _open(context, made.tool.guards)
    else:
        yield from (coordinate for coordinate in _mutations(context) if coordinate in made.uses)


def _open(context: ApiContext, guards: Mapping[str, Mask]) -> Iterator[str]:
    """Yield the mutations that some caller may use, with these guards on top. A guard may hide the type as a whole."""
    hidden = [hidden_from_everybody(each) for each in (context.guards, guards)]
    root = context.schema.mutation_type
    if root and not any(is_hidden(root.name) for is_hidden in hidden):
        yield from (each for each in _mutations(context) if not any(is_hidden(each) for is_hidden in hidden))


def _mutations(context: ApiContext) -> Iterator[str]:
    root = context.schema.mutation_type
    yield from (f"{root.name}.{name}" for name in root.fields) if root else ()
