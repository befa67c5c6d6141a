"""The visible parts of GraphQL tools beside guarded fields. The checks of indirect exposure share this module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphql import GraphQLSchema

from handler.bundle.tools import GraphQLTool
from handler.compiler.access.input_inference import Questions
from handler.compiler.api_context import ApiContext
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.problems import At
from handler.compiler.schema.visibility import fields_of
from handler.graph.view import View
from handler.policy.evaluation import Mask, union_of


@dataclass(frozen=True, kw_only=True)
class GuardedTool:
    """A GraphQL tool with guarded fields, and the view of the callers who see most of it."""

    at: At
    context: ApiContext
    view: View  # of the callers who see most of it
    guards: Mapping[str, Mask]  # the endpoint's and the tool's own
    guarded: list[tuple[str, str]]  # type and name of every guarded field

    @property
    def schema(self) -> GraphQLSchema:
        return self.context.schema

    @property
    def questions(self) -> Questions:
        return self.context.consequences.questions

    @property
    def types(self) -> set[str]:
        """The types with a guarded field."""
        return {type_name for type_name, _ in self.guarded}

    @cached_property
    def shown(self) -> dict[str, Any]:
        """The visible fields by their coordinates, without root fields."""
        roots = (self.schema.query_type, self.schema.mutation_type)
        return {
            f"{type_.name}.{name}": field
            for type_, name, field in fields_of(self.schema)
            if type_ not in roots and name in self.view.members.get(type_.name, ())
        }

    def visible_inputs(self, coordinates: Iterable[str]) -> Iterator[str]:
        """Yield the coordinates of inputs that the view has."""
        for coordinate in coordinates:
            owner, name, argument = parts_of(coordinate)
            is_member = name in self.view.members.get(owner, ())
            if is_member and (not argument or argument in self.view.arguments(owner, name)):
                yield coordinate


def guarded_tools(endpoint: CompiledEndpoint) -> Iterator[GuardedTool]:
    """Yield the GraphQL tools that have guarded fields."""
    context = endpoint.api.context
    for each in endpoint.api.tools if context else ():
        if context and isinstance(each.tool, GraphQLTool):
            own = {place: union_of(context.guards, [place]) | mask for place, mask in each.tool.guards.items()}
            guards = {**context.guards, **own}
            guarded = _guarded_fields(context.schema, guards)
            if guarded:
                view = context.view_of(each.tool.conditions, each.tool.guards)
                yield GuardedTool(at=each.at, context=context, view=view, guards=guards, guarded=guarded)


def parts_of(coordinate: str) -> tuple[str, str, str]:
    """Split a coordinate into type, member and argument; the last one may be empty."""
    owner, _, member = coordinate.partition(".")
    name, _, argument = member.removesuffix(":)").partition("(")
    return owner, name, argument


def _guarded_fields(schema: GraphQLSchema, guards: Mapping[str, Mask]) -> list[tuple[str, str]]:
    """List type and name of every guarded field. Root fields do not count: their types hold no data."""
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    return [
        (type_.name, name)
        for type_, name, _ in fields_of(schema)
        if type_ not in roots and (guards.get(f"{type_.name}.{name}") or guards.get(type_.name))
    ]
