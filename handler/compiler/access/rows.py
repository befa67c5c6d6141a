"""Find the rows that a field returns, and tell if they have a field of their own that an input may mention."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from graphql import (
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
)

from handler.compiler.access.input_returns import InputMember, ReturnedType, keeps_rows
from handler.compiler.access.name_matching import Mention, Word, spellings
from handler.compiler.schema.visibility import FieldsType, types_with_fields

_COMPARING = """
above after asc before below between contain contains desc end ends eq equal equals ge greater gt gte ieq ilike in le
less like lower lt lte match matches max maximum min minimum ne neq nin not over prefix range regex start starts suffix
under upper
"""
COMPARING = frozenset(_COMPARING.split())
"""Words in the names of inputs that compare or sort."""

BESIDE_OWN = (COMPARING - {"max", "maximum", "min", "minimum"}) | {"by", "of", "where", "order", "is", "null", "nil"}
"""Words beside a field's name that leave it the row's own. Words of aggregates may be about many rows."""


class Guarded(NamedTuple):
    """A guarded field: its name, the types it is guarded on, the types that lead to these, and any type's reach."""

    field: str
    types: Collection[str]
    leading: frozenset[str]
    met: Callable[[str], AbstractSet[str]]


class Rows:
    """The rows behind the types of one schema."""

    def __init__(self, schema: GraphQLSchema, inputs: Iterable[str]) -> None:
        """``inputs`` are the names of all arguments and input fields."""
        self._schema = schema
        self._keeping = frozenset().union(*(spellings(name) for name in inputs if keeps_rows(name)))
        self._roots = {schema.query_type, schema.mutation_type, schema.subscription_type}
        self._lists = listed_links(schema)
        self._behind: dict[str, tuple[list[FieldsType], bool]] = {}
        self._fields: dict[str, frozenset[str]] = {}
        self._linked_alike: dict[str, bool] = {}

    def speak_of_own(self, answer: ReturnedType, taken: InputMember, mention: Mention, guarded: Guarded) -> bool:
        """Tell if an input that mentions a field means one that all rows of an answer have unguarded.

        Rows of a list or page are compared by their own fields. A single object is looked up by a value: a comparison
        there may be about the rows below it, and so may any input if the object may be a page of other rows.
        """
        around = [*mention.before, *mention.after]
        rows, paged = self._rows(answer.type)
        if not rows or not all(BESIDE_OWN.intersection(word) for word in around):
            return False
        if not (answer.listed or paged or (taken.leaf and not compares(around) and not self._may_hold(rows, guarded))):
            return False
        if "(" not in taken.coordinate and any(self._has_misleading_link(row) for row in rows):
            return False
        return all(row.name not in guarded.types and self._has(row, guarded.field) for row in rows)

    def _may_hold(self, rows: Sequence[FieldsType], guarded: Guarded) -> bool:
        """Tell if some row without an ``id`` has a list below it that leads to a guarded type."""
        return any(
            not guarded.leading.isdisjoint(self._lists.get(below, ()))
            for row in rows
            if "id" not in row.fields
            for below in guarded.met(row.name)
        )

    def _has(self, row: FieldsType, field: str) -> bool:
        if row.name not in self._fields:
            self._fields[row.name] = frozenset(spelling for name in row.fields for spelling in spellings(name))
        return not self._fields[row.name].isdisjoint(spellings(field))

    def _has_misleading_link(self, row: FieldsType) -> bool:
        """Tell if a link of a row has a name that filters use themselves: ``field`` may lead to another row."""
        if row.name not in self._linked_alike:
            self._linked_alike[row.name] = not all(self._keeping.isdisjoint(spellings(name)) for name, _ in links(row))
        return self._linked_alike[row.name]

    def _rows(self, type_name: str) -> tuple[list[FieldsType], bool]:
        """Return the types of rows, interfaces with their implementers, and true if a page holds them."""
        if type_name not in self._behind:
            type_ = self._schema.type_map[type_name]
            paged = rows_on(type_) if type_ not in self._roots else None
            rows = list(self._possible(paged or type_))
            self._behind[type_name] = (rows if self._roots.isdisjoint(rows) else [], paged is not None)
        return self._behind[type_name]

    def _possible(self, type_: GraphQLNamedType) -> Iterator[FieldsType]:
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
            yield type_
        if isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
            yield from members_of_abstract(self._schema, type_)


def members_of_abstract(schema: GraphQLSchema, abstract: GraphQLInterfaceType | GraphQLUnionType) -> list[FieldsType]:
    """Return the members of a union, or the objects and interfaces that implement an interface."""
    if isinstance(abstract, GraphQLUnionType):
        return list(abstract.types)
    implementations = schema.get_implementations(abstract)
    return [*implementations.objects, *implementations.interfaces]


def compares(words: Collection[Word]) -> bool:
    """Tell if some word compares or sorts."""
    return any(COMPARING.intersection(word) for word in words)


def rows_on(type_: GraphQLNamedType) -> GraphQLNamedType | None:
    """Return the type of the rows on a page; ``None`` if a type is not a page.

    A page has a list but not an ``id``, and all its links lead to one type, directly or by way of edges. Beside a
    ``pageInfo``, only the links ``edges``, ``nodes`` and ``items`` count.
    """
    if not isinstance(type_, GraphQLObjectType) or "id" in type_.fields:
        return None
    holding = [
        each for each in links(type_) if "pageInfo" not in type_.fields or each[0] in ("edges", "nodes", "items")
    ]
    targets = {row for name, target in holding for row in _behind(type_, name, target)}
    paged = targets.pop() if len(targets) == 1 else None
    return paged if any(_is_list(type_, name) for name, _ in links(type_)) else None


def _behind(type_: FieldsType, name: str, target: GraphQLNamedType) -> list[GraphQLNamedType]:
    """Return the target of a page's link: the ``node`` of an edge, or nothing if it ends there, as ``PageInfo``."""
    further = dict(links(target)) if isinstance(target, GraphQLObjectType) else {}
    if "node" in further:
        return list(further.values())
    return [target] if further or _is_list(type_, name) or not isinstance(target, GraphQLObjectType) else []


def links(type_: FieldsType) -> list[tuple[str, GraphQLNamedType]]:
    """List the fields of a type that lead to other types, with these types."""
    found = ((name, get_named_type(field.type)) for name, field in type_.fields.items())
    return [(name, target) for name, target in found if is_composite_type(target)]


def listed_links(schema: GraphQLSchema) -> dict[str, list[str]]:
    """Map each type to the types that it has lists of."""
    return {
        type_.name: [target.name for name, target in links(type_) if _is_list(type_, name)]
        for type_ in types_with_fields(schema)
    }


def _is_list(type_: FieldsType, name: str) -> bool:
    made = type_.fields[name].type
    return is_list_type(made.of_type if is_non_null_type(made) else made)
