"""Members, codes and answers of the commands are those that the pages list. ``test_walks`` follows their sessions."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from handler.commands.command_line import INTERRUPTED
from tests.commands.running import Stile, interrupt, started
from tests.conftest import ROOT
from tests.docs.reference import page, table, write_demo, write_files
from tests.support.function import Function
from tests.support.upstream import Upstream


@pytest.fixture
def workplace(tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's folder, with the demo and its API running, as the current one."""
    write_demo(tmp_path, upstream)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_curl_gets_the_customer(function: Function) -> None:
    (words,) = [shlex.split(line) for line in page("graphql-http").shell]
    path = words[2].removeprefix("http://127.0.0.1:8000")

    assert function.post(words[-1], path=path).json == {"data": {"customer": {"id": "cust_0001", "name": "Elif Núñez"}}}


def test_events_of_the_page_are_all_there_are() -> None:
    named = re.findall(r"`([\w-]+\.json)`", page("local").section("## Events"))

    there = {path.name for path in (ROOT / "events").iterdir()}

    assert set(named) == there


def test_json_of_the_commands_has_the_members_that_the_page_lists(workplace: Path, stile: Stile) -> None:
    write_files(workplace, page("cli").files)
    for command in ("check", "explain"):
        (endpoint, *_) = json.loads(stile(command, "examples", "--json").out)["endpoints"]
        told = re.findall(
            r"^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$", page("reference/json").section(f"## {command}"), re.MULTILINE
        )
        members = {name: says for cell, says in told for name in re.findall(r"`(\w+)`", cell)}

        assert set(members) == set(endpoint), command
        assert set(re.findall(r"`(\w+)`", members["tools"])) - {"documentId"} == set(endpoint["tools"][0])


def test_manifest_has_the_members_that_the_page_lists(workplace: Path, stile: Stile) -> None:
    write_files(workplace, page("cli").files)
    manifest = json.loads(stile("manifest", "endpoints", "--format", "apollo").out)
    (told,) = re.findall(r"Apollo's manifest, .*? has (.*?)\.\n", page("reference/json").text, re.DOTALL)

    assert re.findall(r"`(\w+)`", told) == [*manifest, *manifest["operations"][0]]


def test_key_prints_what_the_page_says(stile: Stile) -> None:
    (line,) = re.findall(r"`(stile key .*)`", page("cli").section("## key"))
    printed = stile(*shlex.split(line)[1:]).out

    assert re.search(r"^  stile_[\w-]", printed, re.MULTILINE)
    assert yaml.safe_load(printed[printed.index("identity:") :])["identity"]["api_keys"][0].keys() == {
        "name",
        "sha256",
        "expires",
        "claims",
    }


def test_exit_codes_are_as_the_page_says(workplace: Path, stile: Stile) -> None:
    write_files(workplace, page("cli").files)
    write_files(workplace, {"wrong/a/b/index.graphql": "type Query { a: It }", "empty/a.txt": ""})
    told = [int(row[0]) for row in table(page("cli").section("## Exit codes"), "code", "means")]
    codes = [
        stile("check", "endpoints").code,
        stile("check", "wrong").code,
        stile("check", "empty").code,
        stile("call", "endpoints", "nope").code,
        stile("call", "endpoints", "list_orders", "first=x").code,
        stile("publish", "examples/endpoints", "--create", "out").code,
    ]

    assert codes == [0, 1, 2, 2, 1, 1]
    assert told == [0, 1, 2, INTERRUPTED]


def test_dev_serves_what_the_page_says(workplace: Path) -> None:
    write_files(workplace, page("cli").files)
    (line,) = re.findall(r"^`(stile dev .*?)`", page("cli").section("## dev"), re.MULTILINE)
    process = started(*shlex.split(line)[1:], "--port", "0")
    assert process.stdout is not None
    try:
        printed = list(iter(process.stdout.readline, "Serving; a saved file is used at once, Ctrl-C ends it.\n"))
    finally:
        code = interrupt(process)
        process.communicate()

    assert re.search(r'"url": "http://127\.0\.0\.1:\d+/shop/orders/mcp"', "".join(printed))
    assert code == 0
