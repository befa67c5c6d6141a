"""A warning of operations that walk on from the object that a condition's variable names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    ListValueNode,
    ObjectValueNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
)

from handler.compiler.access.policies import Rule
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import Place, shown
from handler.policy.predicates import Predicate


@check("variable-walk")
def variable_walk(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each operation that reads a guarded field of an object which the condition's variable does not name.

    A condition knows the value of a variable, and not the object. ``employee(id: $employee) { salary }`` reads the
    object that the variable names; ``employee(id: $employee) { reports { salary } }`` reads others. An object is named
    if the field that returns it, or the field that returns the page or payload around it, takes the variable.
    """
    context = endpoint.api.context
    if context is None:
        return
    for rule in endpoint.api.rules:
        compared = set().union(*(_compared(context.conditions[number]) for number in rule.mask))
        for operation in endpoint.api.operations if compared else ():
            declared = {node.variable.name.value for node in operation.node.variable_definitions or ()}
            for variable in sorted(compared & declared) if operation.callable else ():
                walk = _Walk(context.schema, operation, variable, rule.coordinates)
                step = next(walk.steps(), None)
                if step is not None:
                    yield Finding(step.node, _sentence(operation, step, variable, rule), (operation.name, step.guarded))


def _sentence(operation: AuthorOperation, step: _Step, variable: str, rule: Rule) -> str:
    place = f"{shown(rule.place)}: " if isinstance(rule.place, Place) else ""
    return (
        f'"{operation.name}" reads {step.guarded} at {step.path}, of an object that no argument names by ${variable}; '
        f"the condition ({place}{rule.text}) compares the value of ${variable}, not the object: "
        "take the field out of the operation, or guard it by a condition without $variables"
    )


def _compared(predicate: Predicate) -> set[str]:
    """Return the variables that a predicate compares with claims."""
    found: set[str] = set()
    waiting: list[Any] = [predicate]
    while waiting:
        each = waiting.pop()
        parts = list(each.values()) if isinstance(each, Mapping) else each if isinstance(each, list) else []
        operands = [part for part in parts if isinstance(part, Mapping) and ("jwt" in part or "variables" in part)]
        if any("jwt" in operand for operand in operands):
            found |= {str(operand["variables"][0]) for operand in operands if "variables" in operand}
        waiting += [part for part in parts if part not in operands]
    return found


@dataclass(frozen=True, slots=True)
class _Step:
    """A selected field that a condition guards, of an object that the variable does not name."""

    node: FieldNode
    path: str
    guarded: str  # coordinate


class _Walk:
    """The fields of one operation that one rule guards, and the objects that they are read of."""

    def __init__(
        self, schema: GraphQLSchema, operation: AuthorOperation, variable: str, coordinates: tuple[str, ...]
    ) -> None:
        self._schema = schema
        self._operation = operation
        self._variable = variable
        self._coordinates = frozenset(coordinates)
        self._guarded_types = {coordinate.partition(".")[0] for coordinate in coordinates}
        definitions = operation.document.definitions
        self._fragments = {node.name.value: node for node in definitions if isinstance(node, FragmentDefinitionNode)}
        self._seen: set[tuple[str, bool]] = set()  # fragments, each with a named and with another object

    def steps(self) -> Iterator[_Step]:
        """Yield the guarded fields of objects that the variable does not name."""
        root = self._schema.get_root_type(self._operation.node.operation)
        if root:
            yield from self._below(self._operation.node.selection_set, root, (), named=False)

    def _below(
        self, selections: SelectionSetNode, type_: GraphQLNamedType, path: tuple[str, ...], *, named: bool
    ) -> Iterator[_Step]:
        for node in selections.selections:
            if isinstance(node, FieldNode):
                yield from self._field(node, type_, path, named=named)
            elif isinstance(node, InlineFragmentNode):
                on = node.type_condition.name.value if node.type_condition else type_.name
                yield from self._below(node.selection_set, self._schema.type_map[on], path, named=named)
            elif isinstance(node, FragmentSpreadNode) and (node.name.value, named) not in self._seen:
                self._seen.add((node.name.value, named))
                fragment = self._fragments[node.name.value]
                on_type = self._schema.type_map[fragment.type_condition.name.value]
                yield from self._below(fragment.selection_set, on_type, path, named=named)

    def _field(
        self, node: FieldNode, type_: GraphQLNamedType, path: tuple[str, ...], *, named: bool
    ) -> Iterator[_Step]:
        field = getattr(type_, "fields", {}).get(node.name.value)
        if field is None:  # __typename
            return
        here = (*path, node.name.value)
        takes = any(_names(argument.value, self._variable) for argument in node.arguments or ())
        guarded = self._guarded(type_, node.name.value)
        if guarded and not (named or takes):
            yield _Step(node, ".".join(here), guarded)
        if node.selection_set:
            below = get_named_type(field.type)
            around = named and self._is_around(type_)
            yield from self._below(node.selection_set, below, here, named=takes or around)

    def _guarded(self, type_: GraphQLNamedType, name: str) -> str:
        """Return the coordinate of the rule that guards a field; empty string if there is none."""
        related = [type_.name]
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
            related += [each.name for each in type_.interfaces]
        if isinstance(type_, GraphQLInterfaceType):
            found = self._schema.get_implementations(type_)
            related += [each.name for each in (*found.objects, *found.interfaces)]
        return next((f"{each}.{name}" for each in related if f"{each}.{name}" in self._coordinates), "")

    def _is_around(self, type_: GraphQLNamedType) -> bool:
        """Tell if an object is a page, an edge or a payload around the objects that it is about."""
        return type_.name not in self._guarded_types and "id" not in getattr(type_, "fields", {})


def _names(value: ValueNode, variable: str) -> bool:
    """Tell if a value is a variable, or has it inside."""
    match value:
        case VariableNode():
            return value.name.value == variable
        case ListValueNode():
            return any(_names(each, variable) for each in value.values)
        case ObjectValueNode():
            return any(_names(each.value, variable) for each in value.fields)
        case _:
            return False
