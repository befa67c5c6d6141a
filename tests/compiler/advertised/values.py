"""Values of input types: right ones, and ones that are wrong in places."""

from __future__ import annotations

from random import Random
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    OperationDefinitionNode,
    type_from_ast,
)

RIGHT: dict[str, list[Any]] = {
    "Int": [0, -7],
    "Float": [1.5, 2],
    "String": ["", "text"],
    "Boolean": [True, False],
    "ID": ["5", "a"],
    "DateTime": ["2026-01-31T09:30:00Z"],
    "JSON": [{"any": [1]}, "text", True],
    "URI": ["https://example.com"],
}
OTHER = ["text"]
WRONG: list[Any] = [
    None,
    True,
    7,
    1.5,
    "",
    "ORDER0_1",
    [],
    [7],
    {},
    {"other": 1},
    [{"f0": [[]]}],
    {"f0": {"f0": "text"}},
]

LEVELS = 4


def random_variables(schema: Any, node: OperationDefinitionNode, random: Random, *, wrong: float) -> dict[str, Any]:
    """Return values of an operation's variables. ``wrong`` is the share of parts that are taken from ``WRONG``."""
    given = {}
    for each in node.variable_definitions or ():
        type_ = type_from_ast(schema, each.type)
        if isinstance(type_, GraphQLNonNull) or random.random() < 0.8:
            given[each.variable.name.value] = random_value(type_, random, wrong=wrong, levels=LEVELS)
    return given


def random_value(type_: Any, random: Random, *, wrong: float, levels: int) -> Any:
    """Return a value of a type, never null."""
    if random.random() < wrong:
        return random.choice(WRONG)
    match type_:
        case GraphQLNonNull():
            return random_value(type_.of_type, random, wrong=wrong, levels=levels)
        case GraphQLList():
            count = random.randint(0, 2) if levels > 0 else 0
            return [random_value(type_.of_type, random, wrong=wrong, levels=levels - 1) for _ in range(count)]
        case GraphQLEnumType():
            return random.choice(list(type_.values))
        case GraphQLInputObjectType():
            return _random_object(type_, random, wrong=wrong, levels=levels)
        case _:
            return random.choice(RIGHT.get(type_.name, OTHER))


def _random_object(type_: GraphQLInputObjectType, random: Random, *, wrong: float, levels: int) -> dict[str, Any]:
    fields = type_.fields
    needed = [name for name, each in fields.items() if isinstance(each.type, GraphQLNonNull)]
    if type_.is_one_of:
        chosen = [random.choice(list(fields)) if levels > 0 else "f0"]
    elif levels <= 0:
        chosen = needed
    else:
        chosen = [*needed, *random.sample(list(fields), min(len(fields), random.randint(0, 3)))]
    return {
        name: random_value(fields[name].type, random, wrong=wrong, levels=levels - 1) for name in dict.fromkeys(chosen)
    }
