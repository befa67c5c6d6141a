"""The schemas that documents are judged against: ordinary ones of graphql-core, each as small as it may be.

Building the schema of a whole view takes a second where it has 1,600 types, and a document touches a dozen of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock

from graphql import DocumentNode, GraphQLNamedType, GraphQLObjectType, GraphQLSchema

from handler.graph.index import InputValue
from handler.graph.touched import Touched, touched_by
from handler.graph.types import InputTypes, OutputTypes, TypeNamed, text_of
from handler.graph.view import BUILT_IN_SCALARS, View

MAX_SCHEMAS = 32
"""Schemas held for one view; the one unused for longest goes first."""


class ViewSchemas:
    """The schemas of one view, for as many documents as ask for them. What they share is made once."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._inputs = InputTypes(view)
        self._held: OrderedDict[Touched, GraphQLSchema] = OrderedDict()
        self._lock = Lock()  # two types of one name in a schema would be two types

    def touched_by(self, document: DocumentNode) -> GraphQLSchema:
        """A schema that has what a document touches.

        With it, ``validate(hide_suggestions=True)`` says of the document what it would say with the whole view.
        """
        touched = touched_by(document, self.view)
        with self._lock:
            schema = self._held.pop(touched, None) or self._build(touched)
            self._held[touched] = schema
            if len(self._held) > MAX_SCHEMAS:
                self._held.popitem(last=False)
        return schema

    def whole(self) -> GraphQLSchema:
        """Everything in the view, with its descriptions. It is not kept: only questions for the schema need it."""
        with self._lock:
            types = OutputTypes(self.view, self._inputs, self._all_fields)
            return self._schema(types, [types(name) for name in self.view.members if name not in BUILT_IN_SCALARS])

    def _build(self, touched: Touched) -> GraphQLSchema:
        fields: dict[str, dict[str, Mapping[str, InputValue]]] = {}
        for type_name, field_name in sorted(touched.fields):
            arguments = self._given_or_required(touched, type_name, field_name)
            fields.setdefault(type_name, {})[field_name] = arguments
        types = OutputTypes(self.view, self._inputs, lambda name: fields.get(name, {}))
        names = sorted(touched.types | touched.parents | self._compared_implementers(touched))
        return self._schema(types, [types(name) for name in names])

    def _given_or_required(self, touched: Touched, type_name: str, field_name: str) -> dict[str, InputValue]:
        return {
            name: argument
            for name, argument in self.view.arguments(type_name, field_name).items()
            if argument.required or (type_name, field_name, name) in touched.arguments
        }

    def _compared_implementers(self, touched: Touched) -> set[str]:
        """The implementers of interfaces. Only where two abstract types meet is it asked which objects they share."""
        named = touched.types | touched.parents
        abstract = [name for name in named if self.view.index.kind(name) in ("interface", "union")]
        if len(abstract) < 2:
            return set()
        implementers = self.view.index.implementers
        return {name for each in abstract for name in implementers.get(each, ()) if name in self.view.members}

    def _all_fields(self, name: str) -> dict[str, Mapping[str, InputValue]]:
        return {field_name: self.view.arguments(name, field_name) for field_name in self.view.members[name]}

    def _schema(self, types: TypeNamed, named: list[GraphQLNamedType]) -> GraphQLSchema:
        def root(kind: str) -> GraphQLObjectType | None:
            name = self.view.index.roots.get(kind, "")
            made = types(name) if name in self.view.members else None
            return made if isinstance(made, GraphQLObjectType) else None

        return GraphQLSchema(
            query=root("query"),
            mutation=root("mutation"),
            types=named,
            description=text_of(self.view.index.description),
            assume_valid=True,
        )
