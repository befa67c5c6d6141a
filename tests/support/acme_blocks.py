"""A toolkit whose tools, prompt and resource use all that MCP has for what they say."""

from __future__ import annotations

from typing import Any

from stile import Audio, EmbeddedResource, Image, ResourceLink, Text, Toolkit, ToolResult

kit = Toolkit()

NOTED = {"audience": ["user"], "last_modified": "2026-01-02T03:04:05Z"}
ICON = {"src": "https://acme.example.com/icon.png"}


@kit.tool(title="Blocks", icons=[ICON], meta={"team": "blue"}, annotations={"read_only_hint": True})
def blocks() -> Any:
    """All kinds of content."""
    return [
        Text("plain", annotations=NOTED, meta={"a": 1}),
        Image(b"\x00"),
        Audio(b"\x00"),
        ResourceLink("acme://a", "A", description="The first.", size=3, annotations=NOTED, meta={"a": 1}),
        ResourceLink("acme://b", title="B"),
        EmbeddedResource("acme://c", text="c", meta={"a": 1}),
    ]


@kit.tool
def counted() -> dict[str, int]:
    """Data alone."""
    return {"count": 3}


@kit.tool
def wrapped() -> list[int]:
    """A list, which structured content wraps."""
    return [1, 2]


@kit.tool
def summed_up() -> ToolResult:
    """Words for people, and data."""
    return ToolResult("Three rows.", {"rows": 3}, mirror=False)


@kit.tool
def several() -> ToolResult:
    """Data that is a list, which structured content may be since 2026-07-28."""
    return ToolResult("Two rows.", [1, 2], mirror=False)


@kit.prompt(title="Show", meta={"a": 1})
def show() -> list[Any]:
    """A prompt with a link."""
    return [ResourceLink("acme://a", "A")]


@kit.resource("acme://page", title="Page", meta={"a": 1})
def page() -> str:
    """A page."""
    return "page"


@kit.resource("acme://pages/{number}", title="Pages", meta={"a": 1})
def pages(number: str) -> str:
    """Numbered pages."""
    return number
