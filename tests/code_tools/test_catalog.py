from __future__ import annotations

from typing import Any

import pytest

from handler.code_tools.catalog import catalog_tool
from handler.code_tools.dispatch import sections_of
from stile import Context, McpError, Toolkit
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import ECHO_SCHEMA, echo


def stocked(allow: Any = None) -> Toolkit:
    kit = Toolkit(allow=allow)
    kit.add(echo, category="Echoes", description="Say it again")
    kit.add(echo, name="whisper", hidden=True, description="A hidden echo", aliases=["murmur"])

    @kit.prompt
    def greeting(name: str) -> str:
        return f"Greet {name}"

    @kit.resource("docs://intro")
    def intro() -> str:
        return "Welcome"

    @kit.resource("docs://pages/{page}", hidden=True)
    def page(page: str) -> str:
        return page

    async def sections(ctx: Context) -> Any:
        return await sections_of(kit, ctx)

    kit.add(catalog_tool(sections))
    return kit


def found(arguments: dict[str, Any], kit: Toolkit | None = None, **context: Any) -> Any:
    return TestClient(kit or stocked(), **context).call("catalog", **arguments).data


@case("C-001")
def test_catalog_shows_everything_and_itself_with_whether_it_is_hidden() -> None:
    sections = found({})

    assert list(sections) == ["tools", "prompts", "resources", "resource_templates"]
    shown = [(each["name"], each["hidden"]) for section in sections.values() for each in section]
    assert shown == [
        ("echo", False),
        ("whisper", True),
        ("catalog", True),
        ("greeting", False),
        ("intro", False),
        ("page", True),
    ]
    assert sections["tools"][0]["inputSchema"] == ECHO_SCHEMA
    assert sections["tools"][0]["category"] == "Echoes"
    assert "category" not in sections["tools"][1]
    assert sections["resource_templates"][0]["uriTemplate"] == "docs://pages/{page}"


@case("C-002")
def test_catalog_may_leave_out_what_is_hidden() -> None:
    sections = found({"include_hidden": False})

    assert [each["name"] for each in sections["tools"]] == ["echo"]
    assert sections["resource_templates"] == []


@case("C-003")
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"type": "tools", "query": "HIDDEN"}, ["whisper"]),
        ({"type": "tools", "query": "murm"}, ["whisper"]),
        ({"type": "tools", "query": "Again"}, ["echo"]),
        ({"type": "resource_templates", "query": "PAGES"}, ["page"]),
        ({"type": "resources", "query": "docs://"}, ["intro"]),
        ({"type": "tools", "query": "nothing of it"}, []),
    ],
)
def test_query_is_part_of_a_name_description_or_uri(arguments: dict[str, Any], names: list[str]) -> None:
    (section,) = found(arguments).values()

    assert [each["name"] for each in section] == names


@case("C-004")
def test_category_is_the_whole_of_it_in_either_case() -> None:
    assert [each["name"] for each in found({"type": "tools", "category": "echoes"})["tools"]] == ["echo"]
    assert found({"type": "tools", "category": "echo"})["tools"] == []
    assert found({"type": "prompts", "category": "echoes"})["prompts"] == []


@case("C-005")
def test_one_type_is_one_section() -> None:
    assert list(found({"type": "prompts"})) == ["prompts"]
    assert "one of" in TestClient(stocked()).call("catalog", type="prompt").text


@case("C-006")
def test_what_a_caller_may_not_use_is_not_in_the_catalog() -> None:
    def allow(entry: dict[str, Any], ctx: Context) -> bool:
        return entry["name"] != "whisper" or (ctx.auth or {}).get("role") == "admin"

    kit = stocked(allow)

    assert [each["name"] for each in found({}, kit)["tools"]] == ["echo", "catalog"]
    admin = found({}, kit, claims={"role": "admin"})
    assert [each["name"] for each in admin["tools"]] == ["echo", "whisper", "catalog"]
    with pytest.raises(McpError, match="Unknown tool: whisper"):
        TestClient(kit).call("whisper", message="a")


def test_catalog_may_be_listed_under_another_name() -> None:
    kit = Toolkit()
    kit.add(catalog_tool(lambda ctx: {}, name="find", hidden=False))
    client = TestClient(kit)

    (entry,) = client.list_tools()
    assert entry["name"] == "find"
    assert entry["annotations"] == {"readOnlyHint": True}
    assert set(entry["inputSchema"]["properties"]) == {"type", "query", "category", "include_hidden"}
    assert client.call("find").data == {"tools": [], "prompts": [], "resources": [], "resource_templates": []}
