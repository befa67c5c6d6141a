"""Random documents for a schema, most of them with something wrong: names, kinds, arguments, values, fragments.

They follow the schema by chance and leave it by chance, so that the parts behind a mistake are mostly sound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    get_named_type,
    is_composite_type,
    is_input_type,
    is_interface_type,
    is_list_type,
    is_non_null_type,
    is_specified_directive,
    is_union_type,
)

WRONG_VALUES = (
    "1",
    '"x"',
    "true",
    "null",
    "1.5",
    "NOTHING",
    "[]",
    "{}",
    "{nothing: 1}",
    "[1, {a: null}]",
    "$v0",
    "$none",
)


def random_document(schema: GraphQLSchema, random: Random, *, mistakes: float) -> str:
    """A document whose parts are wrong with the probability ``mistakes`` each."""
    return _Writer(schema, random, mistakes).document()


class _Writer:
    def __init__(self, schema: GraphQLSchema, random: Random, mistakes: float) -> None:
        self._schema = schema
        self._random = random
        self._mistakes = mistakes
        self._types = [type_ for name, type_ in schema.type_map.items() if not name.startswith("__")]
        self._fields = sorted({name for type_ in self._types for name in getattr(type_, "fields", {})})
        self._directives = [one for one in schema.directives if not is_specified_directive(one)]
        self._fragments = random.choice([0, 0, 0, 0, 1, 2])
        self._variables: list[str] = []

    def document(self) -> str:
        roots = [root for root in (self._schema.query_type, self._schema.mutation_type) if root]
        root = self._random.choice(roots)
        body, carried = self._selections(root, 4), self._carried("MUTATION" if root.name == "Mutation" else "QUERY")
        composite = [type_ for type_ in self._types if is_composite_type(type_)]
        fragments = [
            f"fragment F{number} on {self._name(on)} {self._selections(on, 2)}"
            for number in range(self._fragments)
            for on in [self._random.choice(composite)]
        ]
        inputs = [type_ for type_ in self._types if is_input_type(type_)] + self._types[:1]
        declared = [f"$v{number}: {self._variable(inputs)}" for number in range(2 * self._wrong())]
        declared += self._variables
        head = "mutation" if root is self._schema.mutation_type else "query"
        variables = f"({', '.join(declared)})" if declared else ""
        return "\n".join([f"{head} Q{variables}{carried} {body}", *fragments])

    def _wrong(self) -> bool:
        return self._random.random() < self._mistakes

    def _name(self, type_: Any) -> str:
        if not self._wrong():
            return str(type_.name)
        return self._random.choice(["Nothing", self._random.choice(self._types).name])

    def _variable(self, inputs: Sequence[Any]) -> str:
        type_ = self._random.choice(inputs)
        text = self._random.choice(["{}", "{}!", "[{}]", "[{}!]!"]).format(self._name(type_))
        return text + (f" = {self._random.choice(WRONG_VALUES[:-2])}" if self._random.random() < 0.2 else "")

    def _selections(self, type_: Any, depth: int) -> str:
        parts = [self._selection(type_, depth) for _ in range(self._random.randint(1, 3))]
        return "{ " + " ".join(parts) + " }"

    def _selection(self, type_: Any, depth: int) -> str:
        chance = self._random.random()
        if self._fragments and chance < 0.1:
            name = f"F{self._random.randrange(self._fragments + self._wrong())}"
            return f"...{name}{self._carried('FRAGMENT_SPREAD')}"
        if chance < 0.3 and depth:
            return self._inline(type_, depth)
        fields = {} if is_union_type(type_) else type_.fields
        if not fields or chance < 0.35:
            return "__typename"
        if self._wrong():
            name = self._random.choice([*self._fields, "nothing", "__schema", "id", "name"])
            below = self._random.choice(["", "", "(a: 1)", " " + self._selections(type_, max(depth - 1, 0))])
            return f"{name}{below}"
        name = self._random.choice(list(fields))
        return self._field(name, fields[name], depth)

    def _inline(self, type_: Any, depth: int) -> str:
        """A fragment whose type may fit, and may meet the type around it by way of an interface or a union only."""
        near = [type_, *getattr(type_, "interfaces", ())]
        if is_interface_type(type_):
            implementations = self._schema.get_implementations(type_)
            near += [*implementations.objects, *implementations.interfaces]
        if is_union_type(type_):
            near += type_.types
        on = self._random.choice([None, *near])
        condition = f"on {self._name(on)} " if on else ""
        return f"... {condition}{self._carried('INLINE_FRAGMENT')}{self._selections(on or type_, depth - 1)}"

    def _field(self, name: str, field: GraphQLField, depth: int) -> str:
        below = get_named_type(field.type)
        arguments = self._arguments(field.args)
        alias = self._random.choice([*[""] * 9, "a: ", f"a{self._random.randrange(9)}: "])
        selected = ""
        if is_composite_type(below) and not self._wrong():
            selected = f" {self._selections(below, depth - 1)}" if depth else " { __typename }"
        return f"{alias}{name}{arguments}{self._carried('FIELD')}{selected}"

    def _arguments(self, declared: Mapping[str, GraphQLArgument]) -> str:
        given = [
            f"{argument}: {self._value(value.type, 2)}"
            for argument, value in declared.items()
            if (is_non_null_type(value.type) and value.default is None) != self._wrong() or self._random.random() < 0.2
        ]
        given += ["nothing: 1"] if self._wrong() and self._wrong() else []
        return f"({', '.join(given)})" if given else ""

    def _carried(self, location: str) -> str:
        """A directive, here and there: one that may stand there, or another."""
        if self._random.random() > 0.1:
            return ""
        fitting = [one for one in self._directives if location in {each.name for each in one.locations}]
        chosen = self._random.choice((self._directives if self._wrong() else fitting) or [None])
        if chosen is None:
            return " @nothing" * self._wrong()
        return f" @{chosen.name}{self._arguments(chosen.args)} "

    def _value(self, type_: Any, depth: int) -> str:
        if self._wrong():
            return self._random.choice(WRONG_VALUES)
        if is_non_null_type(type_):
            return self._value(type_.of_type, depth)
        if self._random.random() < 0.15:
            self._variables.append(f"$w{len(self._variables)}: {type_}!")
            return f"$w{len(self._variables) - 1}"
        if is_list_type(type_):
            return f"[{self._value(type_.of_type, depth)}]"
        return self._named_value(type_, depth)

    def _named_value(self, type_: Any, depth: int) -> str:
        match type_:
            case GraphQLEnumType():
                return str(self._random.choice(list(type_.values)))
            case GraphQLInputObjectType():
                fields = {
                    name: field.type
                    for name, field in type_.fields.items()
                    if (is_non_null_type(field.type) and field.default is None)
                    or (depth and self._random.random() < 0.3)
                }
                return "{" + ", ".join(f"{name}: {self._value(each, depth - 1)}" for name, each in fields.items()) + "}"
            case GraphQLScalarType(name="Int") | GraphQLScalarType(name="Float"):
                return "7"
            case GraphQLScalarType(name="Boolean"):
                return "true"
            case _:
                return '"x"'
