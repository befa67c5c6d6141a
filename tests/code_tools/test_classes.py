"""Tools as classes, of which each instance is a tool."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest

from handler.errors.authoring import ToolDefinitionError
from stile import Context, Tool, Toolkit, describe
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import client_of


class SearchFiles(Tool):
    """Finds files."""

    annotations = {"read_only_hint": True}  # noqa: RUF012 - a constant
    category = "Files"

    def __init__(self, root: str) -> None:
        self.root = PurePath(root)
        self.name = f"search_{self.root.name}" if self.root.name else ""

    def meta(self) -> dict[str, Any]:
        return {"example.com/root": str(self.root)}

    async def call(self, pattern: str, ctx: Context) -> str:
        """Look below the root.

        Args:
            pattern: What to look for.
            ctx: Who asks.
        """
        return f"{self.root}/{pattern}"


@case("P-001")
def test_each_instance_is_a_tool_with_its_own_name_meta_and_root() -> None:
    client = client_of(SearchFiles("/srv/docs"), SearchFiles("/srv/code"))

    docs, code = client.list_tools()
    assert docs == {
        "name": "search_docs",
        "description": "Finds files.",
        "inputSchema": {
            "type": "object",
            "properties": {"pattern": {"type": "string", "description": "What to look for."}},
            "required": ["pattern"],
        },
        "annotations": {"readOnlyHint": True},
        "_meta": {"example.com/root": "/srv/docs", "category": "Files"},
    }
    assert (code["name"], code["_meta"]["example.com/root"]) == ("search_code", "/srv/code")
    assert client.call("search_docs", pattern="*.md").text == "/srv/docs/*.md"
    assert client.call("search_code", pattern="*.py").text == "/srv/code/*.py"


@case("P-002")
def test_blank_name_of_an_instance_is_refused_where_it_is_registered() -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        Toolkit().add(SearchFiles("/"))

    assert "name '': expected 1 to 128" in caught.value.sentence
    assert caught.value.file == __file__
    assert "class SearchFiles" in line_of_this_file(caught.value.line)


def line_of_this_file(line: int) -> str:
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123
        return file.read().splitlines()[line - 1]


def test_schemas_may_be_computed() -> None:
    class Column(Tool):
        def __init__(self, name: str) -> None:
            self.name = name

        def input_schema(self) -> dict[str, Any]:
            return {"type": "object", "properties": {self.name: {"type": "integer"}}, "required": [self.name]}

        def output_schema(self) -> dict[str, Any]:
            return self.input_schema()

        def call(self, arguments: dict[str, Any]) -> dict[str, Any]:
            return arguments

    client = client_of(Column("size"))

    assert client.list_tools()[0]["outputSchema"]["required"] == ["size"]
    assert client.call("size", size=1).data == {"size": 1}
    assert client.call("size", size="x").is_error


def test_registration_is_stronger_than_the_class() -> None:
    kit = Toolkit()
    kit.add(SearchFiles("/srv/docs"), name="find", category="Search", hidden=True)
    (tool,) = kit.tools

    assert (tool.name, tool.options.category, tool.options.hidden) == ("find", "Search", True)
    assert TestClient(kit).call("find", pattern="a").text == "/srv/docs/a"


def test_class_is_taken_as_its_instance_without_arguments() -> None:
    class Ping(Tool):
        def call(self) -> str:
            return "pong"

    assert describe(Ping) == describe(Ping()) == {"name": "ping", "inputSchema": {"type": "object", "properties": {}}}


def test_class_without_a_docstring_is_described_by_its_call() -> None:
    class Ping(Tool):
        def call(self) -> str:
            """Say pong."""
            return "pong"

    assert describe(Ping)["description"] == "Say pong."
