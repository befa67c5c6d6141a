"""The tutorial's client finds its tools, and its settings are those that commands print and builds read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from tests.commands.running import Stile, interrupt, started
from tests.docs.pages import Walk, blocks, read
from tests.infra.test_build_settings import settings
from tests.support.function import Function, running_function
from tests.support.sdk import sdk_client
from tests.support.upstream import Upstream, free_port

PAGE = "docs/tutorial.md"


@pytest.fixture
def endpoints(tmp_path: Path, upstream: Upstream, stile: Stile) -> Path:
    """The tutorial's folder of endpoints at the end of its sixth step, before it has a tool in Python."""
    Walk(tmp_path, upstream, stile).follow(PAGE, sessions=False)
    config = tmp_path / "endpoints" / "shop" / "customers" / "config.yaml"
    config.write_text(config.read_text("utf-8").partition("code:")[0], encoding="utf-8")
    return tmp_path / "endpoints"


def test_official_client_lists_the_tools_of_the_tutorial(endpoints: Path) -> None:
    async def names(function: Function) -> list[str]:
        async with sdk_client(function, mode="auto") as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    with running_function(compile_endpoint(endpoints / "shop" / "customers"), development=True) as function:
        assert asyncio.run(names(function)) == ["customer_search", "find_customers"]


def test_configuration_of_a_client_is_the_one_that_is_printed(endpoints: Path) -> None:
    (shown,) = [block.text for block in blocks(read(PAGE)) if "mcpServers" in block.text]
    port = free_port()
    process = started("dev", str(endpoints), "--port", str(port))
    assert process.stdout
    printed = ""
    for line in process.stdout:
        printed += line
        if line.startswith("Serving;"):
            break
    interrupt(process)
    process.communicate()

    assert json.dumps(json.loads(shown.replace("8010", str(port)))) in printed


def test_build_of_the_tutorial_is_read(tmp_path: Path) -> None:
    (config,) = [block.text for block in blocks(read(PAGE)) if block.language == "toml"]

    assert settings(tmp_path, config) == (0, ["arm64", "code", "shop_tools.py"])
