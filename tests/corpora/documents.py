"""From the texts of a program to documents of one operation each, as an author of tools would keep them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graphql import (
    ConstDirectiveNode,
    DocumentNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    NameNode,
    Node,
    OperationDefinitionNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

from tests.corpora.literals import Literal

TOOL = ConstDirectiveNode(name=NameNode(value="mcpTool"), arguments=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation as it was found, the function or constant it stood in, and the fragments it reaches."""

    node: OperationDefinitionNode
    place: str
    fragments: tuple[FragmentDefinitionNode, ...]

    @property
    def name(self) -> str:
        """Empty: it has none."""
        return self.node.name.value if self.node.name else ""

    def as_tool(self) -> str:
        """A document with nothing but this operation, which ``@mcpTool`` makes a tool."""
        node = replace(self.node, directives=(*(self.node.directives or ()), TOOL))
        return print_ast(DocumentNode(definitions=(node, *self.fragments))) + "\n"


def read_operations(literals: Iterable[Literal]) -> list[Operation]:
    """Every operation of a program. Fragments are found by name in all of its texts; the first of a name counts."""
    documents = [(literal.place, parse(literal.text)) for literal in literals]
    definitions = [(place, node) for place, document in documents for node in document.definitions]
    fragments: dict[str, FragmentDefinitionNode] = {}
    for _, node in definitions:
        if isinstance(node, FragmentDefinitionNode):
            fragments.setdefault(node.name.value, node)
    return [
        Operation(node=node, place=place, fragments=_reached(node, fragments))
        for place, node in definitions
        if isinstance(node, OperationDefinitionNode)
    ]


def uniquely_named(operations: Sequence[Operation]) -> list[Operation]:
    """The same operations, each with a name that no other one has: its own, or its place's, and a number."""
    counted: Counter[str] = Counter()
    named = []
    for operation in operations:
        name = operation.name or operation.place
        counted[name] += 1
        unique = name if counted[name] == 1 else f"{name}_{counted[name]}"
        named.append(replace(operation, node=replace(operation.node, name=NameNode(value=unique))))
    return named


def file_names(operations: Sequence[Operation]) -> list[str]:
    """A file for each operation, by its name or its place's. Those of one name sort as they were found."""
    return [f"{operation.name}.graphql" for operation in uniquely_named(operations)]


def _reached(node: Node, fragments: Mapping[str, FragmentDefinitionNode]) -> tuple[FragmentDefinitionNode, ...]:
    """The fragments that can be reached; one that nobody defines is left to validation."""
    found: dict[str, FragmentDefinitionNode] = {}
    waiting = [node]
    while waiting:
        for name in _spreads(waiting.pop()):
            if name in fragments and name not in found:
                found[name] = fragments[name]
                waiting.append(fragments[name])
    return tuple(found.values())


def _spreads(node: Node) -> list[str]:
    spreads = _Spreads()
    visit(node, spreads)
    return spreads.names


class _Spreads(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
        self.names.append(node.name.value)
