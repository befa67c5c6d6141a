"""List the inputs of a schema with the types returned for them, and the rows whose own fields an input may mention."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
)

from handler.compiler.access.name_matching import Mention, Word, is_operation, spellings, words_in
from handler.compiler.schema.directives import executable_directives
from handler.compiler.schema.name_graph import handed_down
from handler.compiler.schema.visibility import FieldsType, fields_of, types_with_fields

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
        """Return whether an input that mentions a field means one that all rows of an answer have unguarded.

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
        """Return whether some row without an ``id`` has a list below it that leads to a guarded type."""
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
        """Return whether a link of a row has a name that filters use themselves: ``field`` may lead to another row."""
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
    """Return whether some word compares or sorts."""
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
    return paged if any(_lists(type_, name) for name, _ in links(type_)) else None


def _behind(type_: FieldsType, name: str, target: GraphQLNamedType) -> list[GraphQLNamedType]:
    """Return the target of a page's link: the ``node`` of an edge, or nothing if it ends there, as ``PageInfo``."""
    further = dict(links(target)) if isinstance(target, GraphQLObjectType) else {}
    if "node" in further:
        return list(further.values())
    return [target] if further or _lists(type_, name) or not isinstance(target, GraphQLObjectType) else []


def links(type_: FieldsType) -> list[tuple[str, GraphQLNamedType]]:
    """List the fields of a type that lead to other types, with these types."""
    pairs = ((name, get_named_type(field.type)) for name, field in type_.fields.items())
    return [(name, target) for name, target in pairs if is_composite_type(target)]


def listed_links(schema: GraphQLSchema) -> dict[str, list[str]]:
    """Map each type to the types that it has lists of."""
    return {
        type_.name: [target.name for name, target in links(type_) if _lists(type_, name)]
        for type_ in types_with_fields(schema)
    }


def _lists(type_: FieldsType, name: str) -> bool:
    type_of_field = type_.fields[name].type
    return is_list_type(type_of_field.of_type if is_non_null_type(type_of_field) else type_of_field)


STRUCTURAL = frozenset(("filterby", "orderby", "orderfield", "sortby", "sortfield", "sortkey"))
"""Names of inputs that do not name a field: a ``sortKey`` does not sort by a field ``key``."""

CHOOSING = STRUCTURAL | {"condition", "criterion", "filter", "having", "match", "ordering", "sort", "where"}
"""Names of inputs that choose rows, or their order."""

KEEPING = CHOOSING | frozenset(("and", "or", "not", "nor", "all", "any", "field", "input", "option"))
"""Names of inputs whose own inputs are about the same rows. Other names may lead to linked rows."""

CHOOSING_TYPES = frozenset(("where", "filter", "condition", "criterion", "having", "sort"))
"""Words in the names of input object types that choose rows. ``order`` is missing: ``OrderInput`` may be a purchase."""

ORDER_WORDS = frozenset(("asc", "desc", "order", "ordering", "sort"))
"""Words in the names or values of enums that put rows in order."""


class ReturnedType(NamedTuple):
    """A type that a field returns: one or a list, from a query or a mutation."""

    type: str
    listed: bool = False
    written: bool = False  # by a mutation


@dataclass(frozen=True, slots=True, eq=False)
class AskedTypes:
    """The answers that an input chooses from. Inputs of one type share one.

    ``near`` answers are chosen by their own fields, ``far`` ones perhaps by those of linked types.
    """

    near: frozenset[ReturnedType]
    far: frozenset[ReturnedType]
    data: frozenset[ReturnedType] = frozenset()  # of mutations that take the input as data and do not choose by it

    def chosen(self) -> Iterator[ReturnedType]:
        """The answers that the input chooses from."""
        yield from self.near
        yield from self.far


class InputMember(NamedTuple):
    """An argument, input field or enum value."""

    coordinate: str
    name: str
    asked: AskedTypes
    leaf: bool  # takes a scalar or an enum
    compared: bool = False  # takes an object of operators, as ``{gt: 5}``


NOTHING: frozenset[ReturnedType] = frozenset()


def inputs_of(schema: GraphQLSchema) -> Iterator[InputMember]:
    """Yield every input of a schema with its answers."""
    types = _InputTypes(schema)
    own = _Answers({}, {}, {})
    write_roots = {schema.mutation_type, schema.subscription_type} - {schema.query_type, None}
    for type_, name, field in fields_of(schema):
        answer = ReturnedType(
            get_named_type(field.type).name, listed=_is_list(field.type), written=type_ in write_roots
        )
        one = frozenset([answer])
        for argument, value in field.args.items():
            type_name = get_named_type(value.type).name
            chooses = not answer.written or types.choose(argument, type_name)
            kind = own.data if not chooses else own.near if keeps_rows(argument) else own.far
            kind.setdefault(type_name, set()).add(answer)
            asked_types = (
                AskedTypes(near=one, far=NOTHING) if chooses else AskedTypes(near=NOTHING, far=NOTHING, data=one)
            )
            yield InputMember(
                f"{type_.name}.{name}({argument}:)",
                argument,
                asked_types,
                types.is_leaf(type_name),
                types.compares(type_name),
            )
    yield from _taken_by_directives(schema, types, own)
    yield from types.members(own)


