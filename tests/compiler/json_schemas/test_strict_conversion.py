"""A client that sends every name, with ``null`` for what is left out, has its call sent as if it had left it out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from handler.bundle.tools import PrescribedTool
from handler.server.endpoints.arguments_validator import ArgumentsValidator
from tests.compiler.json_schemas.random_operations import (
    CONFIG,
    ONE_OF,
    Input,
    Operation,
    Type,
    object_values,
    operations,
)
from tests.support.endpoints import compiled, prescribed_tool
from tests.support.examples import examples

NESTED = 'extend schema @tool(name: "nested", prescribed: "O")\n'


class Conversion:
    """Values of one operation's types with all names in them; ``legal``: only where GraphQL takes ``null`` for them."""

    def __init__(self, operation: Operation, *, legal: bool) -> None:
        self._objects = operation.objects
        self._legal = legal

    def members(self, given: dict[str, Any], fields: dict[str, Input], *, one_of: bool = False) -> dict[str, Any]:
        left_out = {
            name: None
            for name, one in fields.items()
            if name not in given and not (self._legal and (one_of or one.type.required))
        }
        return {**{name: self.value(each, fields[name].type) for name, each in given.items()}, **left_out}

    def value(self, value: Any, type_: Type) -> Any:
        if type_.item:
            return [self.value(item, type_.item) for item in value]
        if type_.name in self._objects:
            return self.members(value, self._objects[type_.name], one_of=type_.name == ONE_OF)
        return value


def read(tool: PrescribedTool, variables: dict[str, Any]) -> Any:
    arguments = variables if tool.flat else {"variables": variables}
    found = ArgumentsValidator(tool.name, tool.arguments).read(arguments)
    return found if tool.flat else found["variables"]


def test_null_for_all_that_is_left_out_changes_nothing_that_graphql_refuses_null_for(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("random")
    counted: Counter[str] = Counter()

    # Not made smaller where it fails: every smaller schema would be compiled again.
    @settings(
        max_examples=examples(60, share=5), derandomize=True, deadline=None, database=None, phases=[Phase.generate]
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        operation = data.draw(operations())
        config = CONFIG if "scalar Money" in operation.sdl else ""
        files = {"index.graphql": NESTED + operation.sdl, "operations/o.graphql": operation.text, "config.yaml": config}
        made = compiled(folder, files)
        for _ in range(6):
            plain = data.draw(object_values(operation.variables, operation.objects, plain=True, depth=3))
            sent = Conversion(operation, legal=False).members(plain, operation.variables)
            expected = Conversion(operation, legal=True).members(plain, operation.variables)
            counted["changed" if sent != expected else "same"] += 1
            for tool in (prescribed_tool(made, "O"), prescribed_tool(made, "nested")):
                assert read(tool, plain) == plain
                assert read(tool, sent) == expected, (operation.sdl, operation.text, sent)

    check()
    assert counted["changed"] > 50
