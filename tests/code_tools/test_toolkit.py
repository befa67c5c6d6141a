from __future__ import annotations

from typing import Any

import pytest

from handler.errors.authoring import ToolDefinitionError
from stile import Toolkit, tool
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import echo


def names(kit: Toolkit) -> list[str]:
    return [entry["name"] for entry in TestClient(kit).list_tools()]


@case("H-001")
def test_hidden_tool_is_not_listed_and_can_be_called() -> None:
    kit = Toolkit()

    @kit.tool(hidden=True)
    def one() -> str:
        return "1"

    @kit.tool(visible=False)
    def two() -> str:
        return "2"

    assert names(kit) == []
    assert TestClient(kit).call("one").text + TestClient(kit).call("two").text == "12"


@case("H-002")
@pytest.mark.parametrize(
    ("said", "registered", "listed"),
    [
        ({"hidden": True}, {"hidden": False}, True),
        ({"hidden": False}, {"hidden": True}, False),
        ({"hidden": True}, {"visible": True}, True),
        ({"visible": True}, {"visible": False}, False),
        ({}, {"hidden": True, "visible": True}, False),
        ({"hidden": True}, {"hidden": False, "visible": False}, True),
        ({"hidden": True}, {}, False),
        ({}, {}, True),
    ],
)
def test_registration_says_last_whether_a_tool_is_hidden(said: Any, registered: Any, listed: bool) -> None:
    kit = Toolkit()
    kit.add(tool("t", **said)(lambda: None), **registered)

    assert (names(kit) == ["t"]) is listed


def five() -> Toolkit:
    kit = Toolkit(category="Utility")

    @kit.tool("files.read", category="Files")
    def read_file(path: str) -> str:
        return f"read {path}"

    @kit.tool
    def ping() -> str:
        return "pong"

    @kit.tool(hidden=True)
    def reset() -> str:
        return "reset"

    @kit.tool(input_schema='{"type":"object","properties":{"q":{"type":"string"}}}')
    def lookup(args: dict[str, Any]) -> str:
        return str(args.get("q", ""))

    @kit.tool()
    async def later(number: int) -> int:
        return number

    return kit


@case("K-001")
def test_kit_has_its_tools_in_the_order_in_which_they_were_written() -> None:
    client = TestClient(five())

    assert [each.name for each in five().tools] == ["files.read", "ping", "reset", "lookup", "later"]
    assert [entry["name"] for entry in client.list_tools()] == ["files.read", "ping", "lookup", "later"]
    assert client.call("files.read", path="a").text == "read a"
    assert client.call("reset").text == "reset"
    assert client.call("lookup", q="x").text == "x"
    assert client.call("later", number=3).data == {"result": 3}


@case("K-002")
def test_category_of_registration_is_stronger_than_the_tools_and_that_than_the_kits() -> None:
    def categories(kit: Toolkit) -> dict[str, str]:
        return {each.name: each.entry.get("_meta", {}).get("category", "") for each in kit.tools}

    assert categories(five())["ping"] == "Utility"
    assert categories(five())["files.read"] == "Files"
    outer = Toolkit(category="Outer")
    outer.add(five(), category="Registered")
    outer.add(echo)
    outer.add(echo, name="other", category="Echoes")
    assert categories(outer) == {
        **dict.fromkeys(("files.read", "ping", "reset", "lookup", "later"), "Registered"),
        "echo": "Outer",
        "other": "Echoes",
    }
    plain, outer = Toolkit(), Toolkit(category="Outer")
    plain.add(echo)
    outer.add(plain)
    assert categories(outer) == {"echo": "Outer"}


@case("K-003")
def test_kit_may_be_hidden_or_shown_as_a_whole() -> None:
    hidden, shown, as_it_is = Toolkit(), Toolkit(), Toolkit()
    hidden.add(five(), hidden=True)
    shown.add(five(), hidden=False)
    as_it_is.add(five())

    assert names(hidden) == []
    assert TestClient(hidden).call("ping").text == "pong"
    assert names(shown) == ["files.read", "ping", "reset", "lookup", "later"]
    assert names(as_it_is) == ["files.read", "ping", "lookup", "later"]
    all_hidden = Toolkit(visible=False)
    all_hidden.add(echo)
    assert names(all_hidden) == []


@case("K-004")
@pytest.mark.parametrize("overrides", [{"name": "x"}, {"description": "x"}, {"hidden": True, "name": "x"}])
def test_name_or_description_for_a_whole_kit_is_ambiguous(overrides: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="ambiguous for a toolkit"):
        Toolkit().add(five(), **overrides)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"extra": "allow"}, "toolkit: extra: expected one of ignore, forbid, got 'allow'"),
        ({"title": "x"}, "toolkit: unknown option title"),
        ({"hidden": "no"}, "toolkit: hidden: expected True or False, got 'no'"),
    ],
)
def test_option_of_a_kit_that_does_not_fit_is_refused(options: Any, sentence: str) -> None:
    with pytest.raises(ToolDefinitionError, match=sentence):
        Toolkit(**options)


