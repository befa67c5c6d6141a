"""Normalization of an author's operations to text that the API accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphql import (
    REMOVE,
    BooleanValueNode,
    DirectiveNode,
    DocumentNode,
    GraphQLSchema,
    NamedTypeNode,
    NonNullTypeNode,
    OperationDefinitionNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    print_ast,
    separate_operations,
    visit,
)

from handler.compiler.problems import Problems
from handler.compiler.schema.directives import FOR_PARTS, ON_OPERATIONS
from handler.graph.documents.operation import bare

FOR_CLIENTS = ("connection", "nonreactive", "unmask")
"""Directives of GraphQL clients, not sent unless the API defines one of that name."""

CONDITIONS = ("skip", "include")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sendable:
    """A document as the API gets it. ``unchanged``: it equals the author's, whose own text may be sent."""

    document: DocumentNode
    unchanged: bool
    optional_conditions: Mapping[str, frozenset[str]]  # operation -> nullable variables of its @skip and @include
    unsent: Mapping[str, frozenset[str]]  # operation -> variables that callers do not give: nothing sent needs them
    unused: tuple[Unused, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """A variable that an author's operation declares and never uses, which GraphQL rejects."""

    operation: str
    node: VariableDefinitionNode
    sentence: str  # of the warning

    @property
    def name(self) -> str:
        """Return the variable's name."""
        return self.node.variable.name.value


def sendable(
    document: DocumentNode, schema: GraphQLSchema | None, problems: Problems, *, known: bool = False
) -> Sendable:
    """Remove descriptions, which older servers reject, and directives of Stile, of clients and for partial responses.

    A variable that was used only in removed directives is removed, with a warning. An unused variable is removed too,
    unless the API accepts only ``known`` texts: then it stays in the text, and callers give it only if it is required.
    A nullable variable that is used only in ``@skip`` and ``@include`` gets the default ``false``, with a warning:
    GraphQL rejects nullable variables there, yet published operations have them. Nothing else is added.
    """
    own = bare(document, without_directives=ON_OPERATIONS)
    stripped = visit(own, _WithoutClientDirectives(schema, problems))
    before, after = separate_operations(own), separate_operations(stripped)
    used = {name: _uses(before[name]) for name in after}
    unsent = {name: _unsent(used[name], alone, problems) for name, alone in after.items()}
    unused = {name: _unused(used[name], alone) for name, alone in after.items()}
    optional = {name: _optional_conditions(alone) for name, alone in after.items()}
    _warn_of_nullable(_all(optional), problems)
    removed = [*_all(unsent), *([] if known else _all(unused))]
    changed = visit(stripped, _Declarations(removed=removed, defaulted=_all(optional)))
    not_taken = {
        name: [*unsent[name], *(node for node in unused[name] if not (known and _is_required(node)))] for name in after
    }
    return Sendable(
        document=changed,
        unchanged=print_ast(changed) == print_ast(document),
        optional_conditions=_names(optional),
        unsent=_names(not_taken),
        unused=tuple(
            Unused(operation=name, node=node, sentence=_becomes(node, known=known))
            for name, found in unused.items()
            for node in found
        ),
    )


Declared = Mapping[str, list[VariableDefinitionNode]]
"""Operation -> some of its variables."""


def _all(variables: Declared) -> list[VariableDefinitionNode]:
    return [node for found in variables.values() for node in found]


def _names(variables: Declared) -> dict[str, frozenset[str]]:
    return {name: frozenset(node.variable.name.value for node in found) for name, found in variables.items()}


def _unsent(used: _Uses, after: DocumentNode, problems: Problems) -> list[VariableDefinitionNode]:
    """Return the variables of one operation that were used only in removed directives, with a warning for each."""
    gone = used.directives.keys() - _uses(after).directives.keys()
    found = [node for node in _declared(after) if node.variable.name.value in gone]
    for node in found:
        name = node.variable.name.value
        directives = " and ".join(f"@{each}" for each in dict.fromkeys(used.directives[name]))
        problems.warn(
            node,
            f"${name} is not taken: only {directives} uses it, and that is not sent",
            code="unsent-variable",
            about=[f"${name}"],
        )
    return found


def _unused(used: _Uses, after: DocumentNode) -> list[VariableDefinitionNode]:
    """Return the variables of one operation that its author never uses."""
    return [node for node in _declared(after) if node.variable.name.value not in used.directives]


def _is_required(node: VariableDefinitionNode) -> bool:
    return isinstance(node.type, NonNullTypeNode) and node.default_value is None


def _becomes(node: VariableDefinitionNode, *, known: bool) -> str:
    name = node.variable.name.value
    if not known:
        return f"${name} is not taken: the operation does not use it, so it is not sent"
    if _is_required(node):
        return f"${name} is not used in the operation: it is asked for because the text that the API knows declares it"
    return f"${name} is not taken: the operation does not use it, and its text stays as the API knows it"


def _optional_conditions(document: DocumentNode) -> list[VariableDefinitionNode]:
    """Return the nullable variables without a default that one operation uses only in ``@skip`` and ``@include``."""
    nullable = [node for node in _declared(document) if _is_nullable_boolean(node) and not node.default_value]
    only = {name for name, directives in _uses(document).directives.items() if {*directives} <= {*CONDITIONS}}
    return [node for node in nullable if node.variable.name.value in only]


def _warn_of_nullable(conditions: Iterable[VariableDefinitionNode], problems: Problems) -> None:
    for node in conditions:
        name = node.variable.name.value
        problems.warn(
            node,
            f"${name} may be null, which @skip and @include reject: null is sent as false",
            code="nullable-condition",
            about=[f"${name}"],
        )


def _declared(document: DocumentNode) -> list[VariableDefinitionNode]:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return [node for operation in operations for node in operation.variable_definitions or ()]


def _is_nullable_boolean(node: VariableDefinitionNode) -> bool:
    return isinstance(node.type, NamedTypeNode) and node.type.name.value == "Boolean"


class _WithoutClientDirectives(Visitor):
    def __init__(self, schema: GraphQLSchema | None, problems: Problems) -> None:
        super().__init__()
        self._schema = schema
        self._problems = problems

    def enter_directive(self, node: DirectiveNode, *_: object) -> Any:
        name = node.name.value
        if name in FOR_PARTS:
            self._problems.warn(
                node, f"@{name} is not sent: a tool has one answer", code="unsent-directive", about=[f"@{name}"]
            )
            return REMOVE
        defined = self._schema and self._schema.get_directive(name)
        return REMOVE if name in FOR_CLIENTS and not defined else None


class _Declarations(Visitor):
    """Visitor that removes some variable definitions and gives others the default ``false``."""

    def __init__(
        self, *, removed: Sequence[VariableDefinitionNode], defaulted: Sequence[VariableDefinitionNode]
    ) -> None:
        super().__init__()
        self._removed = {id(node) for node in removed}
        self._defaulted = {id(node) for node in defaulted}

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: object) -> Any:
        if id(node) in self._removed:
            return REMOVE
        return replace(node, default_value=BooleanValueNode(value=False)) if id(node) in self._defaulted else None


def _uses(document: DocumentNode) -> _Uses:
    found = _Uses()
    visit(document, found)
    return found


class _Uses(Visitor):
    """Visitor that records the uses of variables."""

    def __init__(self) -> None:
        super().__init__()
        self.directives: dict[str, list[str]] = {}  # variable -> the directive of each use; "" outside directives
        self._directive = ""

    def enter_variable_definition(self, *_: object) -> Any:
        return False  # a definition is not a use

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self._directive = node.name.value

    def leave_directive(self, *_: object) -> None:
        self._directive = ""

    def enter_variable(self, node: VariableNode, *_: object) -> None:
        self.directives.setdefault(node.name.value, []).append(self._directive)
