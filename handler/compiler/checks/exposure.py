"""The visible parts of GraphQL tools beside guarded fields. The checks of indirect exposure share this module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from graphql import GraphQLObjectType, GraphQLSchema

from handler.bundle.tools import GraphQLTool
from handler.compiler.access.input_inference import Questions
from handler.compiler.access.name_matching import joined, mentions, spellings
from handler.compiler.api_context import ApiContext
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.problems import At
from handler.compiler.schema.visibility import fields_of, types_with_fields
from handler.graph.view import View
from handler.policy.evaluation import Mask, union_of

MIN_COMMON_TYPES = 10
MIN_COMMON_SHARE = 0.05
"""A name of fields is common if that many types have it, and that part of all types."""


@dataclass(frozen=True, kw_only=True)
class GuardedTool:
    """A GraphQL tool with guarded fields, and the view of the callers who see most of it."""

    at: At
    context: ApiContext
    view: View  # of the callers who see most of it
    guards: Mapping[str, Mask]  # the endpoint's and the tool's own, with all that follows
    guarded: list[tuple[str, str]]  # type and name of every field that the author guarded

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

    @cached_property
    def _common_names(self) -> set[str]:
        """The names of fields that many types have."""
        types = [type_ for type_ in types_with_fields(self.schema) if isinstance(type_, GraphQLObjectType)]
        counts = Counter(name for type_ in types for name in type_.fields)
        least = max(MIN_COMMON_TYPES, len(types) * MIN_COMMON_SHARE)
        return {name for name, count in counts.items() if count >= least}

    def may_tell(self, coordinate: str, type_name: str, name: str) -> bool:
        """Tell if a coordinate with the name of a guarded field may be about that field.

        Many types have an ``id``. Such a name only counts beside the name of the guarded type.
        """
        return name not in self._common_names or not spellings(type_name).isdisjoint(_spelled_in(coordinate))

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
            guarded = _guarded_fields(context.schema, [context.own_guards, each.own_guards])
            if guarded:
                view = context.view_of(each.tool.conditions, each.tool.guards)
                yield GuardedTool(at=each.at, context=context, view=view, guards=guards, guarded=guarded)


def parts_of(coordinate: str) -> tuple[str, str, str]:
    """Split a coordinate into type, member and argument; the last one may be empty."""
    owner, _, member = coordinate.partition(".")
    name, _, argument = member.removesuffix(":)").partition("(")
    return owner, name, argument


def _guarded_fields(schema: GraphQLSchema, own: Iterable[Mapping[str, Mask]]) -> list[tuple[str, str]]:
    """List type and name of every field that the author guarded, by itself or with its type.

    Root fields do not count: their types hold no data. Fields that are guarded as a consequence do not count either,
    as all of GitHub's ``Node.id`` without a policy for ``Mutation``.
    """
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    guarded = {coordinate for guards in own for coordinate, mask in guards.items() if mask}
    return [
        (type_.name, name)
        for type_, name, _ in fields_of(schema)
        if type_ not in roots and not guarded.isdisjoint((type_.name, f"{type_.name}.{name}"))
    ]


@cache
def _spelled_in(coordinate: str) -> frozenset[str]:
    """Return the spellings of all runs of words in a coordinate."""
    return frozenset(spelling for mention in mentions(coordinate) for spelling in joined(mention.words))
