"""The demo's page: a tool is found, filled in and called, and the page does nothing that a page may not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DEMO
from tests.page.browser import looking
from tests.page.servers import serving
from tests.support.upstream import Upstream


@pytest.fixture(scope="module")
def url(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("first") / "api" / "customers"
    shutil.copytree(DEMO, folder)
    (folder / "config.test.yaml").write_text(f"upstream: {{url: '{upstream.url}'}}\n", encoding="utf-8")
    with serving("dev", str(folder), "--stage", "test") as server:
        yield f"{server.url}/api/customers"


def test_tool_of_the_demo_is_called_on_its_page(browser: Any, url: str, upstream: Upstream) -> None:
    with looking(browser, url) as look:
        look.part("tool").first.wait_for()
        look.open("customer-by-email")
        look.enter("/variables/email", "john.doe@example.com")

        shown = look.send()

        assert "John Doe" in shown or "null" in shown
        assert "CustomerLookup" in str(upstream.requests()[-1]["body"])
        assert look.findings() == []
