"""Warnings of policies that guard one path to a type while another path is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphql import GraphQLSchema, get_named_type, is_composite_type

from handler.bundle.tools import GraphQLTool
from handler.compiler.access.policies import Rule
from handler.compiler.api_context import ApiContext
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.graph.view import View
from handler.policy.evaluation import OPEN, Evaluation, Mask

MAX_STEPS = 6
"""Steps of a path that a warning shows."""

OWN_GRAPHQL = "/graphql"
"""The name of the endpoint's own GraphQL in a sentence."""


@check("policy-bypass")
def policy_bypass(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each guarded root field whose result is reachable without its guard.

    Try each GraphQL tool, and the endpoint's own GraphQL if it takes any document, as a caller who lacks only that
    rule's conditions. Report the first field of a rule for each type.
    """
    context = endpoint.api.context
    if context is None:
        return
    tools = (each.tool for each in endpoint.api.tools)
    offered = {tool.name: tool.guards for tool in tools if isinstance(tool, GraphQLTool)}
    offered |= {OWN_GRAPHQL: context.graphql_guards} if endpoint.api.graphql.mode == "on" else {}
    views = _Views(context)
    for rule in endpoint.api.rules:
        told: set[str] = set()
        for coordinate, type_name in _guarded_roots(context.schema, rule):
            ways = ((name, _way_to(type_name, views.without(rule.mask, guards))) for name, guards in offered.items())
            name, way = next(((name, way) for name, way in ways if way), ("", ""))
            if way and type_name not in told:
                told.add(type_name)
                sentence = f"{coordinate} is guarded here, and {name} reaches {type_name} without it: {way}"
                yield Finding(rule.place or endpoint.context.entry, sentence, (coordinate,))


class _Views:
    """The views of callers who lack some conditions, each built once."""

    def __init__(self, context: ApiContext) -> None:
        self._context = context
        self._made: dict[tuple[Mask, int], View] = {}

    def without(self, lacking: Mask, guards: Mapping[str, Mask]) -> View:
        key = (lacking, id(guards))
        if key not in self._made:
            conditions = self._context.conditions
            held = Evaluation(conditions, claims=None, unrestricted=True, lacking=lacking).outcome()
            self._made[key] = self._context.view_of(held, guards)
        return self._made[key]


def _guarded_roots(schema: GraphQLSchema, rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield the query fields that a rule guards, with their types."""
    root = schema.query_type
    for coordinate in rule.coordinates if root and rule.place and rule.mask != OPEN else ():
        owner, _, name = coordinate.partition(".")
        field: Any = root.fields.get(name) if root and owner == root.name else None
        named = get_named_type(field.type) if field else None
        if named and is_composite_type(named):
            yield coordinate, named.name


def _way_to(wanted: str, view: View) -> str:
    """Find the shortest path from the query root to a type, as coordinates; an empty string if there is none."""
    root = view.index.roots.get("query", "")
    came_from: dict[str, tuple[str, str]] = {}
    waiting = [root] if root in view.members else []
    for name in waiting:
        if name == wanted:
            return _written(name, came_from)
        for member, target in _steps(name, view):
            if target not in came_from and target != root and target in view.members:
                came_from[target] = (name, f"{name}.{member}" if member else "")
                waiting.append(target)
    return ""


def _steps(name: str, view: View) -> Iterator[tuple[str, str]]:
    """Yield the types that a request reaches from a type: along visible fields, and its implementers."""
    visible = view.members[name]
    for member, argument, target in view.index.references(name):
        if member in visible and not argument:
            yield ("" if member == target else member), target
    yield from (("", each) for each in view.index.implementers.get(name, ()))


def _written(name: str, came_from: Mapping[str, tuple[str, str]]) -> str:
    steps: list[str] = []
    while name in came_from:
        name, step = came_from[name]
        steps += [step] if step else []
    shown = [*reversed(steps)]
    return " -> ".join(shown[:MAX_STEPS]) + (" -> …" if len(shown) > MAX_STEPS else "")
