"""Warnings of ways around a condition or a question to the user."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    is_composite_type,
)

from handler.bundle.tools import GraphQLTool
from handler.compiler.access.policies import Rule
from handler.compiler.checks.finding import CompiledEndpoint, Finding, check
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import Place, place_text
from handler.compiler.schema.directives import nodes_in
from handler.compiler.tools.declaration import CompiledTool
from handler.graph.documents.operation import fragments_of
from handler.graph.view import View
from handler.policy.evaluation import OPEN, Evaluation, Mask, hidden_from_everybody
from handler.policy.predicates import Predicate
from handler.strict_json import objects_in

MAX_STEPS = 6
"""Steps of a path that a warning shows."""

OWN_GRAPHQL = "/graphql"
"""The name of the endpoint's own GraphQL in a sentence."""


@check("policy-bypass", remedy="Guard the type itself, or hide the other way.")
def policy_bypass(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A guarded root field returns a type that is reachable without its guard.

    Try each GraphQL tool, and the endpoint's own GraphQL if it takes any document, as a caller without only that
    rule's conditions. Report the first field of a rule for each type.
    """
    context = endpoint.api.context
    if context is None:
        return
    tools = (each.tool for each in endpoint.api.tools)
    guards_of = {tool.name: tool.guards for tool in tools if isinstance(tool, GraphQLTool)}
    guards_of |= {OWN_GRAPHQL: context.graphql_guards} if endpoint.api.graphql.mode == "on" else {}

    @cache
    def view_without(mask: Mask, name: str) -> View:
        outcome = Evaluation(context.conditions, claims=None, unrestricted=True, lacking=mask).outcome()
        return context.view_of(outcome, guards_of[name])

    for rule in endpoint.api.rules:
        reported: set[str] = set()
        for coordinate, type_name in _guarded_roots(context.schema, rule):
            ways = ((name, _way_to(type_name, view_without(rule.mask, name))) for name in guards_of)
            name, way = next(((name, way) for name, way in ways if way), ("", ""))
            if way and type_name not in reported:
                reported.add(type_name)
                sentence = f"{coordinate} is guarded here, and {name} reaches {type_name} without it: {way}"
                yield Finding(rule.place or endpoint.context.entry, sentence, (coordinate,))


def _guarded_roots(schema: GraphQLSchema, rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield the query fields that a rule guards, with their types."""
    root = schema.query_type
    for coordinate in rule.coordinates if root and rule.place and rule.mask != OPEN else ():
        owner, _, name = coordinate.partition(".")
        field: Any = root.fields.get(name) if root and owner == root.name else None
        type_ = get_named_type(field.type) if field else None
        if type_ and is_composite_type(type_):
            yield coordinate, type_.name


def _way_to(type_name: str, view: View) -> str:
    """Find the shortest path from the query root to a type, as coordinates; an empty string if there is none."""
    root = view.index.roots.get("query", "")
    paths: dict[str, tuple[str, ...]] = {root: ()} if root in view.members else {}
    waiting = list(paths)
    for name in waiting:
        path = paths[name]
        if name == type_name:
            return " -> ".join(path[:MAX_STEPS]) + (" -> …" if len(path) > MAX_STEPS else "")
        references = view.index.references(name)
        steps = [(member, target) for member, argument, target in references if not argument]
        steps = [(member, target) for member, target in steps if member in view.members[name]]
        steps += [(each, each) for each in view.index.implementers.get(name, ())]
        for member, target in steps:
            if target not in paths and target in view.members:
                # Members of a union and implementers are reached without a field.
                paths[target] = path if member == target else (*path, f"{name}.{member}")
                waiting.append(target)
    return ""


@check("consent-bypass", remedy="Add confirm there too, or hide the mutation there.")
def consent_bypass(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A tool asks its user before a mutation that another tool, or /graphql, sends without a question.

    Report the first way around each tool with ``confirm: required``, for each mutation.
    """
    context, tools = endpoint.api.context, endpoint.api.tools
    root = context.schema.mutation_type if context else None
    if context is None or root is None:
        return
    coordinates = [f"{root.name}.{name}" for name in root.fields]

    def open_with(guards: Mapping[str, Mask]) -> list[str]:
        """Return the mutations that some caller may use, with these guards on top: one may hide the type as a whole."""
        hidden = [hidden_from_everybody(each) for each in (context.guards, guards)]
        return [name for name in coordinates if not any(hides(root.name) or hides(name) for hides in hidden)]

    def mutations_of(tool: CompiledTool) -> list[str]:
        if isinstance(tool.tool, GraphQLTool):
            return open_with(tool.tool.guards)
        return [name for name in coordinates if name in tool.uses]

    asking = [tool for tool in tools if tool.tool.options.confirm == "required"]
    ways = {tool.tool.name: mutations_of(tool) for tool in tools if tool not in asking}
    ways |= {OWN_GRAPHQL: open_with(context.graphql_guards)} if endpoint.api.graphql.mode == "on" else {}
    for tool in asking:
        for coordinate in mutations_of(tool):
            way = next((name for name, mutations in ways.items() if coordinate in mutations), "")
            if way:
                sentence = f'"{tool.tool.name}" asks its user before {coordinate}, but {way} sends it without asking'
                yield Finding(tool.at, sentence, (coordinate,))


@check("variable-walk", remedy="Take the field out of the operation, or guard it by a condition without $variables.")
def variable_walk(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """An operation reads a guarded field of an object that the condition's variable does not name.

    A condition knows the value of a variable, and not the object. ``employee(id: $employee) { salary }`` reads the
    object that the variable names; ``employee(id: $employee) { reports { salary } }`` reads others. An object is named
    if the field that returns it, or the field that returns the page or payload around it, takes the variable.
    """
    context = endpoint.api.context
    if context is None:
        return
    for rule in endpoint.api.rules:
        compared = set().union(*(_compared(context.conditions[number]) for number in rule.mask))
        coordinates = frozenset(rule.coordinates)
        place = f"{place_text(rule.place)}: " if isinstance(rule.place, Place) else ""
        for operation in endpoint.api.operations if compared else ():
            variables = {node.variable.name.value for node in operation.node.variable_definitions or ()}
            for variable in sorted(compared & variables) if operation.callable else ():
                step = next(_guarded_steps(context.schema, operation, variable, coordinates), None)
                if step is not None:
                    node, path, guarded = step
                    sentence = (
                        f'"{operation.name}" reads {guarded} at {path}, of an object that no argument names by '
                        f"${variable}; the condition ({place}{rule.text}) compares the value of ${variable}, not the "
                        "object: take the field out of the operation, or guard it by a condition without $variables"
                    )
                    yield Finding(node, sentence, (operation.name, guarded))


def _compared(predicate: Predicate) -> set[str]:
    """Return the variables that a predicate compares with claims."""
    variables: set[str] = set()
    for each in objects_in(predicate):
        operands = [part for part in each.values() if isinstance(part, dict)]
        if any("jwt" in operand for operand in operands):
            variables |= {str(operand["variables"][0]) for operand in operands if "variables" in operand}
    return variables


def _guarded_steps(
    schema: GraphQLSchema, operation: AuthorOperation, variable: str, coordinates: Collection[str]
) -> Iterator[tuple[FieldNode, str, str]]:
    """Yield the fields at ``coordinates`` of objects that a variable does not name, with their paths."""
    guarded_types = {coordinate.partition(".")[0] for coordinate in coordinates}
    fragments = fragments_of(operation.written)
    visited: set[tuple[str, bool]] = set()  # fragments, each with a named and with another object

    def below(
        selections: SelectionSetNode, type_: GraphQLNamedType, path: tuple[str, ...], *, named: bool
    ) -> Iterator[tuple[FieldNode, str, str]]:
        for node in selections.selections:
            if isinstance(node, FieldNode):
                yield from of_field(node, type_, path, named=named)
            elif isinstance(node, InlineFragmentNode):
                on = node.type_condition.name.value if node.type_condition else type_.name
                yield from below(node.selection_set, schema.type_map[on], path, named=named)
            elif isinstance(node, FragmentSpreadNode) and (node.name.value, named) not in visited:
                visited.add((node.name.value, named))
                fragment = fragments[node.name.value]
                on_type = schema.type_map[fragment.type_condition.name.value]
                yield from below(fragment.selection_set, on_type, path, named=named)

    def of_field(
        node: FieldNode, type_: GraphQLNamedType, path: tuple[str, ...], *, named: bool
    ) -> Iterator[tuple[FieldNode, str, str]]:
        name, fields = node.name.value, getattr(type_, "fields", {})
        if name not in fields:  # __typename
            return
        here = (*path, name)
        nodes = nodes_in(*(node.arguments or ()))
        takes = any(isinstance(each, VariableNode) and each.name.value == variable for each in nodes)
        guarded = [f"{each}.{name}" for each in _related(schema, type_) if f"{each}.{name}" in coordinates]
        if guarded and not (named or takes):
            yield node, ".".join(here), guarded[0]
        if node.selection_set:
            # A page, an edge or a payload around the objects that it is about has no id.
            is_around = type_.name not in guarded_types and "id" not in fields
            inner = get_named_type(fields[name].type)
            yield from below(node.selection_set, inner, here, named=takes or (named and is_around))

    if root := schema.get_root_type(operation.node.operation):
        yield from below(operation.node.selection_set, root, (), named=False)


def _related(schema: GraphQLSchema, type_: GraphQLNamedType) -> list[str]:
    """Return the names of a type, its interfaces, and the types that implement it."""
    related = [type_.name]
    if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
        related += [each.name for each in type_.interfaces]
    if isinstance(type_, GraphQLInterfaceType):
        implementations = schema.get_implementations(type_)
        related += [each.name for each in (*implementations.objects, *implementations.interfaces)]
    return related
