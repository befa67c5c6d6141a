"""The context of a compilation: what it knows before any part is compiled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from graphql import GraphQLError, parse

from handler.compiler.compile_context import CompileContext, read_context
from handler.compiler.problems import Place, author_place
from handler.errors.authoring import CompileError
from tests.support.endpoints import compiled, write_endpoint
from tests.support.modules import Modules, modules

__all__ = ["modules"]

QUERY = "type Query { a: Int }\n"
KIT = 'code: [{use: "shop_tools:kit", condition: true}]\n'
IN_SRC = {"stepzen.config.json": json.dumps({"endpoint": "shop/orders", "root": "src"})}


def context_of(folder: Path, files: dict[str, str]) -> CompileContext:
    return read_context(write_endpoint(folder, files), stage=None, endpoint=None, environ={})


@pytest.mark.parametrize(
    ("files", "entry"),
    [
        ({"index.graphql": QUERY}, "index.graphql"),
        ({"index.graphql": QUERY, "config.yaml": KIT}, "index.graphql"),
        ({"config.yaml": KIT}, "config.yaml"),
        ({}, "index.graphql"),
        ({**IN_SRC, "src/index.graphql": QUERY}, "src/index.graphql"),
        ({**IN_SRC, "src/config.yaml": KIT}, "src/config.yaml"),
    ],
)
def test_entry_of_an_endpoint_is_its_schema_or_without_one_its_configuration(
    tmp_path: Path, files: dict[str, str], entry: str
) -> None:
    assert context_of(tmp_path, files).entry == Place(entry)


def test_contexts_share_neither_problems_nor_conditions(tmp_path: Path) -> None:
    one, other = (context_of(tmp_path / name, {"index.graphql": QUERY}) for name in "ab")
    one.problems.add(one.entry, "it is wrong", code="invalid-value")
    one.conditions.mask({"literal": False})

    with pytest.raises(CompileError, match="it is wrong"):
        one.problems.raise_if_any()
    other.problems.raise_if_any()
    assert len(other.conditions) < len(one.conditions)


def test_warning_of_a_whole_endpoint_without_a_schema_is_at_its_configuration(tmp_path: Path, modules: Modules) -> None:
    modules.write(
        "shop_tools.py",
        "from stile import Toolkit\n\n"
        "kit = Toolkit()\n\n"
        "for number in range(129):\n\n"
        '    @kit.tool(name=f"t{number}", title="T")\n'
        "    def tool() -> str:\n"
        '        "Say nothing."\n'
        '        return ""\n',
    )

    made = compiled(tmp_path, {"config.yaml": KIT}, **modules.environ)

    found = [(each.code, each.file, each.line) for each in made.client_warnings]
    assert found == [("too-many-tools", "config.yaml", 0)]


def test_error_without_a_place_of_its_own_is_located_elsewhere() -> None:
    node = parse("{ a }").definitions[0]
    unwritten = parse("{ a }", no_location=True).definitions[0]
    written, nowhere, without_node = (GraphQLError("wrong", nodes) for nodes in (node, unwritten, None))

    assert author_place(written, otherwise=Place("src/index.graphql")) is written
    assert author_place(nowhere, otherwise=Place("src/index.graphql")) == Place("src/index.graphql")
    assert author_place(without_node, otherwise=Place("src/index.graphql")) == Place("src/index.graphql")
