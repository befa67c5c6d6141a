from __future__ import annotations

import asyncio
from typing import Any

import pytest

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

    return kit


def names_of(kit: Toolkit, section: str, **context: Any) -> list[str]:
    sections = asyncio.run(sections_of(kit, TestClient(kit, **context).context()))
    return [each.entry["name"] for each in sections[section]]


def test_sections_have_every_entry_with_whether_it_is_hidden() -> None:
    sections = asyncio.run(sections_of(stocked(), Context()))

    assert {name: [(each.entry["name"], each.hidden) for each in entries] for name, entries in sections.items()} == {
        "tools": [("echo", False), ("whisper", True)],
        "prompts": [("greeting", False)],
        "resources": [("intro", False)],
        "resource_templates": [("page", True)],
    }
    assert sections["tools"][0].entry["inputSchema"] == ECHO_SCHEMA
    assert sections["tools"][0].entry["_meta"] == {"category": "Echoes"}
    assert sections["tools"][1].aliases == ("murmur",)
    assert sections["resource_templates"][0].entry["uriTemplate"] == "docs://pages/{page}"


def test_lists_leave_out_hidden_entries() -> None:
    client = TestClient(stocked())

    assert [each["name"] for each in client.list_tools()] == ["echo"]
    assert client.list_resource_templates() == []


@case("C-006")
def test_sections_have_no_entry_that_the_caller_may_not_use() -> None:
    def allow(entry: dict[str, Any], ctx: Context) -> bool:
        return entry["name"] != "whisper" or (ctx.auth or {}).get("role") == "admin"

    kit = stocked(allow)

    assert names_of(kit, "tools") == ["echo"]
    assert names_of(kit, "tools", claims={"role": "admin"}) == ["echo", "whisper"]
    with pytest.raises(McpError, match="Unknown tool: whisper"):
        TestClient(kit).call("whisper", message="a")
