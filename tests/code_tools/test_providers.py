"""Tools that differ from caller to caller."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handler.code_tools.dispatch import list_section
from stile import Context, McpError, ToolError, Toolkit
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import echo

PLUGINS = {"acme": ["invoice", "refund"], "globex": ["invoice"]}


class Plugins:
    """A tenant's plugins."""

    def __init__(self, seen: list[Any] | None = None) -> None:
        self._seen = [] if seen is None else seen

    async def tools(self, ctx: Context) -> list[dict[str, Any]]:
        tenant = (ctx.auth or {}).get("tenant", "")
        return [{"name": name, "inputSchema": {"type": "object"}} for name in PLUGINS.get(tenant, [])]

    async def call(self, name: str, arguments: dict[str, Any], ctx: Context) -> Any:
        self._seen.append((name, arguments))
        if name == "refund":
            raise ToolError("nothing to refund")
        return {"done": name}


def kit_of(*providers: Any, optional: bool = False) -> Toolkit:
    kit = Toolkit()
    kit.add(echo)
    for provider in providers:
        kit.add_provider(provider, optional=optional)
    return kit


def names(kit: Toolkit, **claims: str) -> list[str]:
    return [entry["name"] for entry in TestClient(kit, claims=claims).list_tools()]


@case("Y-001")
def test_each_tenant_has_its_tools() -> None:
    kit = kit_of(Plugins())

    assert names(kit, tenant="acme") == ["echo", "invoice", "refund"]
    assert names(kit, tenant="globex") == ["echo", "invoice"]
    assert names(kit) == ["echo"]
    assert TestClient(kit, claims={"tenant": "acme"}).call("refund").text == "nothing to refund"
    with pytest.raises(McpError) as caught:
        TestClient(kit, claims={"tenant": "globex"}).call("refund")
    assert (caught.value.code, caught.value.data) == (-32602, {"tool": "refund"})


@case("Y-002")
def test_provider_gets_arguments_as_they_were_sent() -> None:
    seen: list[Any] = []
    client = TestClient(kit_of(Plugins(seen)), claims={"tenant": "acme"})

    assert client.call("invoice", count="7", other=[1]).data == {"done": "invoice"}
    assert seen == [("invoice", {"count": "7", "other": [1]})]


class Fixed:
    """Always the same entries, not async."""

    def __init__(self, *entries: dict[str, Any]) -> None:
        self._entries = entries

    def tools(self, ctx: Context) -> Any:
        return self._entries

    def call(self, name: str, arguments: dict[str, Any], ctx: Context) -> str:
        return f"{name} of {self._entries[0]['description']}"


@case("Y-003")
def test_own_tools_come_first_and_of_one_name_the_first_wins() -> None:
    first = Fixed({"name": "b", "description": "first"}, {"name": "echo", "description": "first"})
    second = Fixed({"name": "a", "description": "second"}, {"name": "b", "description": "second"})
    kit = kit_of(first, second)

    entries = TestClient(kit).list_tools()
    assert [(entry["name"], entry.get("description")) for entry in entries] == [
        ("echo", None),
        ("b", "first"),
        ("a", "second"),
    ]
    assert TestClient(kit).call("b").text == "b of first"
    assert TestClient(kit).call("a").text == "a of second"
    assert TestClient(kit).call("echo", message="own").text == "own"


class Broken(Fixed):
    def tools(self, ctx: Context) -> Any:
        raise RuntimeError("boom")


@case("Y-004")
def test_provider_that_fails_is_a_protocol_error_without_detail(caplog: pytest.LogCaptureFixture) -> None:
    client = TestClient(kit_of(Broken()))

    with pytest.raises(McpError) as caught:
        client.list_tools()

    assert (caught.value.code, str(caught.value), caught.value.data) == (-32603, "The tools could not be listed", None)
    assert "boom" in caplog.text
    assert client.call("echo", message="a").text == "a"  # nobody has to be asked for it


def test_optional_provider_that_fails_leaves_the_others() -> None:
    assert names(kit_of(Broken(), Fixed({"name": "a", "description": "d"}), optional=True)) == ["echo", "a"]


def test_kit_says_whether_its_list_depends_on_the_caller() -> None:
    outer = Toolkit()
    outer.add(Toolkit(allow=lambda entry, ctx: True))
    assert not outer.is_per_caller

    outer.add(kit_of())
    assert not outer.is_per_caller

    outer.add_provider(Plugins())
    assert outer.is_per_caller
    guarded = Toolkit(allow=lambda entry, ctx: True)
    guarded.add(echo)
    assert guarded.is_per_caller


def test_what_may_be_used_is_decided_by_every_kit_around() -> None:
    inner = Toolkit(allow=lambda entry, ctx: "inner" in ctx.scopes)
    inner.add(echo)
    inner.add_provider(Fixed({"name": "a", "description": "d"}))
    outer = Toolkit(allow=lambda entry, ctx: "outer" in ctx.scopes)
    outer.add(inner)

    assert names(outer, scope="inner outer") == ["echo", "a"]
    assert names(outer, scope="inner") == names(outer, scope="outer") == []
    for name in ("echo", "a"):
        with pytest.raises(McpError, match=f"Unknown tool: {name}"):
            TestClient(outer, claims={"scope": "outer"}).call(name, message="a")


def test_output_schema_of_a_providers_entry_is_kept() -> None:
    schema = {"type": "object", "required": ["rows"]}
    kit = kit_of(Fixed({"name": "a", "description": "d", "outputSchema": schema}))

    assert TestClient(kit).call("a").text == "Tool a has an output schema, and no structuredContent"


def test_alias_is_no_way_around_what_a_caller_may_use() -> None:
    kit = Toolkit(allow=lambda entry, ctx: entry["name"] != "echo")
    kit.add(echo, aliases=["say"])

    for name in ("echo", "say"):
        with pytest.raises(McpError, match=f"Unknown tool: {name}"):
            TestClient(kit).call(name, message="a")


def test_tasks_that_a_provider_leaves_behind_end_with_its_list() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("lingering")

    class Busy(Plugins):
        async def tools(self, ctx: Context) -> list[dict[str, Any]]:
            ctx.state["task"] = asyncio.create_task(linger())
            await asyncio.sleep(0)
            return []

    async def list_and_look() -> list[str]:
        await list_section(kit_of(Busy()), "tools", Context())
        return list(ended)

    assert asyncio.run(list_and_look()) == ["lingering"]
