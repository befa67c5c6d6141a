"""Fragments that files of operations take from each other.

An operation takes a fragment of its own file first, and then of the other files. The completed document has each
fragment once, so two fragments of one name that differ are an error in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphql import (
    DefinitionNode,
    DocumentNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    Node,
    OperationDefinitionNode,
    Visitor,
    print_ast,
    visit,
)

from handler.compiler.problems import Problems, place_of, shown


def complete_documents(documents: Sequence[DocumentNode], problems: Problems) -> list[DocumentNode]:
    """Return the documents, each with the fragments that it takes and without those that only others take.

    A document without a change is returned as it is. The others have no place, so that they are printed anew.
    """
    homes = [_fragments(document) for document in documents]
    taken = [
        _Taking(own=own, homes=homes, problems=problems).all_of(document)
        for document, own in zip(documents, homes, strict=True)
    ]
    lent = {
        id(node)
        for own, found in zip(homes, taken, strict=True)
        for name, node in found.items()
        if own.get(name) is not node
    }
    return [
        _completed(document, own=own, taken=found, lent=lent)
        for document, own, found in zip(documents, homes, taken, strict=True)
    ]


Fragments = Mapping[str, FragmentDefinitionNode]


def _completed(document: DocumentNode, *, own: Fragments, taken: Fragments, lent: set[int]) -> DocumentNode:
    kept = [node for node in document.definitions if id(node) not in lent or taken.get(_name(node)) is node]
    added = [node for name, node in taken.items() if own.get(name) is not node]
    if not added and len(kept) == len(document.definitions):
        return document
    return DocumentNode(definitions=(*kept, *added))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taking:
    """The search for the fragments of one document, in its ``own`` and in those of all documents."""

    own: Fragments
    homes: Sequence[Fragments]
    problems: Problems

    def all_of(self, document: DocumentNode) -> Fragments:
        """Return the fragments that the document's operations reach. Missing ones are left to validation."""
        taken: dict[str, FragmentDefinitionNode] = {}
        operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        waiting = [(name, self.own) for node in operations for name in _spreads(node)]
        while waiting:
            name, home = waiting.pop()
            found = self._find(name, home)
            if found is None:
                continue
            node, its_home = found
            if name not in taken:
                taken[name] = node
                waiting += [(each, its_home) for each in _spreads(node)]
            else:
                self._refuse_difference(taken[name], [node])
        return taken

    def _find(self, name: str, home: Fragments) -> tuple[FragmentDefinitionNode, Fragments] | None:
        """Return a fragment with the fragments of its file: those of the file that uses it come first."""
        if name in home:
            return home[name], home
        found = [(each[name], each) for each in self.homes if name in each]
        if not found:
            return None
        self._refuse_difference(found[0][0], [node for node, _ in found[1:]])
        return found[0]

    def _refuse_difference(self, first: FragmentDefinitionNode, others: Iterable[FragmentDefinitionNode]) -> None:
        for other in others:
            if other is not first and print_ast(other) != print_ast(first):
                sentence = f'a fragment "{_name(first)}" is also defined at {shown(place_of(first))}'
                self.problems.add(other, f"{sentence}, and an operation reaches both", code="duplicate-definition")


def _fragments(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {_name(node): node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def _name(node: DefinitionNode) -> str:
    return node.name.value if isinstance(node, FragmentDefinitionNode) else ""


def _spreads(node: Node) -> Iterator[str]:
    finder = _Spreads()
    visit(node, finder)
    yield from finder.names


class _Spreads(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
        self.names[node.name.value] = None
