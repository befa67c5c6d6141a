"""Fragments that files of operations take from each other.

An operation takes a fragment of its own file first, and then of the other files. The completed document has each
fragment once, so two fragments of one name that differ are an error in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    Node,
    OperationDefinitionNode,
    print_ast,
)

from handler.compiler.operations.used_coordinates import fragments_of, nodes_in
from handler.compiler.problems import Problems, place_of, shown

Fragments = Mapping[str, FragmentDefinitionNode]


def complete_documents(documents: Sequence[DocumentNode], problems: Problems) -> list[DocumentNode]:
    """Return the documents, each with the fragments that it takes and without those that only others take.

    A document without a change is returned as it is. The others have no place, so that they are printed anew.
    """
    homes = [fragments_of(document) for document in documents]
    triples = [
        (document, own, _Search(own=own, homes=homes, problems=problems).fragments_for(document))
        for document, own in zip(documents, homes, strict=True)
    ]
    lent = {id(node) for _, own, taken in triples for name, node in taken.items() if own.get(name) is not node}
    completed: list[DocumentNode] = []
    for document, own, taken in triples:
        needed = {id(node) for node in taken.values()}
        remaining = [node for node in document.definitions if id(node) not in lent or id(node) in needed]
        added = [node for name, node in taken.items() if own.get(name) is not node]
        is_whole = not added and len(remaining) == len(document.definitions)
        completed.append(document if is_whole else DocumentNode(definitions=(*remaining, *added)))
    return completed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """The search for the fragments of one document, in its ``own`` and in those of all documents."""

    own: Fragments
    homes: Sequence[Fragments]
    problems: Problems

    def fragments_for(self, document: DocumentNode) -> Fragments:
        """Return the fragments that the document's operations reach. Missing ones are left to validation."""
        fragments: dict[str, FragmentDefinitionNode] = {}
        operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        waiting = [(name, self.own) for node in operations for name in _spreads(node)]
        while waiting:
            name, user = waiting.pop()
            # The fragments of the file that uses it come first.
            homes = [user] if name in user else [each for each in self.homes if name in each]
            if homes:
                self._refuse_difference(home[name] for home in homes)
                node = homes[0][name]
                if name not in fragments:
                    fragments[name] = node
                    waiting += [(each, homes[0]) for each in _spreads(node)]
                self._refuse_difference((fragments[name], node))
        return fragments

    def _refuse_difference(self, fragments: Iterable[FragmentDefinitionNode]) -> None:
        first, *others = fragments
        for other in others:
            if other is not first and print_ast(other) != print_ast(first):
                sentence = f'a fragment "{first.name.value}" is also defined at {shown(place_of(first))}'
                self.problems.add(other, f"{sentence}, and an operation reaches both", code="duplicate-definition")


def _spreads(node: Node) -> list[str]:
    return list(dict.fromkeys(each.name.value for each in nodes_in(node) if isinstance(each, FragmentSpreadNode)))
