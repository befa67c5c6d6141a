"""What can be asked by inputs, and about which types."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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

from handler.compiler.executable_directives import executable_directives
from handler.compiler.naming import joined, mentions, singular
from handler.compiler.reach import handed_down, reachable, turned
from handler.compiler.visibility import FieldsType, fields_of

_OPERATORS = """
above after any asc at average avg before below between by contains count desc distinct ends eq equals every exists
first from ge greater gt gte has ieq ilike in is last le less like lower lt lte matches max maximum min minimum
ne neq nin no none not null of on only or order over range regex since some sort starts sum than to total
under until upper where with without
"""
OPERATORS = frozenset(map(singular, _OPERATORS.split()))
"""Words that say what is done with a field, and not which one it is."""


class Questions:
    """The arguments, input fields and enum values that fields other than mutations take, and what they ask about.

    An input asks about every type that can be reached from what the field returns.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self._above = _types_above(schema)
        self._below = turned(self._above)
        self._names = _Names(schema)
        self._reached: dict[str, set[str]] = {}  # type -> those that can be reached from it
        self._answers = dict(_questions(schema))  # input's coordinate -> types that are returned for it
        self._by_name: dict[str, list[str]] = {}  # input's name -> coordinates
        for coordinate in self._answers:
            self._by_name.setdefault(_last_name(coordinate), []).append(coordinate)

    def that_name(self, field: str, types: Collection[str]) -> Iterator[str]:
        """The coordinates whose name speaks of a (joined) field name and that ask about one of ``types``.

        ``repositoryId`` speaks of a repository's ``id`` and of no other type's, where the question leads to one.
        """
        named = {name: places for name in self._by_name if (places := list(mentions(name, field)))}
        leading = reachable(types, self._above) if named else set()
        for name, places in named.items():
            meanings = [self._names.others(before, field, after, types) for before, after in places]
            decided: dict[int, bool] = {}  # types of inputs share what is returned for them
            for coordinate in self._by_name[name]:
                answers = self._answers[coordinate]
                if id(answers) not in decided:
                    decided[id(answers)] = self._asks(answers & leading, meanings)
                if decided[id(answers)]:
                    yield coordinate

    def of_nothing_shown(self, field: str) -> Iterator[str]:
        """The coordinates whose name speaks of a (joined) field name, for which no type with such a field is returned.

        They may filter what is only counted, and nothing tells what that is.
        """
        having = reachable(self._names.having(field), self._above)
        for name, coordinates in self._by_name.items():
            if any(True for _ in mentions(name, field)):
                yield from (each for each in coordinates if self._answers[each].isdisjoint(having))

    def about(self, types: Collection[str]) -> list[str]:
        """The coordinates of all inputs that ask about one of ``types``."""
        leading = reachable(types, self._above)
        return [coordinate for coordinate, answers in self._answers.items() if not answers.isdisjoint(leading)]

    def _asks(self, answers: Collection[str], meanings: Sequence[set[str]]) -> bool:
        """Whether one of the meanings is the field itself. What a question does not lead to, it cannot mean."""
        if not all(meanings):
            return bool(answers)
        return any(meant.isdisjoint(self._met(answer)) for answer in answers for meant in meanings)

    def _met(self, answer: str) -> set[str]:
        if answer not in self._reached:
            self._reached[answer] = reachable([answer], self._below)
        return self._reached[answer]


class _Names:
    """What the words of an input's name may stand for beside one field."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._having: dict[str, set[str]] = {}  # a field's name -> the types that have it
        self._meant: dict[str, set[str]] = {}  # the name of a type, or of a field that returns it -> the type
        for type_, name, field in fields_of(schema):
            self._having.setdefault(joined(name), set()).add(type_.name)
            self._meant.setdefault(joined(name), set()).update(_possible(schema, get_named_type(field.type)))
            self._meant.setdefault(joined(type_.name), set()).update(_possible(schema, type_))

    def having(self, field: str) -> Collection[str]:
        """The types that have a field of a (joined) name."""
        return self._having.get(field, ())

    def others(self, before: Sequence[str], field: str, after: Sequence[str], types: Collection[str]) -> set[str]:
        """The types that the words around a field name instead of ``types``; none where nothing else is named.

        That is a field of what the words before it name, or a field with a longer name: ``databaseId`` is no ``id``.
        Words may name several things (``toOwner`` a field, ``Owner`` a type): one of ``types`` among them is enough.
        """
        others: list[set[str]] = []
        for skipped in range(len(before)):
            owners = self._meant.get("".join(before[skipped:]), set()) & self._having.get(field, set())
            if not owners.isdisjoint(types):
                return set()
            others += [owners] if owners and OPERATORS.isdisjoint(before[skipped:]) else []
        if others:
            return others[0]
        for start in range(len(before) + 1):
            for end in range(len(after), -1, -1):
                added = [*before[start:], *after[:end]]
                longer = self._having.get("".join([*before[start:], field, *after[:end]]), set())
                if added and longer and OPERATORS.isdisjoint(added):
                    return longer
        return set()


def _possible(schema: GraphQLSchema, type_: GraphQLNamedType) -> set[str]:
    members = _members(schema, type_) if isinstance(type_, GraphQLInterfaceType | GraphQLUnionType) else []
    return {type_.name, *(member.name for member in members)}


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


def _questions(schema: GraphQLSchema) -> Iterator[tuple[str, frozenset[str]]]:
    """The coordinate of each input, and the types that are returned for it: one set for all inputs of a type."""
    not_asked = {schema.mutation_type, schema.subscription_type} - {schema.query_type}
    taken: dict[str, set[str]] = {}
    for type_, name, field in fields_of(schema):
        answer = get_named_type(field.type).name
        for argument, value in field.args.items() if type_ not in not_asked else ():
            yield f"{type_.name}.{name}({argument}:)", frozenset({answer})
            taken.setdefault(get_named_type(value.type).name, set()).add(answer)
    # A directive may change any answer, that of a mutation too, so its arguments ask about everything.
    everything = frozenset(root.name for root in (schema.query_type, schema.mutation_type) if root)
    for directive in executable_directives(schema):
        for argument, value in directive.args.items():
            yield f"@{directive.name}({argument}:)", everything
            taken.setdefault(get_named_type(value.type).name, set()).update(everything)
    for type_name, answers in handed_down(taken, _inputs_below_each(schema)).items():
        members = coordinates_of_input(schema.type_map[type_name])
        yield from ((coordinate, answers) for coordinate in members)


def coordinates_of_input(type_: GraphQLNamedType) -> list[str]:
    """The fields of an input object type, or the values of an enum."""
    match type_:
        case GraphQLInputObjectType():
            return [f"{type_.name}.{name}" for name in type_.fields]
        case GraphQLEnumType():
            return [f"{type_.name}.{name}" for name in type_.values]
        case _:
            return []


def _inputs_below_each(schema: GraphQLSchema) -> dict[str, list[str]]:
    """Input object type -> the types of its fields."""
    return {
        type_.name: [get_named_type(value.type).name for value in type_.fields.values()]
        for type_ in schema.type_map.values()
        if isinstance(type_, GraphQLInputObjectType)
    }


def _last_name(coordinate: str) -> str:
    """The name of an argument, input field or enum value."""
    return coordinate.removesuffix(":)").rpartition("(")[2].rpartition(".")[2]


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
