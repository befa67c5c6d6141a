"""The schemas for validating documents: ordinary graphql-core schemas, each as small as possible.

Building the schema of a whole view takes a second for 1,600 types, and a document uses a dozen of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from graphql import DocumentNode, GraphQLNamedType, GraphQLObjectType, GraphQLSchema, specified_directives

from handler.bundle.operations import Limits
from handler.cold.records import record
from handler.graph.documents.search_fields import SEARCH_TYPES, TAKEN_TYPES, SearchableSchema
from handler.graph.documents.used_fields import Touched, touched_by
from handler.graph.index import Directive, InputValue
from handler.graph.view import View
from handler.lru import Lru

if TYPE_CHECKING:
    from handler.search.schema_search import SchemaSearch


from abc import ABC, abstractmethod
from typing import Any

from graphql import (
    DirectiveLocation,
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
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLUnionType,
    parse_const_value,
    specified_scalar_types,
)

from handler.graph.index import Field, TypeSlice

MAX_SCHEMAS = 32
"""Schemas cached for one view; the least recently used goes first."""

MAX_DOCUMENTS = 32
MAX_KEPT_CHARS = 4_000
"""Number and length of valid documents cached for one view; longer ones are validated every time.

A model repeats a request with other variables, and validation is most of the cost of a call.
"""

COORDINATE_BYTES = 4_000
"""Approximate memory of a schema for each of its coordinates, measured on GitHub's: 2,500 to 7,000."""

CHARACTER_BYTES = 80
"""Approximate memory of a document for each of its characters."""


@record(frozen=True, slots=True)
class ValidDocument:
    """A document inside a view, and the schema that validated it."""

    document: DocumentNode
    schema: GraphQLSchema


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
        fields: dict[str, dict[str, Mapping[str, InputValue]]] = {}
        for type_name, field_name in sorted(touched.fields):
            arguments = self._given_or_required(touched, type_name, field_name)
            fields.setdefault(type_name, {})[field_name] = arguments
        types = OutputTypes(self.view, self._inputs, lambda name: fields.get(name, {}))
        names = sorted(touched.types | touched.parents | self._compared_implementers(touched))
        visible = self.view.directives() if touched.directives else {}
        directives = {name: visible[name] for name in sorted(touched.directives)}
        named = [types(name) for name in names]
        if touched.searches:  # a schema's own types of these names stay, against the specification
            named += [type_ for name, type_ in SEARCH_TYPES.items() if name not in self.view.members]
            named += TAKEN_TYPES
        return self._schema(types, named, directives)

    def _given_or_required(self, touched: Touched, type_name: str, field_name: str) -> dict[str, InputValue]:
        return {
            name: argument
            for name, argument in self.view.arguments(type_name, field_name).items()
            if argument.required or (type_name, field_name, name) in touched.arguments
        }

    def _compared_implementers(self, touched: Touched) -> set[str]:
        """Return the implementers of interfaces, which validation compares only if two abstract types meet."""
        named = touched.types | touched.parents
        abstract = [name for name in named if self.view.index.kind(name) in ("interface", "union")]
        if len(abstract) < 2:
            return set()
        implementers = self.view.index.implementers
        return {name for each in abstract for name in implementers.get(each, ()) if name in self.view.members}

    def _schema(
        self, types: TypeNamed, named: list[GraphQLNamedType], directives: Mapping[str, Directive]
    ) -> GraphQLSchema:
        def root(kind: str) -> GraphQLObjectType | None:
            name = self.view.index.roots.get(kind, "")
            made = types(name) if name in self.view.members else None
            return made if isinstance(made, GraphQLObjectType) else None

        return SearchableSchema(
            query=root("query") or GraphQLObjectType(self.view.index.roots.get("query", "Query"), {}),
            mutation=root("mutation"),
            types=named,
            directives=[*(make_directive(*each, self._inputs) for each in directives.items()), *specified_directives],
            assume_valid=True,
        )


def _search_of(view: View) -> SchemaSearch:
    from handler.search.schema_search import SchemaSearch

    return SchemaSearch(view)


FieldsOf = Callable[[str], Mapping[str, Mapping[str, InputValue]]]
"""Type -> the fields to make it with, and the arguments of each."""

TypeNamed = Callable[[str], GraphQLNamedType]


class _Types(ABC):
    """Types of a view by name, each made once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._made: dict[str, GraphQLNamedType] = {}

    def __call__(self, name: str) -> GraphQLNamedType:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    @abstractmethod
    def _make(self, name: str) -> GraphQLNamedType: ...


class InputTypes(_Types):
    """Input objects, enums and scalars of a view. They are complete, so all schemas of the view share them."""

    def _make(self, name: str) -> GraphQLNamedType:
        if name in specified_scalar_types:
            return specified_scalar_types[name]
        entry, members = self._view.index[name], self._view.members[name]
        match entry.kind:
            case "input":
                return GraphQLInputObjectType(
                    name,
                    lambda: {member: self._field(entry.inputs[member]) for member in members},
                    is_one_of="@oneOf" in entry.directives,
                )
            case "enum":
                return GraphQLEnumType(name, {member: GraphQLEnumValue(member) for member in members})
            case _:
                return GraphQLScalarType(name)

    def _field(self, value: InputValue) -> GraphQLInputField:
        return GraphQLInputField(
            _wrapped(value.type, self),
            default=_default(value),
        )


class OutputTypes(_Types):
    """Objects, interfaces and unions of a view with some of their fields: types of one schema."""

    def __init__(self, view: View, inputs: InputTypes, fields_of: FieldsOf) -> None:
        super().__init__(view)
        self._inputs = inputs
        self._fields_of = fields_of

    def _make(self, name: str) -> GraphQLNamedType:
        kind = self._view.index.kind(name)
        if kind not in ("object", "interface", "union"):
            return self._inputs(name)
        entry = self._view.index[name]
        if kind == "union":
            members = self._view.members[name]
            return GraphQLUnionType(name, lambda: self._all(members))
        made = GraphQLObjectType if kind == "object" else GraphQLInterfaceType
        return made(
            name,
            lambda: self._fields(name, entry),
            interfaces=lambda: self._all(
                interface for interface in entry.interfaces if interface in self._view.members
            ),
        )

    def _all(self, names: Any) -> list[Any]:
        return [self(name) for name in names]

    def _fields(self, name: str, entry: TypeSlice) -> dict[str, GraphQLField]:
        return {
            field_name: self._field(entry.fields[field_name], arguments)
            for field_name, arguments in self._fields_of(name).items()
        }

    def _field(self, field: Field, arguments: Mapping[str, InputValue]) -> GraphQLField:
        return GraphQLField(
            _wrapped(field.type, self),
            {name: _argument(argument, self._inputs) for name, argument in arguments.items()},
        )


def make_directive(name: str, directive: Directive, inputs: InputTypes) -> GraphQLDirective:
    """Return a directive that a request may carry, with the input types of the view."""
    return GraphQLDirective(
        name,
        [DirectiveLocation[location] for location in directive.on],
        {argument: _argument(value, inputs) for argument, value in directive.arguments.items()},
        is_repeatable=directive.repeatable,
    )


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
