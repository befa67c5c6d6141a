"""The way from the URL of a real server to a tool, and to a new schema of its API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.running import ran
from tests.upstreams.first_tool import APIS, walk
from tests.upstreams.serving import SERVERS, Server, running


@pytest.mark.parametrize("name", APIS)
def test_two_commands_lead_to_a_tool_that_the_official_client_calls(tmp_path: Path, name: str) -> None:
    APIS[name].server.require()

    assert walk(APIS[name], tmp_path).tool.startswith("get_")


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_schema_of_a_real_server_is_made_checked_and_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    server.require()
    monkeypatch.chdir(tmp_path)
    with running(server, NODE_ENV="development") as urls:
        made = ran("init", "shop/api", "--from", urls["plain"])
        checked = ran("check", "--strict", "shop")
        same = ran("pull", "shop")
        renamed = json.loads(ran("pull", "shop", "--from", urls["renamed"], "--check", "--json").out)
        denied = {variant: ran("init", "shop/other", "--from", urls[variant]) for variant in ("401", "403", "503")}

    assert (made.code, checked.code, same.code) == (0, 0, 0), made.err + checked.out
    assert "warning" not in checked.out
    assert same.out.endswith("has not changed\n")
    assert "Query.sum" in renamed["added"]
    assert "Query.total" in renamed["removed"]
    for variant, done in denied.items():
        assert done.code == 1
        assert done.err.startswith(f"{urls[variant]}: ")
        assert variant in done.err


def test_server_that_refuses_introspection_is_said_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = APIS["off"]
    api.server.require()
    monkeypatch.chdir(tmp_path)
    with running(api.server) as urls:
        done = ran("init", "shop/api", "--from", urls["plain"])

    assert done.code == 1
    assert done.err.startswith(f"{urls['plain']}: the API does not answer introspection (")
    assert done.err.endswith("switch introspection on, give a credential with -H, or give the schema as a file\n")
