"""Answers to documents from mock resolvers of graphql-core. Each value says what it is, so that a judge needs no types.

Plain strings begin with ``s:``, IDs with ``id:``, cursors with ``cur:``; custom scalars hold ``scalar``.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from random import Random
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLResolveInfo,
    GraphQLSchema,
    OperationDefinitionNode,
    execute,
    is_abstract_type,
    is_leaf_type,
    type_from_ast,
)

WORDS = ("Zoë", 'a"b', "line\nbreak", "数据", "plain words of a text", "x")
MAX_FIELDS = 1_000
"""Fields and items of one answer, after which lists are empty."""


class Mock:
    """The resolvers of one answer."""

    def __init__(self, schema: GraphQLSchema, random: Random) -> None:
        self._schema = schema
        self._random = random
        self._left = MAX_FIELDS
        self._longest = random.choice([1, 3, 10, 40, 150])
        self._long_texts = random.random() < 0.3

    def answer(self, document: DocumentNode, *, backward: bool = False) -> Any:
        """The ``data`` of an answer; ``None`` if the document cannot be executed."""
        operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
        found: Any = execute(
            self._schema,
            document,
            root_value={},
            variable_values=self.variables(operation, backward=backward),
            field_resolver=self._resolve,
            type_resolver=self._type_of,
        )
        if inspect.isawaitable(found):  # the root fields of a mutation, one after the other
            found = asyncio.run(_settled(found))
        return None if found.errors else found.data

    def variables(self, operation: OperationDefinitionNode, *, backward: bool = False) -> dict[str, Any]:
        """Values for the variables that need one, and for those that page."""
        found = {}
        for node in operation.variable_definitions or ():
            type_: Any = type_from_ast(self._schema, node.type)
            name = node.variable.name.value
            if name in ("last", "before") and not isinstance(type_, GraphQLNonNull):
                if backward and name == "last":
                    found[name] = 50
            elif isinstance(type_, GraphQLNonNull) or (not backward and self._random.random() < 0.5):
                found[name] = self._input(type_, 0)
        return found

    def _input(self, type_: Any, depth: int) -> Any:
        match type_:
            case GraphQLNonNull():
                return self._input(type_.of_type, depth)
            case GraphQLList():
                return [self._input(type_.of_type, depth)]
            case GraphQLEnumType():
                return next(iter(type_.values))
            case GraphQLInputObjectType():
                wanted = {name: each for name, each in type_.fields.items() if isinstance(each.type, GraphQLNonNull)}
                wanted = wanted or (dict([next(iter(type_.fields.items()))]) if type_.is_one_of else {})
                return {name: self._input(each.type, depth + 1) for name, each in wanted.items()}
            case _:
                return {"Int": 7, "Float": 7.5, "Boolean": True}.get(str(type_), "1")

    def _type_of(self, _value: Any, info: GraphQLResolveInfo[Any], type_: Any) -> str:
        return str(self._random.choice(info.schema.get_possible_types(type_)).name)

    def _resolve(self, source: Any, info: GraphQLResolveInfo[Any], **_: Any) -> Any:
        self._left -= 1
        match source, info.field_name:
            case {"rows": rows}, "edges" | "nodes":
                return [{"row": number} for number in range(rows)]
            case {"rows": rows}, "pageInfo":
                return {"page": rows}
            case {"page": _}, "hasNextPage" | "hasPreviousPage":
                return False
            case {"page": rows}, "endCursor" | "startCursor" as name:
                return f"cur:{rows - 1 if name == 'endCursor' else 0}" if rows else None
            case {"row": number}, "cursor":
                return f"cur:{number}"
            case _:
                return self._value(info.return_type)

    def _value(self, type_: Any) -> Any:
        if isinstance(type_, GraphQLNonNull):
            return self._non_null(type_.of_type)
        return None if self._random.random() < 0.05 else self._non_null(type_)

    def _non_null(self, type_: Any) -> Any:
        match type_:
            case GraphQLList():
                count = self._random.randint(0, self._longest) if self._left > 0 else 0
                self._left -= count
                return [self._value(type_.of_type) for _ in range(count)]
            case GraphQLEnumType():
                return self._random.choice([*type_.values.values()]).value
            case _ if is_leaf_type(type_):
                return self._leaf(str(type_))
            case _ if not is_abstract_type(type_) and type_.fields.keys() & {"edges", "nodes"}:
                return {"rows": self._random.randint(0, self._longest) if self._left > 0 else 0}
            case _:
                return {}

    def _leaf(self, name: str) -> Any:
        random = self._random
        match name:
            case "String":
                long = random.random() < 0.1 and self._long_texts
                return "s:" + random.choice(WORDS) * (random.randint(20, 2_000) if long else random.randint(0, 4))
            case "ID":
                return "id:" + "0123456789abcdef" * random.choice([1, 1, 1, 40])
            case "Int":
                return random.randint(-9, 10**6)
            case "Float":
                return random.random()
            case "Boolean":
                return random.random() < 0.5
            case _:
                return random.choice(
                    [["scalar", *range(random.randint(0, 60))], {"scalar": [1, None]}, "scalar:" + "x" * 30]
                )


async def _settled(found: Awaitable[Any]) -> Any:
    return await found


def errors_for(data: Mapping[str, Any], random: Random) -> list[dict[str, Any]]:
    """Errors whose paths lead to values of an answer, by chance."""
    return [{"message": "It failed.", "path": _path_in(data, random)} for _ in range(random.randint(1, 4))]


def _path_in(value: Any, random: Random) -> list[Any]:
    if isinstance(value, dict) and value:
        key = random.choice([*value])
        return [key, *_path_in(value[key], random)]
    if isinstance(value, list) and value and value[0] != "scalar":
        number = random.randrange(len(value))
        return [number, *_path_in(value[number], random)]
    return []
