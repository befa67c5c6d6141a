"""List the inputs of a schema, and the types that are returned for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLSchema,
    get_named_type,
)

from handler.compiler.access.name_matching import is_operation, spellings, words_in
from handler.compiler.schema.executable_directives import executable_directives
from handler.compiler.schema.name_graph import handed_down
from handler.compiler.schema.visibility import fields_of

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
    written = {schema.mutation_type, schema.subscription_type} - {schema.query_type, None}
    for type_, name, field in fields_of(schema):
        answer = ReturnedType(get_named_type(field.type).name, listed=_is_list(field.type), written=type_ in written)
        one = frozenset([answer])
        for argument, value in field.args.items():
            taken = get_named_type(value.type).name
            chooses = not answer.written or types.choose(argument, taken)
            kind = own.data if not chooses else own.near if keeps_rows(argument) else own.far
            kind.setdefault(taken, set()).add(answer)
            asked = AskedTypes(near=one, far=NOTHING) if chooses else AskedTypes(near=NOTHING, far=NOTHING, data=one)
            yield InputMember(
                f"{type_.name}.{name}({argument}:)", argument, asked, types.is_leaf(taken), types.compares(taken)
            )
    yield from _taken_by_directives(schema, types, own)
    yield from types.members(own)


def _taken_by_directives(schema: GraphQLSchema, types: _InputTypes, own: _Answers) -> Iterator[InputMember]:
    """Yield the arguments of the API's directives. A directive may change any answer, so they choose from all."""
    everything = frozenset(ReturnedType(root.name) for root in (schema.query_type, schema.mutation_type) if root)
    asked = AskedTypes(near=NOTHING, far=everything)
    for directive in executable_directives(schema):
        for argument, value in directive.args.items():
            taken = get_named_type(value.type).name
            own.far.setdefault(taken, set()).update(everything)
            place = f"@{directive.name}({argument}:)"
            yield InputMember(place, argument, asked, types.is_leaf(taken), types.compares(taken))


def is_structural(name: str) -> bool:
    """Tell if an input's name only says that it chooses, such as ``orderBy``."""
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
        """Tell if all fields of a type are operators."""
        return bool(self._steps.get(type_name)) and all(is_operation(name) for name, _ in self._steps[type_name])

    def choose(self, name: str, type_name: str) -> bool:
        """Tell, by the name of a mutation's input or of its type, if the input chooses rows or their order."""
        if type_name not in self._chooses:
            self._chooses[type_name] = _chooses_rows(self._types[type_name])
        return self._chooses[type_name] or not CHOOSING.isdisjoint(spellings(name))

    def members(self, own: _Answers) -> Iterator[InputMember]:
        """Yield every input field and enum value that a caller can give."""
        given = handed_down(own.data, self._leading(lambda name, below: not self.choose(name, below)))
        near = handed_down(own.near, self._leading(lambda name, _: keeps_rows(name)))
        far = {name: set(answers) for name, answers in own.far.items()}
        for answers, passes in ((near, lambda name, _: not keeps_rows(name)), (given, self.choose)):
            for type_name, leading in self._leading(passes).items():
                for below in leading if type_name in answers else ():
                    far.setdefault(below, set()).update(answers[type_name])
        linked = handed_down(far, self._leading(lambda *_: True))
        for type_name in near.keys() | linked.keys() | given.keys():
            asked = AskedTypes(*(answers.get(type_name, NOTHING) for answers in (near, linked, given)))
            for name, taken in self._members(type_name):
                yield InputMember(f"{type_name}.{name}", name, asked, self.is_leaf(taken), self.compares(taken))

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
