"""The inputs of a schema, and the types that are returned for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLSchema,
    get_named_type,
    get_nullable_type,
    is_list_type,
)

from handler.compiler.access.name_matching import is_operation, spellings, stems_in
from handler.compiler.schema.directives import executable_directives
from handler.compiler.schema.name_graph import handed_down
from handler.compiler.schema.visibility import schema_fields

STRUCTURAL = frozenset(("filterby", "orderby", "orderfield", "sortby", "sortfield", "sortkey"))
"""Names of inputs that only say that these choose: a ``sortKey`` does not sort by a field ``key``."""

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


NOTHING: frozenset[ReturnedType] = frozenset()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AskedTypes:
    """The answers that an input chooses from. Inputs of one type share one.

    ``near`` answers are chosen by their own fields, ``far`` ones perhaps by those of linked types.
    """

    near: frozenset[ReturnedType] = NOTHING
    far: frozenset[ReturnedType] = NOTHING
    data: frozenset[ReturnedType] = NOTHING  # of mutations that take the input as data and do not choose by it

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


def inputs_of(schema: GraphQLSchema) -> Iterator[InputMember]:
    """Yield every input of a schema with its answers."""
    types = _InputTypes(schema)
    own = _Answers({}, {}, {})
    write_roots = {schema.mutation_type, schema.subscription_type} - {schema.query_type, None}
    for type_, name, field in schema_fields(schema):
        listed = is_list_type(get_nullable_type(field.type))
        answer = ReturnedType(get_named_type(field.type).name, listed, written=type_ in write_roots)
        one = frozenset([answer])
        for argument, value in field.args.items():
            type_name = get_named_type(value.type).name
            chooses = not answer.written or types.choose(argument, type_name)
            kind = own.data if not chooses else own.near if keeps_rows(argument) else own.far
            kind.setdefault(type_name, set()).add(answer)
            asked_types = AskedTypes(near=one) if chooses else AskedTypes(data=one)
            yield types.member(f"{type_.name}.{name}({argument}:)", argument, asked_types, type_name)
    # A directive of the API may change any answer, so its arguments choose from all.
    everything = frozenset(ReturnedType(root.name) for root in (schema.query_type, schema.mutation_type) if root)
    asked_types = AskedTypes(far=everything)
    for directive in executable_directives(schema):
        for argument, value in directive.args.items():
            type_name = get_named_type(value.type).name
            own.far.setdefault(type_name, set()).update(everything)
            yield types.member(f"@{directive.name}({argument}:)", argument, asked_types, type_name)
    yield from types.members(own)


def keeps_rows(name: str) -> bool:
    """Return whether the inputs below an input of this name are about the same rows."""
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

    def member(self, coordinate: str, name: str, asked: AskedTypes, type_name: str) -> InputMember:
        """Return an input of a type."""
        steps = self._steps.get(type_name)
        compared = bool(steps) and all(is_operation(name) for name, _ in steps or ())
        return InputMember(coordinate, name, asked, leaf=steps is None, compared=compared)

    def choose(self, name: str, type_name: str) -> bool:
        """Return whether a mutation's input, by its name or its type's, chooses rows or their order."""
        if type_name not in self._chooses:
            type_, words = self._types[type_name], stems_in(type_name)
            chooses = isinstance(type_, GraphQLInputObjectType) and (
                not CHOOSING_TYPES.isdisjoint(words) or {"order", "by"} <= words
            )
            values = type_.values if isinstance(type_, GraphQLEnumType) else None
            sorts = values is not None and not ORDER_WORDS.isdisjoint(words.union(*map(stems_in, values)))
            self._chooses[type_name] = chooses or sorts
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
            asked_types = AskedTypes(
                near=near.get(type_name, NOTHING),
                far=linked.get(type_name, NOTHING),
                data=inherited.get(type_name, NOTHING),
            )
            type_ = self._types[type_name]
            values = type_.values if isinstance(type_, GraphQLEnumType) else ()
            for name, below in self._steps.get(type_name, [(name, type_name) for name in values]):
                yield self.member(f"{type_name}.{name}", name, asked_types, below)

    def _leading(self, passes: Callable[[str, str], bool]) -> dict[str, list[str]]:
        """Map each input object type to the types of its fields that ``passes`` accepts."""
        return {
            type_name: [below for name, below in steps if passes(name, below)]
            for type_name, steps in self._steps.items()
        }
