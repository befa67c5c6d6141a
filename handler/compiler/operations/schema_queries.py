"""Operations that ask the API for its schema."""

from __future__ import annotations

from graphql import BREAK, DocumentNode, FieldNode, Visitor, visit

INTROSPECTION = ("__schema", "__type", "__search", "__definitions")


def asked_of_the_schema(document: DocumentNode) -> str:
    """Return a document's field of ``INTROSPECTION``, which reveals hidden coordinates; empty string if it has none."""
    finder = _Finder()
    visit(document, finder)
    return finder.found


class _Finder(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.found = ""

    def enter_field(self, node: FieldNode, *_: object) -> object:
        if node.name.value in INTROSPECTION:
            self.found = node.name.value
            return BREAK
        return None
