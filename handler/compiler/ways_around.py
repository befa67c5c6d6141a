"""Warnings of policies that guard one way to a type while another one is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphql import GraphQLSchema, get_named_type, is_composite_type

from handler.bundle import GraphQLTool, Tool
from handler.compiler.access import Rule
from handler.compiler.endpoint import Endpoint
from handler.compiler.problems import NOWHERE, Problems
from handler.graph.view import View
from handler.policy import OPEN, Mask, outcome_of

MAX_STEPS = 6
"""Longer ways are not written out."""


def doubt_ways_around(endpoint: Endpoint, rules: Iterable[Rule], tools: Iterable[Tool], problems: Problems) -> None:
    """Warn where a root field is guarded by a rule that names it, and what it returns is reachable all the same.

    Judged for each GraphQL tool, and for callers whom that rule alone keeps out. Defaults say nothing of one field.
    """
    offered = {tool.name: tool.guards for tool in tools if isinstance(tool, GraphQLTool)}
    views: dict[tuple[str, Mask], View] = {}
    for rule in rules if offered else ():
        for coordinate, type_name in _guarded_roots(endpoint.schema, rule):
            for tool, guards in offered.items():
                outcome = outcome_of(endpoint.conditions, unrestricted=True) - rule.mask
                key = (tool, outcome)
                if key not in views:
                    views[key] = endpoint.view_of(outcome, guards)
                way = _way_to(type_name, views[key])
                if way:
                    sentence = f"{coordinate} is guarded here, and {tool} reaches {type_name} without it: {way}"
                    problems.warn(rule.place or NOWHERE, sentence)
                    break


def _guarded_roots(schema: GraphQLSchema, rule: Rule) -> Iterator[tuple[str, str]]:
    """The fields of the query root that a rule names, and what they return."""
    root = schema.query_type
    for coordinate in rule.coordinates if root and not rule.default and rule.mask != OPEN else ():
        owner, _, name = coordinate.partition(".")
        field: Any = root.fields.get(name) if root and owner == root.name else None
        named = get_named_type(field.type) if field else None
        if named and is_composite_type(named):
            yield coordinate, named.name


def _way_to(wanted: str, view: View) -> str:
    """The shortest way from the query root to a type, as coordinates; empty if there is none."""
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
    """Where a request can go from a type: along its visible fields, and to what may stand for it."""
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
