"""Warnings of mutations that one tool asks its user about, and another way sends without a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handler.bundle.model import GraphQLTool
from handler.compiler.checks.policy_bypass import OWN_GRAPHQL
from handler.compiler.context import Endpoint
from handler.compiler.problems import Problems
from handler.compiler.tools.declaration import CompiledTool
from handler.policy.evaluation import Mask, hidden_from_everybody


def doubt_unasked(endpoint: Endpoint, made: Sequence[CompiledTool], problems: Problems, *, mode: str) -> None:
    """Warn of each tool with ``confirm: required`` that there is a way around, the first way for each mutation."""
    asking = [each for each in made if each.tool.options.confirm == "required"]
    ways = {each.tool.name: set(_sent_by(each, endpoint)) for each in made if each not in asking}
    ways |= {OWN_GRAPHQL: set(_open(endpoint, endpoint.graphql_guards))} if mode == "on" else {}
    for each in asking:
        for coordinate in _sent_by(each, endpoint):
            way = next((name for name, sent in ways.items() if coordinate in sent), "")
            if way:
                sentence = f'"{each.tool.name}" asks its user before {coordinate}, and {way} sends it without that'
                problems.warn(each.at, sentence)


def _sent_by(made: CompiledTool, endpoint: Endpoint) -> Iterator[str]:
    """The mutations that a tool can send, as coordinates."""
    if isinstance(made.tool, GraphQLTool):
        yield from _open(endpoint, made.tool.guards)
    else:
        yield from (coordinate for coordinate in _mutations(endpoint) if coordinate in made.uses)


def _open(endpoint: Endpoint, guards: Mapping[str, Mask]) -> Iterator[str]:
    """The mutations that somebody may use, with these guards on top."""
    hidden = [hidden_from_everybody(each) for each in (endpoint.guards, guards)]
    yield from (each for each in _mutations(endpoint) if not any(is_hidden(each) for is_hidden in hidden))


def _mutations(endpoint: Endpoint) -> Iterator[str]:
    root = endpoint.schema.mutation_type
    yield from (f"{root.name}.{name}" for name in root.fields) if root else ()