def _taken_by_directives(schema: GraphQLSchema, types: _InputTypes, own: _Answers) -> Iterator[InputMember]:
    """Yield the arguments of the API's directives. A directive may change any answer, so they choose from all."""
    everything = frozenset(ReturnedType(root.name) for root in (schema.query_type, schema.mutation_type) if root)
    asked_types = AskedTypes(near=NOTHING, far=everything)
    for directive in executable_directives(schema):
        for argument, value in directive.args.items():
            type_name = get_named_type(value.type).name
            own.far.setdefault(type_name, set()).update(everything)
            place = f"@{directive.name}({argument}:)"
            yield InputMember(place, argument, asked_types, types.is_leaf(type_name), types.compares(type_name))


def is_structural(name: str) -> bool:
    """Return whether an input's name only says that it chooses, such as ``orderBy``."""
    return not STRUCTURAL.isdisjoint(spellings(name))


def keeps_rows(name: str) -> bool:
    """Tell, by an input's name, if the inputs below it are about the same rows."""
    return not KEEPING.isdisjoint(spellings(name))


class _Answers(NamedTuple):
    """Type of inputs -> the answers for it, by the use of the inputs."""

    near: dict[str, set[ReturnedType]]
    far: dict[str, set[ReturnedType]]
    data: dict[str, set[ReturnedType]]


class _InputTypes:
    """The input object types and enums of a schema, and how answers are handed down among them."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._types = schema.type_map
        self._steps = {
            type_.name: [(name, get_named_type(value.type).name) for name, value in type_.fields.items()]
            for type_ in self._types.values()
            if isinstance(type_, GraphQLInputObjectType)
        }
        self._chooses: dict[str, bool] = {}

    def is_leaf(self, type_name: str) -> bool:
        return type_name not in self._steps

    def compares(self, type_name: str) -> bool:
        """Return whether all fields of a type are operators."""
        return bool(self._steps.get(type_name)) and all(is_operation(name) for name, _ in self._steps[type_name])

    def choose(self, name: str, type_name: str) -> bool:
        """Tell, by the name of a mutation's input or of its type, if the input chooses rows or their order."""
        if type_name not in self._chooses:
            self._chooses[type_name] = _chooses_rows(self._types[type_name])
        return self._chooses[type_name] or not CHOOSING.isdisjoint(spellings(name))

    def members(self, own: _Answers) -> Iterator[InputMember]:
        """Yield every input field and enum value that a caller can give."""
        inherited = handed_down(own.data, self._leading(lambda name, below: not self.choose(name, below)))
        near = handed_down(own.near, self._leading(lambda name, _: keeps_rows(name)))
        far = {name: set(answers) for name, answers in own.far.items()}
        for answers, passes in ((near, lambda name, _: not keeps_rows(name)), (inherited, self.choose)):
            for type_name, leading in self._leading(passes).items():
                for below in leading if type_name in answers else ():
                    far.setdefault(below, set()).update(answers[type_name])
        linked = handed_down(far, self._leading(lambda *_: True))
        for type_name in near.keys() | linked.keys() | inherited.keys():
            asked_types = AskedTypes(*(answers.get(type_name, NOTHING) for answers in (near, linked, inherited)))
            for name, input_type in self._members(type_name):
                yield InputMember(
                    f"{type_name}.{name}", name, asked_types, self.is_leaf(input_type), self.compares(input_type)
                )

    def _members(self, type_name: str) -> Iterable[tuple[str, str]]:
        match self._types[type_name]:
            case GraphQLInputObjectType():
                return self._steps[type_name]
            case GraphQLEnumType() as enum:
                return [(name, type_name) for name in enum.values]
            case _:
                return []

    def _leading(self, passes: Callable[[str, str], bool]) -> dict[str, list[str]]:
        """Map each input object type to the types of its fields that ``passes`` accepts."""
        return {
            type_name: [below for name, below in steps if passes(name, below)]
            for type_name, steps in self._steps.items()
        }


def _chooses_rows(type_: GraphQLNamedType) -> bool:
    words = words_in(type_.name)
    match type_:
        case GraphQLInputObjectType():
            return not CHOOSING_TYPES.isdisjoint(words) or {"order", "by"} <= words
        case GraphQLEnumType():
            return not ORDER_WORDS.isdisjoint(words.union(*map(words_in, type_.values)))
        case _:
            return False


def _is_list(type_: object) -> bool:
    return isinstance(type_.of_type if isinstance(type_, GraphQLNonNull) else type_, GraphQLList)
