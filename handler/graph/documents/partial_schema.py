"""The schemas for validating documents: ordinary graphql-core schemas, each as small as possible.

Building the schema of a whole view takes a second for 1,600 types, and a document uses a dozen of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from graphql import (
    DirectiveLocation,
    DocumentNode,
    GraphQLArgument,
    GraphQLDefaultInput,
    GraphQLDirective,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    parse_const_value,
    specified_directives,
    specified_scalar_types,
)

from handler.bundle.tools import Limits
from handler.cold.records import record
from handler.graph.documents.search_fields import SEARCH_TYPES, TAKEN_TYPES, SearchableSchema
from handler.graph.documents.used_fields import COMPOSITE, Touched, touched_by
from handler.graph.index import InputValue
from handler.graph.view import View
from handler.lru import Lru

if TYPE_CHECKING:
    from handler.search.schema_search import SchemaSearch


MAX_SCHEMAS = 32
"""Schemas cached for one view; the least recently used goes first."""

MAX_DOCUMENTS = 32
MAX_KEPT_CHARS = 4_000
"""Number and length of valid documents cached for one view; longer ones are validated every time.

A model repeats a request with other variables, and validation is most of the cost of a call.
"""

COORDINATE_BYTES, CHARACTER_BYTES = 4_000, 80
"""Approximate memory of a schema for each of its coordinates (measured on GitHub's: 2,500 to 7,000), and of a document
for each of its characters."""


@record(frozen=True, slots=True)
class ValidDocument:
    """A document inside a view, the schema that validated it, and facts of the operations that callers have chosen."""

    document: DocumentNode
    schema: GraphQLSchema
    chosen: dict[str | None, Any] = field(default_factory=dict)  # by the name that a caller gives


class ViewSchemas:
    """The schemas of one view, for any number of documents. Their shared parts are made once."""

    def __init__(self, view: View, search: Callable[[], SchemaSearch] | None = None) -> None:
        self.view = view
        self.search = search or partial(_search_of, view)  # made with the first question
        self._inputs = InputTypes(view)
        self._held: Lru[Touched, GraphQLSchema] = Lru(most=MAX_SCHEMAS)
        self._valid: Lru[tuple[str, Limits], ValidDocument] = Lru(most=MAX_DOCUMENTS)
        self.cost_bytes = 0  # approximate memory of the cached schemas and documents
        self._lock = Lock()  # a schema must not have two types of one name

    def touched_by(self, document: DocumentNode) -> GraphQLSchema:
        """Return a schema that has the coordinates a document uses.

        With it, ``validate(hide_suggestions=True)`` returns the same errors as with the whole view.
        """
        touched = touched_by(document, self.view)
        with self._lock:
            schema = self._held.use(touched)
            if schema is None:
                schema = self._build(touched)
                self._held.put(touched, schema)
                self._count()
        return schema

    def find_valid(self, text: str, limits: Limits) -> ValidDocument | None:
        """Return the cached document of this text; ``None`` if there is none."""
        with self._lock:
            return self._valid.use((text, limits))

    def keep_valid(self, text: str, limits: Limits, valid: ValidDocument) -> None:
        """Cache a document that was found valid within limits."""
        if len(text) <= MAX_KEPT_CHARS:
            with self._lock:
                self._valid.put((text, limits), valid)
                self._count()

    def _count(self) -> None:
        """Count the memory again, after additions only: a call that finds everything in the cache pays nothing."""
        coordinates = sum(touched.coordinates for touched in self._held)
        characters = sum(len(text) for text, _ in self._valid)
        self.cost_bytes = COORDINATE_BYTES * coordinates + CHARACTER_BYTES * characters

    def _build(self, touched: Touched) -> GraphQLSchema:
        view = self.view
        fields: dict[str, dict[str, Mapping[str, InputValue]]] = {}
        for type_name, field_name in sorted(touched.fields):
            fields.setdefault(type_name, {})[field_name] = {
                name: argument
                for name, argument in view.arguments(type_name, field_name).items()
                if argument.required or (type_name, field_name, name) in touched.arguments
            }
        types = OutputTypes(view, self._inputs, fields)
        touched_types = touched.types | touched.parents
        visible = view.directives() if touched.directives else {}
        directives = [
            GraphQLDirective(
                name,
                [DirectiveLocation[location] for location in visible[name].on],
                {each: _argument(value, self._inputs) for each, value in visible[name].arguments.items()},
                is_repeatable=visible[name].repeatable,
            )
            for name in sorted(touched.directives)
        ]
        all_types = [types(name) for name in sorted(touched_types | self._compared_implementers(touched_types))]
        if touched.searches:  # a schema's own types of these names stay, against the specification
            all_types += [type_ for name, type_ in SEARCH_TYPES.items() if name not in view.members]
            all_types += TAKEN_TYPES

        def root(kind: str) -> GraphQLObjectType | None:
            name = view.index.roots.get(kind, "")
            type_ = types(name) if name in view.members else None
            return type_ if isinstance(type_, GraphQLObjectType) else None

        return SearchableSchema(
            query=root("query") or GraphQLObjectType(view.index.roots.get("query", "Query"), {}),
            mutation=root("mutation"),
            types=all_types,
            directives=[*directives, *specified_directives],
            assume_valid=True,
        )

    def _compared_implementers(self, names: Set[str]) -> set[str]:
        """Return the implementers of interfaces, which validation compares only if two abstract types meet."""
        abstract = [name for name in names if self.view.index.kind(name) in ("interface", "union")]
        if len(abstract) < 2:
            return set()
        implementers = self.view.index.implementers
        return {name for each in abstract for name in implementers.get(each, ()) if name in self.view.members}


def _search_of(view: View) -> SchemaSearch:
    from handler.search.schema_search import SchemaSearch

    return SchemaSearch(view)


TypeNamed = Callable[[str], GraphQLNamedType]


class InputTypes:
    """Input objects, enums and scalars of a view. They are complete, so all schemas of the view share them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._types: dict[str, GraphQLNamedType] = dict(specified_scalar_types)

    def __call__(self, name: str) -> GraphQLNamedType:
        if name not in self._types:
            entry, members = self._view.index[name], self._view.members[name]
            match entry.kind:
                case "input":
                    self._types[name] = GraphQLInputObjectType(
                        name,
                        lambda: {member: self._field(self._view.input_field(name, member)) for member in members},
                        is_one_of="@oneOf" in entry.directives,
                    )
                case "enum":
                    self._types[name] = GraphQLEnumType(name, {member: GraphQLEnumValue(member) for member in members})
                case _:
                    self._types[name] = GraphQLScalarType(name)
        return self._types[name]

    def _field(self, value: InputValue) -> GraphQLInputField:
        return GraphQLInputField(_wrapped(value.type, self), default=_default(value))


class OutputTypes:
    """Objects, interfaces and unions of a view with some of their fields: types of one schema.

    ``fields``: type -> the fields to make it with, and the arguments of each.
    """

    def __init__(
        self, view: View, inputs: InputTypes, fields: Mapping[str, Mapping[str, Mapping[str, InputValue]]]
    ) -> None:
        self._view = view
        self._inputs = inputs
        self._fields = fields
        self._types: dict[str, GraphQLNamedType] = {}

    def __call__(self, name: str) -> GraphQLNamedType:
        if name not in self._types:
            self._types[name] = self._make(name)
        return self._types[name]

    def _make(self, name: str) -> GraphQLNamedType:
        kind = self._view.index.kind(name)
        if kind not in COMPOSITE:
            return self._inputs(name)
        entry, members = self._view.index[name], self._view.members
        if kind == "union":
            return GraphQLUnionType(name, lambda: self._all(members[name]))
        return (GraphQLObjectType if kind == "object" else GraphQLInterfaceType)(
            name,
            lambda: {
                field: GraphQLField(
                    _wrapped(entry.fields[field].type, self),
                    {argument: _argument(value, self._inputs) for argument, value in arguments.items()},
                )
                for field, arguments in self._fields.get(name, {}).items()
            },
            interfaces=lambda: self._all(interface for interface in entry.interfaces if interface in members),
        )

    def _all(self, names: Iterable[str]) -> list[Any]:
        return [self(name) for name in names]


def _wrapped(type_text: str, type_named: TypeNamed) -> Any:
    if type_text.endswith("!"):
        return GraphQLNonNull(_wrapped(type_text[:-1], type_named))
    if type_text.startswith("["):
        return GraphQLList(_wrapped(type_text[1:-1], type_named))
    return type_named(type_text)


def _argument(value: InputValue, inputs: InputTypes) -> GraphQLArgument:
    return GraphQLArgument(_wrapped(value.type, inputs), default=_default(value))


def _default(value: InputValue) -> GraphQLDefaultInput | None:
    return GraphQLDefaultInput(literal=parse_const_value(value.default, no_location=True)) if value.default else None
