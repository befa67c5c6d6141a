"""What can be asked by inputs, and about which types."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
)

from handler.compiler.naming import speaks_of
from handler.compiler.visibility import FieldsType, fields_of

Graph = Mapping[str, Collection[str]]


class Questions:
    """The arguments, input fields and enum values that fields other than mutations take, and what they ask about.

    An input asks about every type that can be reached from what the field returns.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self._above = _types_above(schema)
        self._answers: dict[str, set[str]] = {}  # input's coordinate -> types that are returned for it
        self._by_name: dict[str, list[str]] = {}  # input's name -> coordinates
        for name, coordinate, answer in _questions(schema):
            if coordinate not in self._answers:
                self._by_name.setdefault(name, []).append(coordinate)
            self._answers.setdefault(coordinate, set()).add(answer)

    def that_name(self, field: str, types: Collection[str]) -> Iterator[str]:
        """The coordinates whose name speaks of a (joined) field name and that ask about one of ``types``."""
        names = [name for name in self._by_name if speaks_of(name, field)]
        leading = reachable(types, self._above) if names else set()
        for coordinate in (coordinate for name in names for coordinate in self._by_name[name]):
            if not self._answers[coordinate].isdisjoint(leading):
                yield coordinate

    def about(self, types: Collection[str]) -> list[str]:
        """The coordinates of all inputs that ask about one of ``types``."""
        leading = reachable(types, self._above)
        return [coordinate for coordinate, answers in self._answers.items() if not answers.isdisjoint(leading)]


def reachable(start: Collection[str], graph: Graph) -> set[str]:
    """``start`` and everything that the graph leads to from there."""
    found = set(start)
    waiting = list(start)
    while waiting:
        for name in graph.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def inputs_below(type_: Any) -> Iterator[tuple[str, str, GraphQLNamedType]]:
    """Name, coordinate and type of every input field and enum value that a value of a type can hold."""
    seen = {get_named_type(type_)}
    waiting = list(seen)
    while waiting:
        match waiting.pop():
            case GraphQLInputObjectType() as taken:
                for name, value in taken.fields.items():
                    inner = get_named_type(value.type)
                    yield name, f"{taken.name}.{name}", inner
                    if inner not in seen:
                        seen.add(inner)
                        waiting.append(inner)
            case GraphQLEnumType() as taken:
                yield from ((name, f"{taken.name}.{name}", taken) for name in taken.values)


def _questions(schema: GraphQLSchema) -> Iterator[tuple[str, str, str]]:
    """Name and coordinate of each input, and the type that is returned for it."""
    not_asked = {schema.mutation_type, schema.subscription_type} - {schema.query_type}
    taken: dict[str, set[str]] = {}
    for type_, name, field in fields_of(schema):
        for argument, value in field.args.items() if type_ not in not_asked else ():
            answer = get_named_type(field.type).name
            yield argument, f"{type_.name}.{name}({argument}:)", answer
            taken.setdefault(get_named_type(value.type).name, set()).add(answer)
    for taken_name, answers in taken.items():
        for name, coordinate, _ in inputs_below(schema.type_map[taken_name]):
            yield from ((name, coordinate, answer) for answer in answers)


def _types_above(schema: GraphQLSchema) -> dict[str, set[str]]:
    """Type -> the types that lead to it in one step of a selection."""
    above: dict[str, set[str]] = {}
    for type_, _, field in fields_of(schema):
        above.setdefault(get_named_type(field.type).name, set()).add(type_.name)
    for abstract in schema.type_map.values():
        if isinstance(abstract, GraphQLInterfaceType | GraphQLUnionType):
            for member in _members(schema, abstract):
                above.setdefault(member.name, set()).add(abstract.name)
    return above


def _members(schema: GraphQLSchema, abstract: GraphQLInterfaceType | GraphQLUnionType) -> list[FieldsType]:
    if isinstance(abstract, GraphQLUnionType):
        return list(abstract.types)
    implementations = schema.get_implementations(abstract)
    return [*implementations.objects, *implementations.interfaces]
