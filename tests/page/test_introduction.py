"""The introduction of an endpoint on its page: title, description, website, and the icon for its colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.page.browser import looking
from tests.page.servers import serving
from tests.support.endpoints import PUBLIC, write_endpoint
from tests.support.icons import SVG, png

SERVER = """\
server:
  title: Acme orders
  description: Orders of the shop
  version: 1.4.0
  website: https://shop.example.com/help
  icons: [{file: a.svg, theme: light}, {file: b.png, theme: dark}]
"""


def test_page_shows_the_identity_of_the_endpoint(browser: Any, tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int } type Mutation { b: Int }", "config.yaml": PUBLIC + SERVER}
    endpoint = write_endpoint(tmp_path, {**files, "a.svg": SVG})
    (endpoint / "b.png").write_bytes(png(48, 48))

    with serving("dev", str(endpoint)) as server, looking(browser, f"{server.url}/api/things") as look:
        icon = look.part("introduction").locator("img")
        icon.wait_for()
        told = look.part("introduction").inner_text()
        for kind in ("svg+xml", "png"):  # light, then dark
            look.part("theme").click()
            shown = look.part("introduction").locator(f'img[src^="data:image/{kind};"]')
            shown.wait_for()
            shown.evaluate("image => image.decode()")

        assert look.page.title() == "Acme orders · Stile"
        assert [line for line in told.splitlines() if line] == [
            "Acme orders",
            "api/things Version 1.4.0",
            "Orders of the shop",
            "https://shop.example.com/help",
        ]
        assert look.findings() == []
