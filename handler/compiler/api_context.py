"""The context of the tools on one schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphql import GraphQLSchema

from handler.bundle.tools import Limits
from handler.compiler.access.propagation import Consequences
from handler.compiler.compile_context import CompileContext
from handler.compiler.conditions import ConditionTable
from handler.compiler.json_schemas.descriptions import GRAPHQL_TOOL
from handler.compiler.json_schemas.input_schema import SharedDefinitions
from handler.compiler.json_schemas.scalars import Scalar
from handler.compiler.operations.kept_operations import KeptOperations
from handler.compiler.problems import Problems
from handler.graph.index import Lazy, SchemaIndex
from handler.graph.view import View, build_view
from handler.policy.evaluation import OPEN, Evaluation, Mask, hidden_from
from handler.policy.guarded_schema import GuardedSchemas


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiContext:
    """The parts of an endpoint that tools are made from: its context, and the schema with index, scalars and guards."""

    endpoint: CompileContext
    schema: GraphQLSchema
    index: SchemaIndex
    scalars: Mapping[str, Scalar]  # the author's own, by name
    types_of_files: frozenset[str]  # input types whose values need a file, which an argument cannot be
    own_guards: Mapping[str, Mask]  # decided for single coordinates
    guards: Mapping[str, Mask]  # ``own_guards`` with all that follows
    external_guards: Mapping[str, Mask]  # guards that hide from every client of the API; empty if there are none
    graphql_guards: Mapping[str, Mask]  # additional guards of the endpoint's own GraphQL
    consequences: Consequences
    kept: KeptOperations
    definitions: SharedDefinitions = field(default_factory=SharedDefinitions)  # equal definitions are one object
    guarded: GuardedSchemas = field(default_factory=GuardedSchemas)  # conditions of the visible parts of schemas

    @property
    def problems(self) -> Problems:
        """The problems of the endpoint."""
        return self.endpoint.problems

    @property
    def conditions(self) -> ConditionTable:
        """The conditions of the endpoint."""
        return self.endpoint.conditions

    @property
    def limits(self) -> Limits:
        """The limits of requests that models write."""
        return self.endpoint.config.limits

    def guards_with(self, own: Mapping[str, Mask]) -> dict[str, Mask]:
        """Return the masks that ``own`` guards add to the endpoint's, with all that follows from both together."""
        both = {place: self.own_guards.get(place, OPEN) | own.get(place, OPEN) for place in {**self.own_guards, **own}}
        added = {place: mask - self.guards.get(place, OPEN) for place, mask in self.consequences.of(both).items()}
        return {place: mask for place, mask in added.items() if mask}

    def view_of(self, outcome: Mask, guards: Mapping[str, Mask]) -> View:
        """Return the view of callers with an outcome, with a tool's own guards on top."""
        return build_view(self.index, hidden_from(outcome, self.guards, guards))

    def conditions_of(self, guards: Mapping[str, Mask]) -> Mask:
        """Return the conditions that views with these guards on top depend on: masks of hidden types change none."""
        everything = Evaluation(self.conditions, claims=None, unrestricted=True).outcome()
        whole = self.view_of(everything, guards)
        both = [*self.guards.items(), *guards.items()]
        visible = (mask for place, mask in both if place.startswith("@") or place.partition(".")[0] in whole.members)
        return OPEN.union(*visible) & everything

    @property
    def whole_view(self) -> View:
        """The view of callers from whom nothing is hidden."""
        return View(self.index, Lazy(dict.fromkeys(self.index), self.index.members), frozenset())

    @property
    def name_variables(self) -> dict[str, str]:
        """The variables that tool names may name in braces."""
        folder, _, name = self.endpoint.project.endpoint.partition("/")
        return {"endpoint_folder": folder, "endpoint_name": name}

    @property
    def description_variables(self) -> dict[str, str]:
        """The variables that descriptions may name in braces, except a tool's own schema."""
        return {
            **self.name_variables,
            "graphql_tool": GRAPHQL_TOOL,
            "schema_description": self.schema.description or "",
        }