@case("K-005")
def test_definition_that_cannot_be_names_the_tool() -> None:
    kit = five()

    with pytest.raises(ToolDefinitionError, match="tool ping: the toolkit has a tool ping already"):
        kit.tool("ping")(lambda: None)
    with pytest.raises(ToolDefinitionError, match="tool bad: input_schema: expected JSON: "):
        kit.tool("bad", input_schema="{nope")(lambda args: None)
    with pytest.raises(ToolDefinitionError, match=r"tool bad: input_schema: expected an object .* got \[1, 2\]"):
        kit.tool("bad", input_schema="[1,2]")(lambda args: None)
    with pytest.raises(
        ToolDefinitionError, match=r"tool bad: with input_schema a function takes \(arguments, context\)"
    ):
        kit.tool("bad", input_schema={"type": "object"})(lambda args, ctx, third: None)
    with pytest.raises(ToolDefinitionError, match=r"tool bad: parameter other: with input_schema a function takes"):

        @kit.tool("bad", input_schema={"type": "object"})
        def bad(*, other: int) -> None: ...

    assert "bad" not in [each.name for each in kit.tools]


@case("K-006")
def test_of_stacked_decorators_the_nearest_is_strongest() -> None:
    kit = Toolkit()

    @kit.tool(category="far", title="Far")
    @tool(category="near")
    def one() -> None: ...

    @kit.tool(category="far", title="Far")
    @kit.tool(category="near", name="second")
    def two() -> None: ...

    assert [(each.name, each.options.category, each.options.title) for each in kit.tools] == [
        ("one", "near", "Far"),
        ("second", "near", "Far"),
    ]


@case("G-001")
def test_one_function_is_listed_and_called_under_several_names() -> None:
    kit = Toolkit()
    kit.add(echo)
    kit.add(echo, name="say", description="Alias for echo", annotations={"read_only_hint": True}, meta={"k": 1})
    client = TestClient(kit)

    first, second = client.list_tools()
    assert (first["name"], "description" in first) == ("echo", False)
    assert (second["name"], second["description"]) == ("say", "Alias for echo")
    assert (second["annotations"], second["_meta"]) == ({"readOnlyHint": True}, {"k": 1})
    assert client.call("echo", message="a").text == client.call("say", message="a").text == "a"


@case("G-002")
def test_violations_say_the_name_that_was_called() -> None:
    kit = Toolkit()
    kit.add(echo, name="say", aliases=["shout"])

    assert "Invalid arguments for tool say: " in TestClient(kit).call("say").text
    assert "Invalid arguments for tool shout: " in TestClient(kit).call("shout").text
    assert names(kit) == ["say"]


def test_bound_parameters_are_filled_and_not_listed() -> None:
    def search(repo: str, query: str) -> str:
        return f"{repo}: {query}"

    kit = Toolkit()
    kit.add(search, name="search_docs", bind={"repo": "docs"})
    kit.add(search, name="search_code", bind={"repo": "code"})
    client = TestClient(kit)

    assert [list(entry["inputSchema"]["properties"]) for entry in client.list_tools()] == [["query"]] * 2
    assert client.call("search_docs", query="a", repo="other").text == "docs: a"
    assert client.call("search_code", query="a").text == "code: a"
    with pytest.raises(ToolDefinitionError, match="bind: the function has no parameter rpo; it has repo, query"):
        kit.add(search, name="third", bind={"rpo": "docs"})


def test_definition_of_another_kit_may_be_registered_again() -> None:
    kit = Toolkit()
    (definition, *_) = five().tools
    kit.add(definition)
    kit.add(definition, name="cat", title="Cat", meta={"k": 1}, hidden=True)

    assert [(each.name, each.options.title, each.options.hidden) for each in kit.tools] == [
        ("files.read", None, False),
        ("cat", "Cat", True),
    ]
    assert kit.tools[1].entry["_meta"] == {"k": 1, "category": "Files"}
    with pytest.raises(ToolDefinitionError, match="name 'a b'"):
        kit.add(definition, name="a b")
    with pytest.raises(ToolDefinitionError, match="tool dog: bind: a tool that is defined already takes name, title"):
        kit.add(definition, name="dog", bind={"path": "a"})


def test_bound_parameter_of_a_function_with_a_schema_of_its_own_is_no_context() -> None:
    @tool(input_schema={"type": "object"})
    def search(arguments: dict[str, Any], repo: str) -> str:
        return f"{repo}: {arguments['query']}"

    kit = Toolkit()
    kit.add(search, bind={"repo": "docs"})

    assert TestClient(kit).call("search", query="a").text == "docs: a"


def test_members_of_a_toolkit_are_those_that_authors_may_rely_on() -> None:
    members = {name for name in dir(Toolkit()) if not name.startswith("_")}

    assert members == {
        *("add", "add_provider", "add_skill", "find_tool", "is_per_caller", "prompt", "prompts", "providers"),
        *("resource", "resources", "skills", "tool", "tools"),
    }


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (b"x", None),
        ("x", ["a.md"]),
        ("x", {"SKILL.md": "x"}),
        ("x", {"../a.md": "x"}),
        ("x", {"a//b.md": "x"}),
        ("x", {"/a.md": "x"}),
        ("x", {"": "x"}),
        ("x", {5: "x"}),
        ("x", {"a.md": 5}),
        ("x", {"a.md": "\ud800"}),
        ("\ud800", None),
    ],
)
def test_skill_of_another_form_is_refused(text: Any, files: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        Toolkit().add_skill(text, files=files)
