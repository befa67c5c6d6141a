from __future__ import annotations

from typing import Any

import pytest

from handler.errors.authoring import ToolDefinitionError
from stile import Context, EmbeddedResource, McpError, ToolError, Toolkit
from stile.testing import TestClient


def kit() -> Toolkit:
    kit = Toolkit()

    @kit.resource("docs://intro", title="Introduction", mime_type="text/markdown")
    def intro() -> str:
        """How to begin."""
        return "# Welcome"

    @kit.resource("docs://logo.png", meta={"k": 1})
    async def logo() -> bytes:
        return b"\x01"

    @kit.resource("docs://orders/{number}/items/{item}")
    def order(number: str, item: str, ctx: Context) -> dict[str, Any]:
        return {"number": number, "item": item, "tenant": ctx.headers.get("x-tenant")}

    @kit.resource("files:///{+path}", name="file")
    def read(path: str) -> EmbeddedResource:
        return EmbeddedResource(f"files:///{path}", text=path, mime_type="text/x-path")

    @kit.resource("docs://secret", hidden=True)
    def secret() -> str:
        raise RuntimeError("boom")

    @kit.resource("docs://closed")
    def closed() -> str:
        raise ToolError("closed today")

    return kit


def test_resources_and_templates_are_listed_apart() -> None:
    client = TestClient(kit())

    assert client.list_resources() == [
        {
            "uri": "docs://intro",
            "name": "intro",
            "title": "Introduction",
            "description": "How to begin.",
            "mimeType": "text/markdown",
        },
        {"uri": "docs://logo.png", "name": "logo", "_meta": {"k": 1}},
        {"uri": "docs://closed", "name": "closed"},
    ]
    assert client.list_resource_templates() == [
        {"uriTemplate": "docs://orders/{number}/items/{item}", "name": "order"},
        {"uriTemplate": "files:///{+path}", "name": "file"},
    ]


@pytest.mark.parametrize(
    ("uri", "contents"),
    [
        ("docs://intro", {"mimeType": "text/markdown", "text": "# Welcome"}),
        ("docs://logo.png", {"mimeType": "application/octet-stream", "blob": "AQ=="}),
        (
            "docs://orders/7%2F8/items/a%20b",
            {"mimeType": "application/json", "text": '{"number":"7/8","item":"a b","tenant":"acme"}'},
        ),
        ("files:///a/b.txt", {"mimeType": "text/x-path", "text": "a/b.txt"}),
    ],
)
def test_resource_is_read_by_its_uri(uri: str, contents: dict[str, Any]) -> None:
    client = TestClient(kit(), headers={"x-tenant": "acme"})

    assert client.read_resource(uri) == {"contents": [{"uri": uri, **contents}]}


@pytest.mark.parametrize(
    "uri", ["docs://other", "docs://orders/7/items/a/b", "docs://orders//items/a", "files:///", ""]
)
def test_unknown_resource_is_a_protocol_error(uri: str) -> None:
    with pytest.raises(McpError) as caught:
        TestClient(kit()).read_resource(uri)

    assert (caught.value.code, str(caught.value), caught.value.data) == (
        -32602,
        f"Unknown resource: {uri}",
        {"uri": uri},
    )


def test_resource_that_fails_is_a_protocol_error() -> None:
    for uri, message in (("docs://secret", "Resource docs://secret failed"), ("docs://closed", "closed today")):
        with pytest.raises(McpError) as caught:
            TestClient(kit()).read_resource(uri)
        assert (caught.value.code, str(caught.value)) == (-32603, message)


def test_uri_of_its_own_is_stronger_than_a_template() -> None:
    both = Toolkit()

    @both.resource("docs://{page}")
    def page(page: str) -> str:
        return f"page {page}"

    @both.resource("docs://intro")
    def intro() -> str:
        return "intro"

    client = TestClient(both)

    assert client.read_resource("docs://intro")["contents"][0]["text"] == "intro"
    assert client.read_resource("docs://other")["contents"][0]["text"] == "page other"


def test_resource_that_cannot_be_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"resource intro: expected a URI with its scheme, as docs://intro"):
        kit().resource("intro")(lambda: "")
    with pytest.raises(ToolDefinitionError, match=r"expected parameters as in the URI \(page\), got pge"):
        kit().resource("docs://{page}")(lambda pge: "")
    with pytest.raises(ToolDefinitionError, match=r"expected parameters as in the URI \(none\), got page"):
        kit().resource("docs://page")(lambda page: "")
    with pytest.raises(ToolDefinitionError, match="resource docs://intro: the toolkit has one of this URI already"):
        kit().resource("docs://intro")(lambda: "")
    with pytest.raises(ToolDefinitionError, match="mime_type: expected a text, got 7"):
        kit().resource("docs://other", mime_type=7)(lambda: "")  # type: ignore[arg-type]


def test_resources_of_an_added_kit_are_the_kits() -> None:
    outer = Toolkit()
    outer.add(kit())

    assert TestClient(outer).read_resource("docs://intro")["contents"][0]["text"] == "# Welcome"
