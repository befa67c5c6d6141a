"""What is sent of an author's operation, which may say more than an API takes, or less strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphql import (
    REMOVE,
    BooleanValueNode,
    DirectiveNode,
    DocumentNode,
    NamedTypeNode,
    OperationDefinitionNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    print_ast,
    separate_operations,
    visit,
)

from handler.compiler.directives import ON_OPERATIONS
from handler.compiler.problems import Problems
from handler.graph.document import bare

FOR_CLIENTS = ("connection", "defer", "nonreactive", "stream", "unmask")
"""Directives that GraphQL clients keep to themselves, or that ask for an answer in parts: a tool has one answer."""

CONDITIONS = ("skip", "include")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sendable:
    """A document as the API gets it. ``unchanged``: it says what the author's text says, so that may be sent itself."""

    document: DocumentNode
    unchanged: bool
    optional_conditions: Mapping[str, frozenset[str]]  # operation -> nullable variables of its @skip and @include


def sendable(document: DocumentNode, problems: Problems) -> Sendable:
    """A document without descriptions, which older servers refuse, and without directives that are not the API's.

    A nullable variable that decides only on ``@skip`` and ``@include`` gets the default ``false``: GraphQL takes none
    there, yet published operations have them. It is the one thing that is added, and doubted.
    """
    stripped = visit(bare(document, without_directives=ON_OPERATIONS), _WithoutClientDirectives())
    optional = {name: _optional_conditions(alone) for name, alone in separate_operations(stripped).items()}
    nodes = [node for found in optional.values() for node in found]
    for node in nodes:
        name = node.variable.name.value
        problems.warn(node, f"${name} may be null, which @skip and @include do not take: null is sent as false")
    defaulted = visit(stripped, _WithDefaults(nodes)) if nodes else stripped
    return Sendable(
        document=defaulted,
        unchanged=print_ast(defaulted) == print_ast(document),
        optional_conditions={
            name: frozenset(node.variable.name.value for node in found) for name, found in optional.items()
        },
    )


def _optional_conditions(document: DocumentNode) -> list[VariableDefinitionNode]:
    """The nullable variables without a default that stand in conditions, and nowhere else, of one operation."""
    uses = _Uses()
    visit(document, uses)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    declared = [node for operation in operations for node in operation.variable_definitions or ()]
    nullable = [node for node in declared if _is_nullable_boolean(node) and not node.default_value]
    only = set(uses.in_conditions) - set(uses.elsewhere)
    return [node for node in nullable if node.variable.name.value in only]


def _is_nullable_boolean(node: VariableDefinitionNode) -> bool:
    return isinstance(node.type, NamedTypeNode) and node.type.name.value == "Boolean"


class _WithoutClientDirectives(Visitor):
    def enter_directive(self, node: DirectiveNode, *_: object) -> Any:
        return REMOVE if node.name.value in FOR_CLIENTS else None


class _WithDefaults(Visitor):
    def __init__(self, nodes: Sequence[VariableDefinitionNode]) -> None:
        super().__init__()
        self._nodes = nodes

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: object) -> Any:
        chosen = any(node is each for each in self._nodes)
        return replace(node, default_value=BooleanValueNode(value=False)) if chosen else None


class _Uses(Visitor):
    """Where variables stand: in conditions of selections, or elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.in_conditions: list[str] = []
        self.elsewhere: list[str] = []
        self._condition = False

    def enter_variable_definition(self, *_: object) -> Any:
        return False  # what it declares is no use

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self._condition = node.name.value in CONDITIONS

    def leave_directive(self, *_: object) -> None:
        self._condition = False

    def enter_variable(self, node: VariableNode, *_: object) -> None:
        (self.in_conditions if self._condition else self.elsewhere).append(node.name.value)
